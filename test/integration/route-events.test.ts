/** Route events: the rows of the event table (specification/events.md#effects-of-route-events). */
import { beforeEach, describe, expect, test } from "vitest";
import type { RouteEventCode } from "../../src/domain/execution/route-event-rules.ts";
import { applyStopChanges } from "../../src/operations/stops/apply-stop-changes.ts";
import { codeOf } from "../support/gateway-store.ts";
import { both, dropoff, north, other, pickup, RouteDriver, timeAt } from "../support/route-driver.ts";

let route: RouteDriver;

beforeEach(async () => {
  route = await RouteDriver.open();
});

const statusOf = (stopNbr: string) => route.site.stopStatus(stopNbr);
const at = (stopNbr: string, rest: object = {}) => ({ stopNbr, ...rest });

describe("events of the route", () => {
  test("route.initiated makes a load 40 with its start, and records 7004", async () => {
    await route.load([dropoff]);
    await route.report("route.initiated", { at: 5, zone: "America/Chicago" });
    expect((await route.site.load("L1")).loadExecutionInfo).toMatchObject({
      loadStatus: 40,
      actualStartDTTM: timeAt(5),
      actualStartTimeZone: "America/Chicago",
      actualEndDTTM: null,
    });
    expect(await route.site.events()).toEqual([7004]);
    expect(await statusOf("D1")).toBe("20");
  });

  test("a driver who initiates an unassigned load becomes its driver; 7001 goes before 7004", async () => {
    await route.load([dropoff], { driver: null });
    await route.report("route.initiated", { as: "bob" });
    expect((await route.site.load("L1")).loadAssignment).toMatchObject({
      driverUserName: "bob",
      driverName: "Bob Vale",
    });
    expect(await route.site.events()).toEqual([7001, 7004]);
  });

  test("a host cannot initiate a load without a driver (1505), but one with a driver", async () => {
    await route.load([dropoff], { driver: null });
    expect(await codeOf(route.report("route.initiated", { as: "host" }))).toBe("driverRequired");
    expect(await route.loadStatus()).toBe(10);
    await route.load([other], { nbr: "L2" });
    await route.report("route.initiated", { as: "host", loadNbr: "L2" });
    expect(await route.loadStatus("L2")).toBe(40);
  });

  test.each([40, 70, 90, 99] as const)("route.initiated is out of sequence in %i", async (status) => {
    await route.load([dropoff]);
    await route.site.forceLoad("L1", status);
    expect(await codeOf(route.report("route.initiated"))).toBe("eventOutOfSequence");
  });

  test("at the departure stops with a pickup go to 24, the others to 38; nothing is recorded", async () => {
    const skipped = { stopNbr: "S1", puConfirmation: "SKIP", from: north(1), to: north(2) };
    const fromOrigin = { stopNbr: "O1", from: { address: { addr1: "ORIGIN " } }, to: north(2) };
    await route.load([pickup, both, dropoff, skipped, fromOrigin]);
    await route.report("route.initiated");
    await route.report("route.origin.arrival");
    expect(await statusOf("P1")).toBe("20");
    await route.report("route.origin.depart");
    expect(await Promise.all(["P1", "B1", "D1", "S1", "O1"].map(statusOf))).toEqual([
      ...["24", "24", "38", "38", "38"],
    ]);
    expect(await route.site.events()).toEqual([7004]);
  });

  test("origin events are taken once, in their order, and while the load is under way", async () => {
    await route.load([dropoff]);
    for (const code of ["route.origin.arrival", "route.origin.depart"] as const)
      expect(await codeOf(route.report(code))).toBe("eventOutOfSequence");
    await route.report("route.initiated");
    await route.report("route.origin.arrival");
    expect(await codeOf(route.report("route.origin.arrival"))).toBe("eventOutOfSequence");
    await route.report("route.origin.depart");
    for (const code of ["route.origin.arrival", "route.origin.depart"] as const)
      expect(await codeOf(route.report(code))).toBe("eventOutOfSequence");
  });

  test("the first event of a stop says that the load has left its origin", async () => {
    await route.load([dropoff, both]);
    await route.report("route.initiated");
    await route.report("stop.dropoff.arrival", at("D1"));
    expect(await Promise.all([statusOf("D1"), statusOf("B1")])).toEqual(["50", "24"]);
    expect(await codeOf(route.report("route.origin.depart"))).toBe("eventOutOfSequence");
  });
});

