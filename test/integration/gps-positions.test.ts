/**
 * Positions: which are kept, when a geofence is entered, and when the driver reaches the stops
 * (specification/events.md#positions).
 */
import { beforeEach, describe, expect, test } from "vitest";
import { readEventList } from "../../src/operations/stops/event-list.ts";
import { codeOf } from "../support/gateway-store.ts";
import { kilometre, north, RouteDriver, timeAt } from "../support/route-driver.ts";

const both = { stopNbr: "B1", from: north(10), to: north(20) };
const dropoff = { stopNbr: "D1", to: north(30) };

let route: RouteDriver;

beforeEach(async () => {
  route = await RouteDriver.open();
  route.site.eventSettings = { ...route.site.eventSettings, etaIntervalMs: 0 };
});

async function positions(): Promise<readonly string[]> {
  const rows = await route.site.store.read
    .selectFrom("positions")
    .select("event_dttm")
    .orderBy("at")
    .execute();
  return rows.map(({ event_dttm }) => event_dttm);
}

const etaOf = async (stopNbr: string, party: "from" | "to" = "to") =>
  (await route.execution(stopNbr))[party].plannedEtaDTTM;
const at = (stopNbr: string, rest: object = {}) => ({ stopNbr, ...rest });

describe("a position is kept", () => {
  test("between the start and the end of its load, by its own time, and once", async () => {
    await route.load([dropoff]);
    await route.position(1, { at: 9 });
    await route.report("route.initiated", { at: 10 });
    await route.position(1, { at: 9 });
    await route.position(2, { at: 10 });
    await route.position(2, { at: 11 });
    await route.position(2, { at: 11 });
    await route.report("stop.dropoff.confirmation", at("D1", { at: 20 }));
    await route.position(3, { at: 15 });
    await route.position(3, { at: 21 });
    expect(await positions()).toEqual([timeAt(10), timeAt(11), timeAt(15)]);
  });

  test("by the moment, whatever the zone", async () => {
    await route.load([dropoff]);
    await route.report("route.initiated", { at: 60, zone: "Europe/Berlin" });
    await route.position(1, { at: 1, zone: "UTC" });
    await route.position(1, { at: 59, zone: "CET" });
    expect(await positions()).toEqual([timeAt(1)]);
  });

  test.each([70, 99] as const)("not while the load is %i", async (status) => {
    await route.load([dropoff]);
    await route.depart();
    await route.site.forceLoad("L1", status);
    await route.position(1);
    expect(await positions()).toEqual([]);
  });

  test("only with its coordinates and for a load that is there", async () => {
    await route.load([dropoff]);
    await expect(route.position(1, { stamp: { latitude: "" } })).rejects.toMatchObject({
      faults: [{ code: "missing", path: "geoStamp.latitude" }],
    });
    expect(await codeOf(route.position(1, { loadNbr: "none" }))).toBe("loadNotFound");
  });
});

describe("the geofence", () => {
  test("is entered once a visit, at the address that the driver goes to", async () => {
    await route.load([both, dropoff]);
    await route.depart();
    const entered = async (kilometres: number) => {
      await route.position(kilometres);
      return await route.site.events();
    };
    expect(await entered(9.79)).toEqual([]);
    expect(await entered(20)).toEqual([]);
    expect(await entered(9.81)).toEqual([7006]);
    expect(await entered(10)).toEqual([]);
    await route.report("stop.pickup.confirmation", at("B1"));
    await route.site.events();
    expect(await entered(10)).toEqual([]);
    expect(await entered(20.1)).toEqual([7006]);
    expect(await entered(20)).toEqual([]);
    const { companyId } = route.site;
    const parameters = [{ name: "stopNbr", value: "B1" }];
    const { Events } = await route.site.call(readEventList, { companyId, parameters });
    const visits = Events.filter(({ eventCode }) => eventCode === 7006);
    expect(visits).toMatchObject([
      { loadNbr: "L1", stopNbr: "B1", visit: "pickup", longitude: 0, reportedBy: "ann" },
      { loadNbr: "L1", stopNbr: "B1", visit: "dropoff" },
    ]);
  });

  test("has the radius of the stop, else that of the settings", async () => {
    route.site.eventSettings = { ...route.site.eventSettings, geofenceRadius: 500 };
    await route.load([
      { ...dropoff, stopGeofenceRadius: 1_000 },
      { stopNbr: "D2", to: north(40) },
    ]);
    await route.depart();
    for (const [kilometres, events] of [
      [28.9, []],
      [29.1, [7006]],
      [39.4, []],
      [39.6, [7006]],
    ] as const) {
      await route.position(kilometres);
      expect([kilometres, await route.site.events()]).toEqual([kilometres, events]);
    }
  });

  test("of a stop of the type PU may lie at its only address, in to", async () => {
    await route.load([{ ...dropoff, stopType: "PU" }]);
    await route.depart();
    await route.position(30);
    expect(await route.site.events()).toEqual([7006]);
  });
});

