/**
 * Route events that are late, repeated, malformed or not the caller's to report
 * (specification/events.md#order-of-events).
 */
import { beforeEach, describe, expect, test } from "vitest";
import { reportRouteEvent } from "../../src/operations/execution/report-route-event.ts";
import { readEventList } from "../../src/operations/stops/event-list.ts";
import { codeOf } from "../support/gateway-store.ts";
import { both, dropoff, other, RouteDriver, timeAt } from "../support/route-driver.ts";

let route: RouteDriver;

beforeEach(async () => {
  route = await RouteDriver.open();
});

const statusOf = (stopNbr: string) => route.site.stopStatus(stopNbr);
const at = (stopNbr: string, rest: object = {}) => ({ stopNbr, ...rest });

describe("late and repeated events", () => {
  test("an event that comes again is answered with success and changes nothing, whatever has happened since", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    const codes = ["stop.dropoff.arrival", "stop.dropoff.confirmation", "stop.dropoff.departure"] as const;
    for (const code of codes) await route.report(code, at("D1", { at: 60 }));
    await route.report("stop.dropoff.confirmation", at("D2", { at: 70 }));
    await route.site.events();
    const known = await route.site.load("L1");
    for (const code of codes) await route.report(code, at("D1", { at: 60, as: "host" }));
    await route.report("route.initiated", { at: 1 });
    expect(await route.site.load("L1")).toEqual(known);
    expect(await route.site.events()).toEqual([]);
  });

  test("an event that was refused is not kept: sent again in its turn, it is applied", async () => {
    await route.load([both, other]);
    await route.depart();
    const late = at("B1", { at: 60 });
    expect(await codeOf(route.report("stop.dropoff.arrival", late))).toBe("eventOutOfSequence");
    await route.report("stop.pickup.confirmation", at("B1", { at: 50 }));
    await route.report("stop.dropoff.arrival", late);
    expect(await statusOf("B1")).toBe("50");
  });

  test("the same event at two moments of one turn has one effect", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    await Promise.all(
      Array.from({ length: 5 }, () => route.report("stop.dropoff.arrival", at("D1", { at: 9 }))),
    );
    expect(await route.site.events()).toEqual([7007]);
  });

  test("a day that is reported in bulk afterwards has the times of the day", async () => {
    await route.load([dropoff]);
    route.site.now += 12 * 3_600_000;
    await route.report("route.initiated", { at: 0 });
    await route.report("route.origin.depart", { at: 10 });
    await route.report(
      "stop.dropoff.arrival",
      at("D1", { at: 30, stamp: { latitude: "1.5", longitude: 2 } }),
    );
    await route.report("stop.dropoff.confirmation", at("D1", { at: 40 }));
    const { companyId } = route.site;
    const list = await route.site.call(readEventList, {
      companyId,
      parameters: [{ name: "stopNbr", value: "D1" }],
    });
    expect(list.Events.slice(1)).toEqual([
      expect.objectContaining({
        eventCode: 7007,
        ...{ eventDTTM: timeAt(30), eventTz: "UTC", stopNbr: "D1", loadNbr: "L1" },
        ...{ latitude: 1.5, longitude: 2, reportedBy: "ann", reportedCode: "stop.dropoff.arrival" },
      }),
      expect.objectContaining({ eventCode: 7009, eventDTTM: timeAt(40) }),
    ]);
    expect((await route.site.load("L1")).loadExecutionInfo.actualEndDTTM).toBe(timeAt(40));
  });
});

describe("a report from a clock that is far ahead", () => {
  const hours = (count: number) => ({ at: count * 60 });

  test("is refused with its field, its fault and the remedy, and changes nothing", async () => {
    await route.load([dropoff]);
    const wrong = { code: "badDate", path: "geoStamp.eventDTTM" };
    const early = route.report("route.initiated", { stamp: { eventDTTM: "2027-11-05T08:00:00" } });
    await expect(early).rejects.toMatchObject({
      faults: [
        {
          ...wrong,
          message:
            "geoStamp.eventDTTM is 2027-11-05T08:00:00 (UTC), more than 48 hours ahead of this gateway's clock. Correct the clock of the device, and report the time at which it happened.",
        },
      ],
    });
    expect(await route.loadStatus()).toBe(30);
    await route.depart();
    const known = await route.site.load("L1");
    await expect(route.position(3, { stamp: { eventDTTM: "2027-11-05T08:00:00" } })).rejects.toMatchObject({
      faults: [wrong],
    });
    expect(await route.site.load("L1")).toEqual(known);
    expect(await route.site.events()).toEqual([]);
  });

  test("is taken up to the hours of the settings, by the moment and not by what the clock shows", async () => {
    await route.load([dropoff]);
    expect(await codeOf(route.report("route.initiated", { ...hours(49), zone: "UTC" }))).toBe("badDate");
    expect(await codeOf(route.report("route.initiated", { ...hours(49), zone: "CET" }))).toBe("done");
    route.site.eventSettings = { ...route.site.eventSettings, maxAheadHours: 72 };
    expect(await codeOf(route.report("route.origin.depart", hours(72)))).toBe("done");
    expect(await codeOf(route.position(1, { at: 72 * 60 + 1 }))).toBe("badDate");
  });
});

