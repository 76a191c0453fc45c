/** Sending an order, a stop or a load again takes nothing away that others have put there. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { submitStopDocument } from "../../src/inbound/submit-stop-document.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { reportRouteEvent } from "../../src/operations/execution/report-route-event.ts";
import { importOrders } from "../../src/operations/imports/import-orders.ts";
import { rejectOrder } from "../../src/operations/orders/reject-order.ts";
import { rejectStop } from "../../src/operations/stops/reject-stop.ts";
import { assignStopCarrier } from "../../src/operations/stops/stop-carrier.ts";
import {
  afternoon,
  home,
  importOrder,
  morning,
  openNorth,
  order,
  placesLeft,
  reserve,
  slotId,
  sumsOf,
} from "../support/appointment-client.ts";
import { codeOf, type GatewayStore } from "../support/gateway-store.ts";

const documents = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 });
beforeAll(() => documents.start(new AbortController().signal));
afterAll(() => documents.stop(new AbortController().signal));

let gateway: GatewayStore;

beforeEach(async () => {
  gateway = await openNorth();
});

const times = {
  timeFrom: "2026-11-06T08:00:00",
  timeTo: "2026-11-06T12:00:00",
  timeZone: "America/New_York",
};
const others = {
  timeFrom: "2026-11-09T08:00:00",
  timeTo: "2026-11-09T09:00:00",
  timeZone: "America/Chicago",
};

async function sendXml(content: string): Promise<void> {
  const { store, companyId, now } = gateway;
  const submission = { companyId, companyCode: "ACME", userName: "host", requestId: "r" };
  const bytes = Buffer.from(`<Stop><Function>01</Function><StopNbr>A1</StopNbr>${content}</Stop>`);
  const { status } = await submitStopDocument(
    { store, documents, clock: { now: () => now } },
    { ...submission, bytes },
  );
  expect(status).toBe(10);
}

const importLoad = (...stops: readonly object[]) =>
  gateway.importLoads({ loadHeader: { loadNbr: "L1" }, stops });

/** How a stop comes with this address and schedule. */
type Way = (schedule: object | undefined) => Promise<unknown>;

const withParty = (schedule: object | undefined, rest: object = {}) => ({
  ...rest,
  to: { address: { city: "Reno" }, ...(schedule === undefined ? {} : { schedule }) },
});
const ways: readonly (readonly [string, Way])[] = [
  ["a stop import", (schedule) => gateway.importStops(withParty(schedule, { stopNbr: "A1" }))],
  ["an order import", (schedule) => importOrder(gateway, "A1", withParty(schedule))],
  ["a load import", (schedule) => importLoad(withParty(schedule, { stopNbr: "A1" }))],
  [
    "an XML document",
    (schedule) => {
      const { timeFrom, timeTo, timeZone, estDuration } = { ...(schedule as Record<string, string>) };
      const elements = Object.entries({
        ...{ EarliestStartDTTM: timeFrom, LatestStartDTTM: timeTo, TimeZone: timeZone },
        ...{ EstimatedDuration: estDuration, ShipToCity: "Reno" },
      });
      const given = elements.filter(([, value]) => value !== undefined);
      return sendXml(given.map(([name, value]) => `<${name}>${value}</${name}>`).join(""));
    },
  ],
];

async function appointmentOf() {
  const { stop, appointment } = await gateway.stop("A1");
  return { schedule: stop.to.schedule, city: stop.to.address.city, appointment };
}

describe.each(ways)("%s", (_way, send) => {
  let timeSlotId: string;
  let appointment: object;

  beforeEach(async () => {
    await importOrder(gateway, "A1", { to: { address: home } });
    timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId, orderId: "A1" });
    const { timeFrom, timeTo, timeZone } = times;
    const shown = { startDateTime: timeFrom.slice(0, 16), endDateTime: timeTo.slice(0, 16), timeZone };
    appointment = { timeSlotId, ...shown, serviceRegion: "North" };
  });

  test("without a schedule keeps the appointment and its times", async () => {
    await send(undefined);
    expect(await appointmentOf()).toEqual({ schedule: times, city: "Reno", appointment });
    expect(await gateway.stopStatus("A1")).toBe(_way === "a load import" ? "20" : "10");
    expect((await order(gateway, "A1")).to.schedule).toEqual(times);
  });

  test("with a schedule without times keeps them, and takes the duration", async () => {
    await send({ estDuration: "20", timeZone: "America/Chicago" });
    const schedule = { ...times, estimatedDuration: "20" };
    expect(await appointmentOf()).toEqual({ schedule, city: "Reno", appointment });
  });

  test("with other times takes these, keeps the appointment and shows it", async () => {
    await send(others);
    expect(await appointmentOf()).toEqual({ schedule: others, city: "Reno", appointment });
    expect((await sumsOf(gateway)).counted[`North ${morning}`]?.[0]).toBe(1_000);
    await reserve(gateway, { timeSlotId: await slotId(gateway, afternoon), orderId: "A1" });
    const moved = await appointmentOf();
    expect(moved.schedule.timeFrom).toBe("2026-11-06T13:00:00");
    expect(moved.appointment).toMatchObject({ startDateTime: afternoon });
    expect(await placesLeft(gateway, morning)).toBe(2);
  });
});