describe("the planned time of arrival", () => {
  // 1.3 times 30 km at 45 km/h are 52 minutes.
  test("is great circle times 1.3 at 45 km/h, from the position's own time", async () => {
    await route.load([dropoff]);
    await route.depart();
    await route.position(0, { at: 100 });
    expect(await etaOf("D1")).toBe(timeAt(152));
    await route.position(15, { at: 120 });
    expect(await etaOf("D1")).toBe(timeAt(146));
  });

  test.each([
    ["its planned speed", { prePlannedLoadDistance: 60, prePlannedLoadDuration: 60 }, 39],
    ["the congestion", { congestionFactor: 1.5 }, 78],
    ["both", { prePlannedLoadDistance: 90, prePlannedLoadDuration: 60, congestionFactor: 2 }, 52],
    ["no planned speed that is one", { prePlannedLoadDistance: 90, prePlannedLoadDuration: 0 }, 52],
  ])("minds %s of the load", async (_what, header, minutes) => {
    await route.load([dropoff], { header });
    await route.depart();
    await route.position(0, { at: 100 });
    expect(await etaOf("D1")).toBe(timeAt(100 + minutes));
  });

  test("adds the duration of each visit before, and goes from stop to stop", async () => {
    const pickup = { ...north(15), schedule: { estDuration: 7 } };
    const first = { stopNbr: "B1", from: pickup, to: { ...north(30), schedule: { estDuration: 10 } } };
    await route.load([first, { stopNbr: "X1", to: {} }, { stopNbr: "D1", to: north(0) }]);
    await route.depart();
    await route.position(0, { at: 5 });
    expect(await etaOf("B1", "from")).toBe(timeAt(5 + 26));
    expect(await etaOf("B1")).toBe(timeAt(5 + 26 + 7 + 26));
    expect(await etaOf("X1")).toBe(null);
    expect(await etaOf("D1")).toBe(timeAt(64 + 10 + 52));
    await route.report("stop.pickup.arrival", at("B1", { at: 30 }));
    expect(await etaOf("B1")).toBe(timeAt(30 + 7 + 26));
    await route.report("stop.pickup.confirmation", at("B1", { at: 40 }));
    expect(await etaOf("B1")).toBe(timeAt(40 + 26));
    await route.report("stop.dropoff.arrival", at("B1", { at: 70 }));
    expect(await etaOf("B1")).toBe(timeAt(40 + 26));
    expect(await etaOf("D1")).toBe(timeAt(70 + 10 + 52));
    await route.report("stop.dropoff.departure", at("B1", { at: 75 })).catch(() => undefined);
    await route.report(
      "stop.dropoff.closed",
      at("B1", { at: 76, stamp: { latitude: 30 * kilometre, longitude: 0 } }),
    );
    expect(await etaOf("D1")).toBe(timeAt(76 + 52));
  });

  test.each([
    ["from", { from: { ...north(30), schedule: { timeZone: "Europe/Berlin" } } }],
    ["to", { to: { ...north(30), schedule: { timeZone: "Europe/Berlin" } } }],
    ["from, with its schedule in to", { from: north(30), to: { schedule: { timeZone: "Europe/Berlin" } } }],
  ])(
    "of a pickup only is that of the pickup, also when its address stands in %s",
    async (_where, parties) => {
      await route.load([{ stopNbr: "P1", stopType: "PU", ...parties }]);
      await route.depart();
      await route.position(0, { at: 100 });
      expect(await etaOf("P1", "from")).toBe(timeAt(100 + 52 + 60));
      expect(await etaOf("P1", "to")).toBe(null);
      await route.report("stop.pickup.confirmation", at("P1", { at: 160 }));
      const { read } = route.site.store;
      const { execution } = await read.selectFrom("stops").select("execution").executeTakeFirstOrThrow();
      expect(Object.keys(JSON.parse(execution))).toEqual(["from"]);
    },
  );

  test("is not told when a slip puts it beyond all calendars, which holds up no report", async () => {
    const first = { stopNbr: "B1", to: { ...north(30), schedule: { estDuration: "99999999999999" } } };
    await route.load([first, dropoff]);
    await route.depart();
    await route.position(0, { at: 100 });
    expect([await etaOf("B1"), await etaOf("D1")]).toEqual([timeAt(152), null]);
    await route.load([{ ...dropoff, stopNbr: "D9" }], { header: { congestionFactor: 1e12 }, nbr: "L9" });
    await route.report("route.initiated", { loadNbr: "L9" });
    await route.position(0, { loadNbr: "L9", at: 200 });
    expect(await etaOf("D9")).toBe(null);
    await route.report("stop.dropoff.confirmation", { loadNbr: "L9", stopNbr: "D9" });
  });

  test("does not move while the driver stands at a stop, nor by more than he stays too long", async () => {
    const first = { stopNbr: "A1", to: { ...north(30), schedule: { estDuration: 20, timeZone: "UTC" } } };
    await route.load([first, { stopNbr: "D1", to: north(60) }]);
    await route.depart();
    // Reported in another zone than the positions.
    await route.report("stop.dropoff.arrival", at("A1", { at: 60 + 100, zone: "CET" }));
    for (const [minute, leaves] of [
      [100, 120],
      [110, 120],
      [120, 120],
      [125, 125],
    ] as const) {
      await route.position(30, { at: minute });
      expect(await etaOf("D1")).toBe(timeAt(leaves + 52));
    }
  });

  test("goes through the stops in the order of the load, also when a later one is visited first", async () => {
    const last = { stopNbr: "E1", to: north(30) };
    await route.load([dropoff, { stopNbr: "X1", to: north(0) }, last]);
    await route.depart();
    await route.report("stop.dropoff.arrival", at("X1", { at: 20 }));
    expect(await etaOf("D1")).toBe(timeAt(20 + 52));
    expect(await etaOf("E1")).toBe(timeAt(72 + 52));
  });

  test("is in the zone of the stop, on the day on which its clocks go back", async () => {
    const to = { ...north(30), schedule: { timeZone: "America/New_York" } };
    await route.load([{ stopNbr: "D1", to }]);
    const stamp = (eventDTTM: string) => ({ stamp: { eventDTTM } });
    await route.report("route.initiated", stamp("2026-10-31T20:00:00"));
    // 01:30 of the first turn; 52 minutes on it is 01:22 again.
    await route.position(0, stamp("2026-11-01T05:30:00"));
    expect(await etaOf("D1")).toBe("2026-11-01T01:22:00");
    await route.position(0, stamp("2026-11-01T06:30:00"));
    expect(await etaOf("D1")).toBe("2026-11-01T02:22:00");
  });

  test("is in the zone of the load when the stop has none", async () => {
    await route.load([dropoff], { header: { loadTimeZone: "EST" } });
    await route.depart();
    await route.position(0, { at: 100 });
    expect(await etaOf("D1")).toBe(timeAt(152 - 300));
  });

  test("is worked out at most once in the interval, by our clock", async () => {
    route.site.eventSettings = { ...route.site.eventSettings, etaIntervalMs: 30_000 };
    await route.load([dropoff]);
    await route.depart();
    route.site.now += 30_000;
    await route.position(0, { at: 10 });
    expect(await etaOf("D1")).toBe(timeAt(62));
    route.site.now += 29_999;
    await route.position(15, { at: 11 });
    expect(await etaOf("D1")).toBe(timeAt(62));
    route.site.now += 1;
    await route.position(15, { at: 10 });
    // The position that came last is older than the one before: the newest place counts.
    expect(await etaOf("D1")).toBe(timeAt(37));
  });

  test("does not believe for long a clock that is hours ahead", async () => {
    await route.load([dropoff]);
    await route.depart();
    await route.position(0, { at: 40 * 60 });
    await route.position(15, { at: 30 });
    expect(await etaOf("D1")).toBe(timeAt(56));
  });

  test("starts at the place that an event is about when it tells none", async () => {
    await route.load([dropoff]);
    await route.report("route.initiated", { at: 0 });
    expect(await etaOf("D1")).toBe(timeAt(52));
    await route.report("route.origin.depart", { at: 10 });
    expect(await etaOf("D1")).toBe(timeAt(62));
  });
});
