/** Reserving time slots on a real store, and giving them back (specification/appointments.md#reservations). */
import { beforeEach, describe, expect, it } from "vitest";
import { stopChangeOf } from "../../src/domain/stop/stop-change.ts";
import { stopStatusNames, type StopStatus } from "../../src/domain/stop/stop-status.ts";
import { applyStopChanges } from "../../src/operations/stops/apply-stop-changes.ts";
import { rejectAsn, rejectStop } from "../../src/operations/stops/reject-stop.ts";
import {
  afternoon,
  cancelOrder,
  home,
  importOrder,
  morning,
  order,
  placesLeft,
  reserve,
  slotId,
  slotIds,
  sumsOf,
  openNorth,
} from "../support/appointment-client.ts";
import { regionOf, settingsOf } from "../support/appointment-settings.ts";
import { codeOf, type GatewayStore, load, stop } from "../support/gateway-store.ts";
import { dayMs, minuteMs } from "../../src/lib/durations.ts";

let gateway: GatewayStore;

beforeEach(async () => {
  gateway = await openNorth();
});

describe("a reservation for no order yet", () => {
  it("is confirmed and held for the minutes that the answer tells", async () => {
    const timeSlotId = await slotId(gateway, morning);
    const all = {
      partnerCode: "P1",
      schedulingAttribute: "A",
      weight: 1,
      volume: 1,
      serviceTime: 1,
      gate: "B",
    };
    expect(await reserve(gateway, { timeSlotId, ...home, ...all })).toEqual({
      orderId: "Not Available",
      ...home,
      ...{
        schedulingAttribute: "A",
        gate: "B",
        apptStatus: "CONFIRMED",
        apptTTL: 30,
        serviceRegion: "North",
      },
    });
    expect(await gateway.events()).toEqual([]);
    gateway.appointmentSettings = { ...gateway.appointmentSettings, holdMinutes: 7 };
    expect(await reserve(gateway, { timeSlotId })).toMatchObject({ apptTTL: 7 });
    gateway.now += 7 * minuteMs;
    expect(await placesLeft(gateway, morning)).toBe(1);
  });

  it("takes one place each, also from one address", async () => {
    const timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId, ...home });
    await reserve(gateway, { timeSlotId, ...home });
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home }))).toBe("slotFull");
  });

  it("is turned into an appointment by the order from the same address, in one place", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1, quantity: 5 })], {
      horizonDays: 1,
    });
    const timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId, ...home, quantity: 3 });
    gateway.now += 30 * minuteMs - 1;
    await importOrder(gateway, "O1");
    const written = { ...home, addr1: " 8  ELM lane" };
    // More than was held, and still within what the slot has.
    await reserve(gateway, { timeSlotId, ...written, orderId: "O1", quantity: 5 });
    expect((await order(gateway, "O1")).to.schedule.timeFrom).toBe(`${morning}:00`);
    gateway.now += 60 * minuteMs;
    expect((await slotIds(gateway)).has(morning)).toBe(false);
    const { counted, kept } = await sumsOf(gateway);
    expect(kept).toEqual(counted);
    expect(Object.values(kept)).toEqual([[1_000, 5_000, 0, 0, 0]]);
  });

  it("stays a hold when its order asks for more than there is", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 2, quantity: 5 })], {
      horizonDays: 1,
    });
    const timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId, ...home, quantity: 3 });
    await importOrder(gateway, "O1");
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home, orderId: "O1", quantity: 6 }))).toBe(
      "slotFull",
    );
    expect(await codeOf(reserve(gateway, { timeSlotId, quantity: 3 }))).toBe("slotFull");
    expect(await codeOf(reserve(gateway, { timeSlotId, quantity: 2 }))).toBe("done");
  });

  it.each([
    ["another address", { addr1: "9 Elm Lane" }, 0],
    ["another town", { zip: "62705" }, 0],
    ["no address", { addr1: undefined, city: undefined, zip: undefined, country: undefined }, 0],
    ["the time after it is over", {}, 30 * minuteMs],
  ])("is not that of %s", async (_, change, later) => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1 })], { horizonDays: 1 });
    const timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId, ...home });
    await importOrder(gateway, "O1");
    gateway.now += later;
    const reservation = reserve(gateway, { timeSlotId, ...home, ...change, orderId: "O1" });
    // When its time is over the place is free for everybody.
    expect(await codeOf(reservation)).toBe(later > 0 ? "done" : "slotFull");
  });

  it("is not turned into the appointment of an order without any address", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1 })], { horizonDays: 1 });
    const timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId });
    await importOrder(gateway, "O1");
    expect(await codeOf(reserve(gateway, { timeSlotId, orderId: "O1" }))).toBe("slotFull");
  });

  it("of another order at the same address stays when a reservation is sent again", async () => {
    const timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId, ...home });
    await reserve(gateway, { timeSlotId, ...home });
    await importOrder(gateway, "O1");
    await importOrder(gateway, "O2");
    for (let time = 0; time < 3; time += 1) await reserve(gateway, { timeSlotId, ...home, orderId: "O1" });
    expect(await codeOf(reserve(gateway, { timeSlotId, quantity: 1 }))).toBe("slotFull");
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home, orderId: "O2" }))).toBe("done");
  });

  it("of another slot stays, and is over in its time", async () => {
    const [first, second] = [await slotId(gateway, morning), await slotId(gateway, afternoon)];
    await reserve(gateway, { timeSlotId: first, ...home });
    await importOrder(gateway, "O1");
    await reserve(gateway, { timeSlotId: second, ...home, orderId: "O1" });
    expect(await placesLeft(gateway, morning)).toBe(1);
  });

  it("may be turned into an appointment after the lead time has begun, but not after the slot has", async () => {
    const leadMinutes = 60;
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 9 })], {
      leadMinutes,
      horizonDays: 1,
    });
    const timeSlotId = await slotId(gateway, "2026-11-05T08:00");
    const begins = Date.UTC(2026, 10, 5, 13);
    await importOrder(gateway, "O1");
    await importOrder(gateway, "O2");
    gateway.now = begins - 70 * minuteMs;
    await reserve(gateway, { timeSlotId, ...home });
    gateway.now = begins - 50 * minuteMs;
    expect(await codeOf(reserve(gateway, { timeSlotId, orderId: "O2" }))).toBe("slotNotFound");
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home, orderId: "O1" }))).toBe("done");
    // The answer was lost, and the host asks again.
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home, orderId: "O1" }))).toBe("done");
    gateway.appointmentSettings = { ...gateway.appointmentSettings, leadMinutes: 0 };
    gateway.now = begins - 1;
    await reserve(gateway, { timeSlotId, ...home });
    gateway.now = begins;
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home, orderId: "O2" }))).toBe("slotNotFound");
  });
});