describe("who may report", () => {
  test("a driver reports of own and of unassigned loads, a host of all", async () => {
    await route.load([dropoff]);
    expect(await codeOf(route.report("route.initiated", { as: "bob" }))).toBe("roleMissing");
    expect(await codeOf(route.position(1, { as: "bob" }))).toBe("roleMissing");
    const roles = ["DI_Driver", "DI_Integration"] as const;
    expect(await codeOf(route.report("route.initiated", { as: "bob", roles }))).toBe("done");
    expect(await codeOf(route.report("route.origin.depart", { as: "host" }))).toBe("done");
    expect(await codeOf(route.report("stop.dropoff.arrival", at("D1", { as: "bob" })))).toBe("roleMissing");
    await route.load([other], { nbr: "L2", driver: null });
    expect(await codeOf(route.position(1, { as: "bob", loadNbr: "L2" }))).toBe("done");
  });

  test("the load is looked for before the rights, the rights before repetition and sequence", async () => {
    await route.load([dropoff]);
    await route.report("route.initiated", { at: 1 });
    expect(await codeOf(route.report("route.initiated", { loadNbr: "none" }))).toBe("loadNotFound");
    expect(await codeOf(route.report("route.initiated", { at: 1, as: "bob" }))).toBe("roleMissing");
    expect(await codeOf(route.report("route.initiated", { at: 2, as: "bob" }))).toBe("roleMissing");
  });

  test("nothing of a document is stored for somebody who may not report", async () => {
    await route.load([dropoff]);
    const data = { documents: [{ documentData: "?" }] };
    const report = route.report("stop.dropoff.arrival", at("D1", { as: "bob", data }));
    expect(await codeOf(report)).toBe("roleMissing");
  });
});

describe("the form of the body", () => {
  const stamp = { eventDTTM: "2026-11-05T08:00:00", eventTz: "UTC" };
  const send = (body: unknown) =>
    route.site.call(reportRouteEvent, {
      ...route.site.at,
      userName: "host",
      roles: ["DI_Integration"],
      body,
    });

  test.each([
    [{ geoStamp: stamp, routeNbr: "L1" }, "missing", "eventCode"],
    [{ eventCode: "route.nowhere", geoStamp: stamp, routeNbr: "L1" }, "unknownEvent", "eventCode"],
    [{ eventCode: "toString", geoStamp: stamp, routeNbr: "L1" }, "unknownEvent", "eventCode"],
    [{ eventCode: "e".repeat(51), geoStamp: stamp, routeNbr: "L1" }, "tooLong", "eventCode"],
    [{ eventCode: "route.initiated", geoStamp: stamp }, "missing", "routeNbr"],
    [{ eventCode: "route.initiated", geoStamp: stamp, routeNbr: "L".repeat(31) }, "tooLong", "routeNbr"],
    [{ eventCode: "route.initiated", routeNbr: "L1" }, "emptyList", "geoStamp"],
    [
      { eventCode: "route.initiated", routeNbr: "L1", geoStamp: { eventTz: "UTC" } },
      "missing",
      "geoStamp.eventDTTM",
    ],
    [
      {
        eventCode: "route.initiated",
        routeNbr: "L1",
        geoStamp: { ...stamp, eventDTTM: "2026-02-30T08:00:00" },
      },
      "badDate",
      "geoStamp.eventDTTM",
    ],
    [
      { eventCode: "route.initiated", routeNbr: "L1", geoStamp: { ...stamp, eventTz: "Mars/Base" } },
      "badDate",
      "geoStamp.eventTz",
    ],
    [
      { eventCode: "route.initiated", routeNbr: "L1", geoStamp: { ...stamp, latitude: "91" } },
      "wrongType",
      "geoStamp.latitude",
    ],
    [{ eventCode: "stop.dropoff.arrival", geoStamp: stamp, routeNbr: "L1" }, "emptyList", "stopEventData"],
    [
      { eventCode: "stop.dropoff.arrival", geoStamp: stamp, routeNbr: "L1", stopEventData: {} },
      "missing",
      "stopEventData.stopNbr",
    ],
  ])("%j is refused", async (body, code, path) => {
    await expect(send(body)).rejects.toMatchObject({ faults: [expect.objectContaining({ code, path })] });
  });

  test("an unpadded time is padded, empty coordinates are none", async () => {
    await route.load([dropoff]);
    const geoStamp = { eventDTTM: "2026-11-5T8:1:0", eventTz: "UTC", latitude: "", longitude: null };
    await send({ eventCode: "route.initiated", geoStamp, routeNbr: "L1", stopEventData: null });
    expect((await route.site.load("L1")).loadExecutionInfo.actualStartDTTM).toBe(timeAt(1));
  });
});
