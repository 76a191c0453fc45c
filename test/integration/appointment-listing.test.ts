/** Listing time slots on a real store (specification/appointments.md#slots). */
import { beforeEach, describe, expect, it } from "vitest";
import { listTimeSlots } from "../../src/operations/appointments/list-time-slots.ts";
import {
  afternoon,
  cancelOrder,
  home,
  importOrder,
  list,
  morning,
  reserve,
  slotId,
  slotIds,
  sumsOf,
  openNorth,
} from "../support/appointment-client.ts";
import { regionOf, settingsOf } from "../support/appointment-settings.ts";
import { type GatewayStore, stop } from "../support/gateway-store.ts";
import { minuteMs } from "../../src/lib/durations.ts";

let gateway: GatewayStore;

beforeEach(async () => {
  gateway = await openNorth();
});

describe("a listing", () => {
  it("gives the request back with the region and its slots, without what it takes", async () => {
    const request = {
      ...home,
      partnerCode: "P1",
      schedulingAttribute: 7,
      quantity: "2",
      weight: 1.5,
      gate: "B",
    };
    expect(
      await list(gateway, { ...request, volume: 1, serviceTime: 30, apptStartDate: "2026-11-6T9:0:0" }),
    ).toEqual({
      ...home,
      ...{ partnerCode: "P1", schedulingAttribute: 7, gate: "B", serviceRegion: "North" },
      timeSlots: [
        {
          timeSlotId: expect.stringMatching(/^[\w-]{20,}$/),
          startDateTime: afternoon,
          endDateTime: "2026-11-06T17:00",
          timeZone: "America/New_York",
        },
      ],
    });
  });

  it("takes its own answer as a request, nulls for what is not there, and a time that is an instant", async () => {
    const answer = await list(gateway, { ...home, quantity: 1 });
    const rules = { ...gateway.at, unknownFields: "refuse" } as const;
    const body = { apptRequest: { ...answer, quantity: 1, weight: null, orderId: null, partnerCode: null } };
    expect(await gateway.call(listTimeSlots, { ...rules, body })).toEqual({ apptRequest: answer });
    // 14:00 in New York.
    const late = await slotIds(gateway, { apptStartDate: "2026-11-05T19:00:00Z" });
    expect([...late.keys()]).toEqual([morning, afternoon]);
  });

  it("begins now when no time is named, and names the same slots by the same ids each time", async () => {
    const ids = await slotIds(gateway);
    expect([...ids.keys()]).toEqual(["2026-11-05T08:00", "2026-11-05T13:00", morning, afternoon]);
    expect(await slotIds(gateway, { apptStartDate: "" })).toEqual(ids);
    expect(await slotIds(gateway, { apptStartDate: "2020-01-01T00:00:00" })).toEqual(ids);
    gateway.now += 600 * minuteMs;
    expect((await slotIds(gateway)).get(morning)).toBe(ids.get(morning));
  });

  it("is empty where no region matches, and for a company without any", async () => {
    const north = regionOf({ appointments: 1 }, undefined, { countries: ["US"] });
    gateway.appointmentSettings = settingsOf([north]);
    expect(await list(gateway, { country: "CA" })).toEqual({
      country: "CA",
      serviceRegion: "",
      timeSlots: [],
    });
    gateway.appointmentSettings = settingsOf([]);
    expect(await list(gateway, home)).toEqual({ ...home, serviceRegion: "", timeSlots: [] });
  });

  it("leaves out slots that have not enough left of any of what is named", async () => {
    const capacity = { appointments: 5, quantity: 10, weight: 10, volume: 10, serviceMinutes: 60 };
    gateway.appointmentSettings = settingsOf([regionOf(capacity)], { horizonDays: 1 });
    const taken = { quantity: 4, weight: "4.5", volume: 4, serviceTime: 45 };
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), ...taken });
    const hasMorning = async (request: object) => (await slotIds(gateway, request)).has(morning);
    for (const fits of [{ quantity: 6 }, { weight: 5.5 }, { volume: "6" }, { serviceTime: 15 }, {}])
      expect([fits, await hasMorning(fits)]).toEqual([fits, true]);
    for (const tooMuch of [{ quantity: 7 }, { weight: "5.501" }, { volume: 6.001 }, { serviceTime: 16 }])
      expect([tooMuch, await hasMorning(tooMuch)]).toEqual([tooMuch, false]);
    expect((await slotIds(gateway, { quantity: 10 })).has(afternoon)).toBe(true);
    expect((await slotIds(gateway, { quantity: 11 })).size).toBe(0);
  });

  it("counts a hold until its time is over, to the millisecond, without anything else happening", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1 })], { horizonDays: 1 });
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning) });
    gateway.now += 30 * minuteMs - 1;
    expect((await slotIds(gateway)).has(morning)).toBe(false);
    gateway.now += 1;
    expect((await slotIds(gateway)).has(morning)).toBe(true);
  });

  it("tidies up when many holds are over, and is right before and after", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 600 })], { horizonDays: 1 });
    const timeSlotId = await slotId(gateway, morning);
    await Promise.all(Array.from({ length: 600 }, () => reserve(gateway, { timeSlotId })));
    expect((await slotIds(gateway)).has(morning)).toBe(false);
    gateway.now += 30 * minuteMs;
    const states = async () => {
      const rows = await gateway.store.read.selectFrom("appointments").select("state").execute();
      return new Set(rows.map(({ state }) => state));
    };
    expect(await states()).toEqual(new Set(["held"]));
    expect((await slotIds(gateway)).has(morning)).toBe(true);
    expect(await states()).toEqual(new Set(["expired"]));
    expect((await slotIds(gateway)).has(morning)).toBe(true);
    const { counted, kept } = await sumsOf(gateway);
    expect(kept).toEqual(counted);
  });

  it("of an order shows the slot that it has itself, for it is given back", async () => {
    gateway.appointmentSettings = settingsOf([regionOf({ appointments: 1, quantity: 5 })], {
      horizonDays: 1,
    });
    await importOrder(gateway, "O1");
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: "O1", quantity: 4 });
    expect((await slotIds(gateway, { quantity: 5 })).has(morning)).toBe(false);
    expect((await slotIds(gateway, { quantity: 5, orderId: "O1" })).has(morning)).toBe(true);
    expect((await slotIds(gateway, { quantity: 6, orderId: "O1" })).has(morning)).toBe(false);
  });
});