describe("a reservation for an order", () => {
  it("is written on the order and its stop, which is unplanned by it, and recorded as 8102", async () => {
    await importOrder(gateway, "O1", {
      to: { address: { name: "Lake House" }, schedule: { estDuration: 20 } },
      bol: "B",
    });
    expect(await gateway.stopStatus("O1")).toBe("05");
    const answer = await reserve(gateway, {
      timeSlotId: await slotId(gateway, morning),
      orderId: "O1",
      ...home,
    });
    expect(answer).toMatchObject({
      orderId: "O1",
      apptStatus: "CONFIRMED",
      apptTTL: 30,
      serviceRegion: "North",
    });
    const to = {
      address: { name: "Lake House" },
      schedule: {
        ...{ estimatedDuration: "20", timeFrom: "2026-11-06T08:00:00", timeTo: "2026-11-06T12:00:00" },
        timeZone: "America/New_York",
      },
    };
    const { stopExecutionInfo, appointment, ...kept } = await order(gateway, "O1");
    expect(kept).toEqual({ orderNbr: "O1", bol: "B", to, orderStatus: "10" });
    expect(stopExecutionInfo).toMatchObject({ stopStatus: "10" });
    expect(appointment).toMatchObject({ startDateTime: morning });
    const shown = await gateway.stop("O1");
    expect(shown.stop).toMatchObject({ stopNbr: "O1", bol: "B", to });
    expect(shown.stopExecutionInfo.stopStatus).toBe("10");
    expect(await gateway.events()).toEqual([8102]);
    gateway.now += dayMs;
    expect((await sumsOf(gateway)).counted).toEqual({ [`North ${morning}`]: [1_000, 1_000, 0, 0, 0] });
  });

  it("is written on a stop that came without an order", async () => {
    await gateway.importStops({ stopNbr: "S1" });
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: "S1" });
    const shown = await gateway.stop("S1");
    expect([shown.stop.to.schedule.timeFrom, shown.stopExecutionInfo.stopStatus]).toEqual([
      `${morning}:00`,
      "10",
    ]);
  });

  it("is written on an order that has lost its stop", async () => {
    await importOrder(gateway, "O1");
    await gateway.store.write("site", async (tx) => void (await tx.deleteFrom("stops").execute()));
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: "O1" });
    expect((await order(gateway, "O1")).to.schedule.timeFrom).toBe(`${morning}:00`);
  });

  it("takes the place of the one before, which is given back, and is recorded again", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1 })], { horizonDays: 1 });
    await importOrder(gateway, "O1");
    const [first, second] = [await slotId(gateway, morning), await slotId(gateway, afternoon)];
    await reserve(gateway, { timeSlotId: first, orderId: "O1" });
    // The same again: its own place is free for it.
    await reserve(gateway, { timeSlotId: first, orderId: "O1", quantity: 3 });
    await reserve(gateway, { timeSlotId: second, orderId: "O1" });
    expect((await order(gateway, "O1")).to.schedule.timeFrom).toBe(`${afternoon}:00`);
    expect(await gateway.events()).toEqual([8102, 8102, 8102]);
    expect(await placesLeft(gateway, morning)).toBe(1);
    expect(await placesLeft(gateway, afternoon)).toBe(0);
  });

  it("that is refused leaves the one before as it was", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1 })], { horizonDays: 1 });
    await importOrder(gateway, "O1");
    await importOrder(gateway, "O2");
    const [first, second] = [await slotId(gateway, morning), await slotId(gateway, afternoon)];
    await reserve(gateway, { timeSlotId: first, orderId: "O1" });
    await reserve(gateway, { timeSlotId: second, orderId: "O2" });
    await gateway.events();
    expect(await codeOf(reserve(gateway, { timeSlotId: second, orderId: "O1" }))).toBe("slotFull");
    expect((await order(gateway, "O1")).to.schedule.timeFrom).toBe(`${morning}:00`);
    expect(await gateway.events()).toEqual([]);
    expect(await codeOf(reserve(gateway, { timeSlotId: first }))).toBe("slotFull");
  });

  const open: readonly StopStatus[] = ["00", "05", "10", "20"];
  const inTransit: readonly StopStatus[] = ["24", "27", "30", "38", "50"];

  it.each(Object.keys(stopStatusNames) as StopStatus[])("whose stop is %s", async (status) => {
    await importOrder(gateway, "O1");
    const timeSlotId = await slotId(gateway, morning);
    await gateway.forceStop("O1", status);
    const code = await codeOf(reserve(gateway, { timeSlotId, orderId: "O1" }));
    if (open.includes(status)) {
      expect([code, await gateway.stopStatus("O1")]).toEqual(["done", status === "05" ? "10" : status]);
      return;
    }
    expect(code).toBe(inTransit.includes(status) ? "stopInTransit" : "finalState");
    expect(await gateway.stopStatus("O1")).toBe(status);
    expect((await order(gateway, "O1")).to).toBeUndefined();
    expect(await gateway.events()).toEqual([]);
    expect(await placesLeft(gateway, morning)).toBe(2);
  });

  it("keeps a planned stop on its load", async () => {
    await gateway.importLoads(load("L1", ["S1"]));
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: "S1" });
    const { stops } = await gateway.load("L1");
    expect(stops[0].stop.to.schedule.timeFrom).toBe(`${morning}:00`);
    expect(await gateway.stopStatus("S1")).toBe("20");
  });

  it("that was deleted is 907, unless its stop came again by itself; an unknown one is 922", async () => {
    await importOrder(gateway, "O1");
    const timeSlotId = await slotId(gateway, morning);
    await cancelOrder(gateway, "O1");
    expect(await codeOf(reserve(gateway, { timeSlotId, orderId: "O1" }))).toBe("finalState");
    await gateway.importStops({ stopNbr: "O1" });
    expect(await codeOf(reserve(gateway, { timeSlotId, orderId: "O1" }))).toBe("done");
    expect((await order(gateway, "O1")).to).toBeUndefined();
    expect(await codeOf(reserve(gateway, { timeSlotId, orderId: "o1" }))).toBe("orderNotFound");
  });
});

