/** What events of stops bring, and when a load is completed (specification/events.md#what-events-bring). */
import { beforeEach, describe, expect, test } from "vitest";
import { importOrders } from "../../src/operations/imports/import-orders.ts";
import { findLegacyDocument } from "../../src/operations/legacy/legacy-document.ts";
import { findLegacyStops } from "../../src/operations/legacy/legacy-stops.ts";
import { readOrderDetail } from "../../src/operations/orders/order-detail.ts";
import { readEventList } from "../../src/operations/stops/event-list.ts";
import { codeOf } from "../support/gateway-store.ts";
import { both, dropoff, other, pickup, RouteDriver, timeAt } from "../support/route-driver.ts";

let route: RouteDriver;

beforeEach(async () => {
  route = await RouteDriver.open();
});

const statusOf = (stopNbr: string) => route.site.stopStatus(stopNbr);
const at = (stopNbr: string, rest: object = {}) => ({ stopNbr, ...rest });

describe("events of stops", () => {
  test("times are those of the events, the duration is in minutes over zones", async () => {
    await route.load([both, other]);
    await route.depart();
    await route.report("stop.pickup.arrival", at("B1", { at: 60 }));
    await route.report("stop.pickup.confirmation", at("B1", { at: 70 }));
    await route.report("stop.pickup.departure", at("B1", { at: 130, zone: "Europe/Berlin" }));
    expect((await route.execution("B1")).from).toEqual({
      plannedEtaDTTM: "2026-11-05T08:02:44",
      arrivalDTTM: timeAt(60),
      confirmedDTTM: timeAt(70),
      departureDTTM: timeAt(130),
      duration: 10,
    });
  });

  test("autoDepart records the departure with the confirmation; a report of it changes nothing more", async () => {
    await route.load([both, other]);
    await route.depart();
    await route.report("stop.pickup.confirmation", at("B1", { data: { autoDepart: true }, at: 60 }));
    expect(await statusOf("B1")).toBe("38");
    expect(await route.site.events()).toEqual([7007, 7009, 7008]);
    await route.report("stop.pickup.departure", at("B1", { at: 65 }));
    expect((await route.execution("B1")).from).toMatchObject({ departureDTTM: timeAt(60), duration: 0 });
    expect(await route.site.events()).toEqual([]);
  });

  test.each([
    ["the setting", true, {}, {}, true],
    ["the event against the setting", true, {}, { autoDepart: false }, false],
    ["the arrival", false, { autoDepart: true }, {}, true],
    ["nobody", false, {}, {}, false],
  ])("%s decides whether the driver leaves", async (_who, autoDepart, arrival, confirmation, leaves) => {
    route.site.eventSettings = { ...route.site.eventSettings, autoDepart };
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.arrival", at("D1", { data: arrival }));
    await route.report("stop.dropoff.confirmation", at("D1", { data: confirmation }));
    expect(await route.site.events()).toEqual(leaves ? [7007, 7009, 7008] : [7007, 7009]);
  });

  test("exceptions of a closing and of a confirmation are kept in their order", async () => {
    await route.load([both, dropoff, other]);
    await route.depart();
    const short = { exceptionCode: "SHORT", exceptionDesc: "one is missing" };
    await route.report("stop.pickup.confirmation", at("B1", { data: short }));
    await route.report(
      "stop.dropoff.closed",
      at("B1", { data: { reasonCode: 7, reasonComments: "no one" } }),
    );
    expect(await route.execution("B1")).toMatchObject({
      exceptionPresent: true,
      exceptions: [short, { exceptionCode: "7", exceptionDesc: "no one" }],
    });
    expect((await route.execution("D1")).exceptionPresent).toBe(false);
  });

  test.each([
    [{ exceptionCode: "E1", reasonCode: "R1" }, [{ exceptionCode: "E1" }, { exceptionCode: "R1" }]],
    [
      { exceptionCode: "E1", exceptionDesc: "shut", reasonCode: 7, reasonComments: "no one" },
      [
        { exceptionCode: "E1", exceptionDesc: "shut" },
        { exceptionCode: "7", exceptionDesc: "no one" },
      ],
    ],
    [
      { exceptionCode: "7", reasonCode: 7, reasonComments: "no one" },
      [{ exceptionCode: "7", exceptionDesc: "no one" }],
    ],
    [{ exceptionCode: "E1", reasonComments: "no one" }, [{ exceptionCode: "E1", exceptionDesc: "no one" }]],
    [{}, []],
  ])("a closing with %j has the exceptions %j: nothing of it is lost", async (data, exceptions) => {
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.closed", at("D1", { data }));
    expect((await route.execution("D1")).exceptions).toEqual(exceptions);
  });

  test("the reason that comes with any event is shown in the recorded event", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    const data = { reasonCode: "R1", reasonComments: "the gate was shut" };
    await route.report("stop.dropoff.confirmation", at("D1", { data }));
    const { read } = route.site.store;
    const [row] = await read
      .selectFrom("recorded_events")
      .select("data")
      .where("event_code", "=", 7009)
      .execute();
    expect(JSON.parse(row?.data ?? "{}")).toMatchObject(data);
    expect((await route.execution("D1")).exceptions).toEqual([]);
  });

  test("confirmed quantities are shown in the details that they are of", async () => {
    const details = [
      { stopDetailSeq: 1, productIdentifier: "A", quantity: 3 },
      { stopDetailSeq: 2, productIdentifier: "B", confirmed: { rcvQty: 9 } },
      { stopDetailSeq: 3, productIdentifier: "B" },
    ];
    await route.load([{ ...both, stopDetails: details }, other]);
    await route.depart();
    const data = { stopDetails: [{ stopDetailSeq: "1", puConfirmedQty: 3 }] };
    await route.report("stop.pickup.confirmation", at("B1", { data }));
    const later = [
      { productIdentifier: "B", confirmedQty: 1 },
      { productIdentifier: "B", confirmedQty: 2, exceptionReasonCode: "DMG" },
      { stopDetailSeq: 1, confirmedQty: "2", scannedQty: 2 },
    ];
    await route.report("stop.dropoff.confirmation", at("B1", { data: { stopDetails: later } }));
    const { stop } = await route.site.stop("B1");
    expect(stop.stopDetails.map((one: { confirmed: object }) => one.confirmed)).toEqual([
      { puConfirmedQty: 3, confirmedQty: "2", scannedQty: 2 },
      { rcvQty: 9, confirmedQty: 1 },
      { confirmedQty: 2, exceptionReasonCode: "DMG" },
    ]);
    expect((await route.site.load("L1")).stops[0].stop).toEqual(stop);
  });

  test.each([
    [{ stopDetailSeq: 9 }, "wrongType", "stopEventData.stopDetails[1].stopDetailSeq"],
    [{ productIdentifier: "Z" }, "wrongType", "stopEventData.stopDetails[1].productIdentifier"],
    [{ confirmedQty: 1 }, "missing", "stopEventData.stopDetails[1].stopDetailSeq"],
    [{ stopDetailSeq: 1 }, "wrongType", "stopEventData.stopDetails[1].stopDetailSeq"],
  ])("a detail %j that the stop has not is refused with its path", async (detail, code, path) => {
    await route.load([{ ...dropoff, stopDetails: [{ stopDetailSeq: 1, productIdentifier: "A" }] }, other]);
    await route.depart();
    const data = { stopDetails: [{ stopDetailSeq: 1, confirmedQty: 1 }, detail] };
    await expect(route.report("stop.dropoff.confirmation", at("D1", { data }))).rejects.toMatchObject({
      faults: [{ code, path }],
    });
    expect(await statusOf("D1")).toBe("38");
  });

  test("documents go to the document store, are shown by reference behind those of the host; 7014", async () => {
    const ofHost = { documentName: "note.txt", documentData: Buffer.from("note").toString("base64") };
    await route.load([dropoff, { ...other, documents: [ofHost] }]);
    await route.depart();
    const documentData = Buffer.from("signed").toString("base64");
    const documents = [{ documentName: "sign.png", documentType: "SIGNATURE", documentData }];
    await route.report("stop.dropoff.confirmation", at("D2", { data: { documents } }));
    expect(await route.site.events()).toEqual([7007, 7009, 7014]);
    const shown = (await route.site.stop("D2")).stop.documents;
    expect(shown).toMatchObject([{ documentName: "note.txt" }, { documentName: "sign.png" }]);
    expect(JSON.stringify(shown)).not.toContain("documentData");
    const guid: string = shown[1].reference;
    const found = await route.site.call(findLegacyDocument, { ...route.site.at, guid });
    expect(found).toMatchObject({ name: "sign.png", size: 6 });
    const query = { ...route.site.at, parameters: [{ name: "stopNbr", value: "D2" }] };
    const legacy = JSON.parse(
      (await route.site.call(findLegacyStops, query, AbortSignal.timeout(5_000))).json,
    );
    expect(legacy[0].documents).toEqual(shown);
  });

  test("a document that is no base64 is refused with its path", async () => {
    await route.load([dropoff]);
    await route.depart();
    const data = { documents: [{ documentData: "?" }] };
    await expect(route.report("stop.dropoff.arrival", at("D1", { data }))).rejects.toMatchObject({
      faults: [{ code: "wrongType", path: "stopEventData.documents[0].documentData" }],
    });
  });
});