describe("the detail of an order with an appointment", () => {
  test("can be sent back as it is, and is the same afterwards", async () => {
    await importOrder(gateway, "A1", {
      to: { address: home },
      stopDetails: [{ product: "P" }],
      colour: "red",
    });
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: "A1" });
    const before = await order(gateway, "A1");
    expect(before).toMatchObject({ colour: "red", appointment: { startDateTime: morning } });
    const body = { companyCode: "ACME", orders: [before] };
    const rules = { maxEntries: 5, unknownFields: "keep" } as const;
    await gateway.call(importOrders, { ...gateway.at, serviceName: "default", body, rules });
    expect(await order(gateway, "A1")).toEqual(before);
    expect(Object.keys((await gateway.stop("A1")).stop)).not.toContain("appointment");
    const { colour: _, ...known } = before;
    const refuse = { ...rules, unknownFields: "refuse" } as const;
    await gateway.call(importOrders, {
      ...{ ...gateway.at, serviceName: "default", rules: refuse },
      body: { companyCode: "ACME", orders: [known] },
    });
  });

  test("shows it in the load too, and no more once the stop is deleted", async () => {
    await gateway.importStops({ stopNbr: "A1", to: { address: home } }, { stopNbr: "A2" });
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: "A1" });
    await importLoad({ stopNbr: "A1" }, { stopNbr: "A2" });
    const { stops } = await gateway.load("L1");
    expect(stops.map((one: { appointment?: object }) => one.appointment !== undefined)).toEqual([
      true,
      false,
    ]);
    await importLoad({ stopNbr: "A2" });
    await gateway.call(rejectStop, { ...gateway.at, body: { stopNbr: "A1", reasonCode: "R" } });
    expect((await gateway.stop("A1")).appointment).toBeUndefined();
  });
});

describe("an entry of a load import that has a number alone", () => {
  const full = {
    ...{ stopNbr: "A1", stopSeq: 4, totalCartons: 3, colour: "red", stopAssignment: { carrierCode: "C1" } },
    to: { address: home, schedule: { timeFrom: "2026-11-06T08:00:00" } },
    stopDetails: [{ product: "P", quantity: 2 }],
    documents: [{ documentName: "a.txt", documentData: "YQ==" }],
    markAsReceived: true,
  };

  beforeEach(async () => {
    await gateway.addPartner("C1", "C2");
    await gateway.importStops(full);
    await gateway.call(assignStopCarrier, {
      ...{ ...gateway.at, stopNbr: "A1", body: { carrierCode: "C2" } },
    });
    await gateway.events();
  });

  test("plans the stop as it is", async () => {
    const { stop: before } = await gateway.stop("A1");
    expect(await importLoad({ stopNbr: "A1" })).toEqual(["Success"]);
    const { stop, stopExecutionInfo, load } = await gateway.stop("A1");
    expect(stop).toEqual(before);
    expect(stop.stopAssignment).toMatchObject({ carrierCode: "C2" });
    expect([stopExecutionInfo.stopStatus, stopExecutionInfo.receiveStatus, load.loadNbr]).toEqual([
      "20",
      "10",
      "L1",
    ]);
    expect(await gateway.events()).toEqual([7000, 7028]);
  });

  test("and a stopSeq changes nothing but that", async () => {
    const { stop: before } = await gateway.stop("A1");
    await importLoad({ stopNbr: "A2", stopSeq: 1 }, { stopNbr: "A1", stopSeq: "0" });
    const { stops } = await gateway.load("L1");
    expect(stops[0].stop).toEqual({ ...before, stopSeq: "0" });
  });

  test("creates a stop that is not there, or was deleted", async () => {
    await gateway.call(rejectStop, { ...gateway.at, body: { stopNbr: "A1", reasonCode: "R" } });
    expect(await importLoad({ stopNbr: "A1" }, { stopNbr: "NEW" })).toEqual(["Success"]);
    expect((await gateway.stop("A1")).stop).toEqual({ stopNbr: "A1" });
    expect(await gateway.stopStatus("NEW")).toBe("20");
  });
});