describe("deleting gives the place back and records 8103:", () => {
  beforeEach(async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1 })], { horizonDays: 1 });
  });

  async function booked(number: string): Promise<void> {
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: number });
    await gateway.events();
  }

  it("an order", async () => {
    await importOrder(gateway, "O1");
    await booked("O1");
    await cancelOrder(gateway, "O1");
    expect(await gateway.events()).toEqual([7059, 8103]);
    expect(await placesLeft(gateway, morning)).toBe(1);
  });

  it("an order without a stop", async () => {
    await importOrder(gateway, "O1");
    await booked("O1");
    await gateway.store.write("site", async (tx) => void (await tx.deleteFrom("stops").execute()));
    await cancelOrder(gateway, "O1");
    expect(await gateway.events()).toEqual([8103]);
  });

  it("a stop by a file", async () => {
    const { companyId, store, now } = gateway;
    await gateway.importStops(stop("S1"), stop("S2"));
    await booked("S1");
    const changes = [stopChangeOf("02", { stopNbr: "S1" }), stopChangeOf("02", { stopNbr: "S2" })];
    const file = { companyId, changes, fileTime: 20261105080000, refuseLate: true, now };
    await store.write("site", (tx) => applyStopChanges(tx, file));
    expect(await gateway.events()).toEqual([7059, 7059, 8103]);
    expect(await placesLeft(gateway, morning)).toBe(1);
  });

  it("a stop, and an ASN", async () => {
    const { call, at } = gateway;
    await gateway.importStops(stop("S1"));
    await booked("S1");
    await call(rejectStop, { ...at, body: { stopNbr: "S1", reasonCode: "R" } });
    expect(await gateway.events()).toEqual([7059, 8103]);
    await gateway.importAsns({ stopNbr: "A1" });
    await booked("A1");
    await call(rejectAsn, { ...at, body: { stopNbr: "A1", reasonCode: "R" } });
    expect(await gateway.events()).toEqual([7059, 8103]);
    expect(await placesLeft(gateway, morning)).toBe(1);
  });

  it("nothing for one that had none, or had it released before", async () => {
    await importOrder(gateway, "O1");
    await cancelOrder(gateway, "O1");
    expect(await gateway.events()).toEqual([7059]);
    await importOrder(gateway, "O1");
    await booked("O1");
    await cancelOrder(gateway, "O1");
    await importOrder(gateway, "O1");
    await gateway.events();
    await cancelOrder(gateway, "O1");
    expect(await gateway.events()).toEqual([7059]);
    const { counted, kept } = await sumsOf(gateway);
    expect([counted, kept]).toEqual([{}, {}]);
  });
});

describe("the last place", () => {
  it("goes to exactly one of fifty requests at once", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ quantity: 10 })], { horizonDays: 1 });
    const timeSlotId = await slotId(gateway, morning);
    await reserve(gateway, { timeSlotId, quantity: 9 });
    const codes = await Promise.all(
      Array.from({ length: 50 }, () => codeOf(reserve(gateway, { timeSlotId, ...home }))),
    );
    expect(codes.filter((code) => code === "done")).toHaveLength(1);
    expect(codes.filter((code) => code === "slotFull")).toHaveLength(49);
  });
});