describe("the first listing for an order", () => {
  it("records 8101, and no other does while there is no appointment", async () => {
    await importOrder(gateway, "O1");
    await Promise.all(Array.from({ length: 10 }, () => list(gateway, { orderId: "O1" })));
    await list(gateway, { orderId: "O1" });
    expect(await gateway.events()).toEqual([8101]);
  });

  it("records it for a stop that came without an order, and where no region matches", async () => {
    gateway.appointmentSettings = settingsOf([]);
    await gateway.importStops(stop("S1"));
    await list(gateway, { orderId: "S1" });
    expect(await gateway.events()).toEqual([8101]);
  });

  it.each(["", "Not Available", "not available ", "UNKNOWN"])("records nothing for %j", async (orderId) => {
    expect((await list(gateway, { orderId })).timeSlots).toHaveLength(4);
    expect(await gateway.events()).toEqual([]);
  });

  it("records nothing for one that has an appointment", async () => {
    await importOrder(gateway, "O1");
    await reserve(gateway, { timeSlotId: await slotId(gateway, morning), orderId: "O1" });
    await list(gateway, { orderId: "O1" });
    expect(await gateway.events()).toEqual([8102]);
  });

  it("records nothing for one that is under way, done or deleted, and again when it came again", async () => {
    await importOrder(gateway, "O1");
    for (const status of ["24", "50", "80", "90", "99"] as const) {
      await gateway.forceStop("O1", status);
      await list(gateway, { orderId: "O1" });
    }
    expect(await gateway.events()).toEqual([]);
    await gateway.forceStop("O1", "10");
    await list(gateway, { orderId: "O1" });
    await cancelOrder(gateway, "O1");
    await list(gateway, { orderId: "O1" });
    await importOrder(gateway, "O1");
    await list(gateway, { orderId: "O1" });
    await list(gateway, { orderId: "O1" });
    expect(await gateway.events()).toEqual([8101, 7059, 8101]);
  });
});