describe("completion of the load", () => {
  test("with the last final stop: 90, its end, 7005; the departure may still follow", async () => {
    await route.load([pickup, dropoff]);
    await route.depart();
    await route.report("stop.pickup.confirmation", at("P1"));
    await route.report("stop.dropoff.arrival", at("D1"));
    await route.site.events();
    await route.report("stop.dropoff.confirmation", at("D1", { at: 90, zone: "Europe/Berlin" }));
    expect(await route.site.events()).toEqual([7009, 7005]);
    expect((await route.site.load("L1")).loadExecutionInfo).toMatchObject({
      loadStatus: 90,
      actualEndDTTM: timeAt(90),
      actualEndTimeZone: "Europe/Berlin",
    });
    await route.report("stop.dropoff.departure", at("D1", { at: 95 }));
    expect(await route.site.events()).toEqual([7008]);
    expect(await codeOf(route.report("stop.dropoff.arrival", at("D1")))).toBe("eventOutOfSequence");
  });

  test.each([
    ["a confirmation", [dropoff, other], {}, "stop.dropoff.confirmation", at("D1"), at("D2")],
    ["a closing", [dropoff, other], {}, "stop.dropoff.closed", at("D1"), at("D2")],
    ["the arrival at the depot", [other], { returnToDepot: "YES" }, "route.depot.arrival", {}, at("D2")],
  ] as const)(
    "ends at the time of %s that was reported before, when that is the later one",
    async (_what, stops, header, code, first, last) => {
      await route.load(stops, { header });
      await route.depart();
      // In Berlin it is an hour later than in UTC.
      await route.report(code, { ...first, at: 150, zone: "Europe/Berlin" });
      await route.report("stop.dropoff.confirmation", { ...last, at: 80 });
      const end = { loadStatus: 90, actualEndDTTM: timeAt(150), actualEndTimeZone: "Europe/Berlin" };
      expect((await route.site.load("L1")).loadExecutionInfo).toMatchObject(end);
      const parameters = [{ name: "loadNbr", value: "L1" }];
      const { companyId } = route.site;
      const { Events } = await route.site.call(readEventList, { companyId, parameters });
      expect(Events.find(({ eventCode }) => eventCode === 7005)).toMatchObject({
        ...{ eventDTTM: timeAt(150), eventTz: "Europe/Berlin" },
      });
    },
  );

  test("ends at its last confirmation although a departure was reported to be later", async () => {
    await route.load([dropoff, other]);
    await route.depart();
    await route.report("stop.dropoff.confirmation", at("D1", { at: 20 }));
    await route.report("stop.dropoff.departure", at("D1", { at: 50 }));
    await route.report("stop.dropoff.confirmation", at("D2", { at: 40 }));
    expect((await route.site.load("L1")).loadExecutionInfo).toMatchObject({ actualEndDTTM: timeAt(40) });
  });

  test("a closed stop is final too", async () => {
    await route.load([dropoff]);
    await route.depart();
    await route.report("stop.dropoff.closed", at("D1"));
    expect(await route.loadStatus()).toBe(90);
  });

  test("with a return to the depot it waits for the arrival there", async () => {
    await route.load([dropoff], { header: { returnToDepot: "ALWAYS" } });
    await route.depart();
    await route.report("stop.dropoff.confirmation", at("D1"));
    expect(await route.loadStatus()).toBe(40);
    await route.site.events();
    await route.report("route.depot.arrival");
    expect([await route.loadStatus(), await route.site.events()]).toEqual([90, [7005]]);
  });

  test("a load that is back before its last stop is reported completes with that stop", async () => {
    await route.load([dropoff], { header: { returnToDepot: "ALWAYS" } });
    await route.depart();
    await route.report("route.depot.arrival");
    expect(await codeOf(route.report("route.depot.arrival"))).toBe("eventOutOfSequence");
    expect(await route.loadStatus()).toBe(40);
    await route.report("stop.dropoff.confirmation", at("D1"));
    expect(await route.loadStatus()).toBe(90);
  });

  test.each(["", "NEVER", undefined])(
    "a load with returnToDepot %j has no depot to arrive at",
    async (value) => {
      await route.load([dropoff], { header: value === undefined ? {} : { returnToDepot: value } });
      await route.depart();
      expect(await codeOf(route.report("route.depot.arrival"))).toBe("eventOutOfSequence");
    },
  );

  test("a load without stops is completed when it leaves its origin", async () => {
    await route.load([]);
    await route.report("route.initiated");
    expect(await route.loadStatus()).toBe(40);
    await route.report("route.origin.depart");
    expect(await route.loadStatus()).toBe(90);
  });

  test("the order of a completed stop is completed", async () => {
    await route.site.call(importOrders, {
      ...route.site.at,
      serviceName: "default",
      body: { companyCode: "ACME", orders: [{ orderNbr: "D1" }] },
    });
    await route.load([dropoff]);
    await route.depart();
    await route.report("stop.dropoff.confirmation", at("D1"));
    const { companyId } = route.site;
    const { Order } = JSON.parse(await route.site.call(readOrderDetail, { companyId, orderNbr: "D1" }));
    expect(Order[0].orderStatus).toBe("90");
  });
});