describe("events of stops", () => {
  type Step = readonly [RouteEventCode, string, readonly number[]];
  const paths: readonly (readonly [string, object, readonly Step[]])[] = [
    [
      "a pickup only",
      pickup,
      [
        ["stop.pickup.arrival", "27", [7007]],
        ["stop.pickup.confirmation", "90", [7009]],
        ["stop.pickup.departure", "90", [7008]],
      ],
    ],
    [
      "a pickup and a drop-off",
      both,
      [
        ["stop.pickup.arrival", "27", [7007]],
        ["stop.pickup.confirmation", "30", [7009]],
        ["stop.pickup.departure", "38", [7008]],
        ["stop.dropoff.arrival", "50", [7007]],
        ["stop.dropoff.confirmation", "90", [7009]],
        ["stop.dropoff.departure", "90", [7008]],
      ],
    ],
    [
      "a drop-off only",
      dropoff,
      [
        ["stop.dropoff.arrival", "50", [7007]],
        ["stop.dropoff.confirmation", "90", [7009]],
        ["stop.dropoff.departure", "90", [7008]],
      ],
    ],
    [
      "confirmations without arrivals, which are recorded with them",
      both,
      [
        ["stop.pickup.confirmation", "30", [7007, 7009]],
        ["stop.dropoff.confirmation", "90", [7007, 7009]],
      ],
    ],
    ["closed on the way to the pickup", both, [["stop.pickup.closed", "80", [7021]]]],
    [
      "closed at the pickup",
      both,
      [
        ["stop.pickup.arrival", "27", [7007]],
        ["stop.pickup.closed", "80", [7021]],
        ["stop.pickup.departure", "80", [7008]],
      ],
    ],
    ["closed on the way to the drop-off", dropoff, [["stop.dropoff.closed", "80", [7021]]]],
    [
      "closed at the drop-off",
      dropoff,
      [
        ["stop.dropoff.arrival", "50", [7007]],
        ["stop.dropoff.closed", "80", [7021]],
        ["stop.dropoff.departure", "80", [7008]],
      ],
    ],
  ];

  test.each(paths)("%s", async (_what, stop, steps) => {
    await route.load([stop, other]);
    await route.depart();
    const { stopNbr } = stop as { stopNbr: string };
    for (const [code, status, recorded] of steps) {
      await route.report(code, at(stopNbr));
      expect([code, await statusOf(stopNbr), await route.site.events()]).toEqual([code, status, recorded]);
    }
    expect(await route.loadStatus()).toBe(40);
  });

  test.each<[string, object, readonly RouteEventCode[], readonly RouteEventCode[]]>([
    [
      "at the start of a stop with a pickup",
      both,
      [],
      [
        ...(["stop.pickup.departure", "stop.dropoff.arrival", "stop.dropoff.confirmation"] as const),
        ...(["stop.dropoff.closed", "stop.dropoff.departure"] as const),
      ],
    ],
    [
      "at the start of a drop-off",
      dropoff,
      [],
      [
        ...(["stop.pickup.arrival", "stop.pickup.confirmation", "stop.pickup.closed"] as const),
        ...(["stop.pickup.departure", "stop.dropoff.departure"] as const),
      ],
    ],
    [
      "after a confirmation",
      dropoff,
      ["stop.dropoff.confirmation"],
      ["stop.dropoff.arrival", "stop.dropoff.confirmation", "stop.dropoff.closed"],
    ],
    [
      "after a departure",
      dropoff,
      ["stop.dropoff.confirmation", "stop.dropoff.departure"],
      ["stop.dropoff.departure"],
    ],
    ["a drop-off of a stop of the type PU", pickup, ["stop.pickup.arrival"], ["stop.dropoff.arrival"]],
    [
      "a departure from a stop that was closed without an arrival",
      dropoff,
      ["stop.dropoff.closed"],
      ["stop.dropoff.departure", "stop.dropoff.confirmation"],
    ],
    [
      "a departure from the pickup after the drop-off was reached",
      both,
      ["stop.pickup.confirmation", "stop.dropoff.arrival", "stop.dropoff.closed"],
      ["stop.pickup.departure"],
    ],
  ])("out of sequence %s changes nothing", async (_what, stop, before, refused) => {
    await route.load([stop, other]);
    await route.depart();
    const { stopNbr } = stop as { stopNbr: string };
    for (const code of before) await route.report(code, at(stopNbr));
    await route.site.events();
    const known = await route.site.stop(stopNbr);
    for (const code of refused)
      expect([code, await codeOf(route.report(code, at(stopNbr)))]).toEqual([code, "eventOutOfSequence"]);
    expect(await route.site.stop(stopNbr)).toEqual(known);
    expect(await route.site.events()).toEqual([]);
  });

  test("a stop of another load, or of none, is not on the route", async () => {
    await route.load([dropoff]);
    await route.load([other], { nbr: "L2" });
    await route.depart();
    for (const stopNbr of ["D2", "none"])
      expect(await codeOf(route.report("stop.dropoff.arrival", at(stopNbr)))).toBe("stopNotOnRoute");
  });

  test("before the load is under way they are out of sequence", async () => {
    await route.load([dropoff]);
    expect(await codeOf(route.report("stop.dropoff.arrival", at("D1")))).toBe("eventOutOfSequence");
  });
});

describe("what the host deletes from a load under way", () => {
  /** XML with Function 02. */
  async function deleteStop(stopNbr: string): Promise<void> {
    const index = { hasStopAssignment: false, markAsReceived: false, hasTimeWindow: false };
    const changes = [{ function: "02", stopNbr, stopJson: "{}", index }] as const;
    const { companyId, now } = route.site;
    const input = { companyId, changes, fileTime: null, refuseLate: true, now };
    expect(await route.site.store.write("site", (tx) => applyStopChanges(tx, input))).toMatchObject({
      kind: "applied",
    });
  }

  test("the last open stop completes it, with the end in UTC; 7059, 7005", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.confirmation", at("D1"));
    await route.site.events();
    await deleteStop("D2");
    expect(await route.site.events()).toEqual([7059, 7005]);
    expect((await route.site.load("L1")).loadExecutionInfo).toMatchObject({
      loadStatus: 90,
      actualEndDTTM: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      actualEndTimeZone: "UTC",
    });
  });

  test("a stop beside others that are open does not, nor while it has to return to its depot", async () => {
    await route.load([dropoff, other], { header: { returnToDepot: "ALWAYS" } });
    await route.depart();
    await deleteStop("D2");
    expect(await route.loadStatus()).toBe(40);
    await route.report("stop.dropoff.confirmation", at("D1"));
    expect(await route.loadStatus()).toBe(40);
    await route.report("route.depot.arrival");
    expect(await route.loadStatus()).toBe(90);
  });
});