describe("a closed stop", () => {
  beforeEach(async () => {
    await gateway.importLoads({
      loadHeader: { loadNbr: "OLD" },
      stops: [{ stopNbr: "A1", totalCartons: 3 }],
    });
    await gateway.forceStop("A1", "80");
    await gateway.events();
  });

  test("is planned anew when its load is completed, by its number alone", async () => {
    await gateway.forceLoad("OLD", 90);
    expect(await importLoad({ stopNbr: "A1" })).toEqual(["Success"]);
    expect((await gateway.stop("A1")).stop.totalCartons).toBe(3);
    expect(await gateway.stopStatus("A1")).toBe("20");
    expect(await gateway.events()).toEqual([7000, 7044, 7028]);
  });

  test.each([40, 70] as const)("stays on a load that is under way (%i)", async (status) => {
    await gateway.forceLoad("OLD", status);
    expect(await importLoad({ stopNbr: "A1" })).toEqual([[906]]);
    expect((await gateway.stop("A1")).load.loadNbr).toBe("OLD");
  });
});

describe("an order", () => {
  const reject = (orderNbr: string) =>
    codeOf(
      gateway.call(rejectOrder, {
        ...gateway.at,
        body: { orderNbr, reasonCode: "CUST", reasonComments: "twice" },
      }),
    );

  test("whose stop was deleted by itself can be deleted, once, and gives the reason", async () => {
    await importOrder(gateway, "A1", { to: { address: home } });
    await gateway.call(rejectStop, { ...gateway.at, body: { stopNbr: "A1", reasonCode: "STOP" } });
    const before = await order(gateway, "A1");
    expect(before.orderStatus).toBe("99");
    expect(before.stopExecutionInfo.cancellation).toMatchObject({ reasonCode: "STOP" });
    await gateway.events();
    expect(await reject("A1")).toBe("done");
    expect(await gateway.events()).toEqual([]);
    const { cancellation, orderStatus, stopExecutionInfo } = await order(gateway, "A1");
    expect([orderStatus, stopExecutionInfo]).toEqual(["99", undefined]);
    expect(cancellation).toEqual({
      ...{ reasonCode: "CUST", reasonDesc: "twice" },
      ...{ cancelDTTM: "2026-11-05T08:00:00", cancelTimeZone: "UTC" },
    });
    expect((await gateway.stop("A1")).stopExecutionInfo.cancellation).toMatchObject({ reasonCode: "STOP" });
    expect(await reject("A1")).toBe("orderNotDeletable");
    await importOrder(gateway, "A1");
    expect(await order(gateway, "A1")).not.toHaveProperty("cancellation");
  });

  test("that is completed has execution data, quantities and captured documents as its stop has", async () => {
    await gateway.addDriver({ userName: "ann" });
    await importOrder(gateway, "A1", { stopDetails: [{ stopDetailSeq: 1, product: "P", quantity: 2 }] });
    const loadAssignment = { driverUserName: "ann" };
    await gateway.importLoads({ loadHeader: { loadNbr: "L1" }, stops: [{ stopNbr: "A1" }], loadAssignment });
    const geoStamp = { eventDTTM: "2026-11-05T07:30:00", eventTz: "UTC" };
    const caller = { ...gateway.at, userName: "ann", roles: ["DI_Driver"] as const };
    const stopEventData = {
      ...{ stopNbr: "A1", exceptionCode: "SHORT", stopDetails: [{ stopDetailSeq: 1, confirmedQty: 1 }] },
      documents: [{ documentName: "sign.png", documentData: "YQ==" }],
    };
    const events = [
      { eventCode: "route.initiated" },
      { eventCode: "stop.dropoff.confirmation", stopEventData },
    ];
    for (const event of events) {
      const body = { ...event, geoStamp, routeNbr: "L1" };
      await gateway.call(reportRouteEvent, { ...caller, body });
    }
    const { stop, stopExecutionInfo } = await gateway.stop("A1");
    const completed = await order(gateway, "A1");
    expect(completed).toMatchObject({ orderStatus: "90", stopExecutionInfo });
    expect(completed.stopExecutionInfo.to.arrivalDTTM).toBe(geoStamp.eventDTTM);
    expect([completed.documents, completed.stopDetails]).toEqual([stop.documents, stop.stopDetails]);
    expect(completed.documents).toMatchObject([{ documentName: "sign.png" }]);
    expect(completed.stopDetails[0].confirmed).toEqual({ confirmedQty: 1 });
  });
});
