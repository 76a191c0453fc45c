/** What a listing and a reservation of time slots are refused for (specification/appointments.md#reservations). */
import { beforeEach, describe, expect, it } from "vitest";
import { listTimeSlots } from "../../src/operations/appointments/list-time-slots.ts";
import { reserveTimeSlot } from "../../src/operations/appointments/reserve-time-slot.ts";
import {
  home,
  list,
  morning,
  reserve,
  slotId,
  slotIds,
  sumsOf,
  openNorth,
} from "../support/appointment-client.ts";
import { regionOf, settingsOf } from "../support/appointment-settings.ts";
import { codeOf, type GatewayStore } from "../support/gateway-store.ts";

let gateway: GatewayStore;

beforeEach(async () => {
  gateway = await openNorth();
});

describe("what is refused:", () => {
  it("a reservation that names no amount (970), also when all are empty", async () => {
    const timeSlotId = await slotId(gateway, morning);
    const none = { quantity: undefined };
    expect(await codeOf(reserve(gateway, { timeSlotId, ...none }))).toBe("noCapacityNamed");
    const empty = { quantity: "", weight: null, volume: "", serviceTime: null };
    expect(await codeOf(reserve(gateway, { timeSlotId, ...empty }))).toBe("noCapacityNamed");
    for (const one of ["weight", "volume", "serviceTime"])
      expect(await codeOf(reserve(gateway, { timeSlotId, ...none, [one]: 0 })), one).toBe(
        one === "serviceTime" ? "slotFull" : "done",
      );
  });

  it("a slot that is unknown, of another company, past, or too near (971)", async () => {
    const timeSlotId = await slotId(gateway, "2026-11-05T08:00");
    expect(await codeOf(reserve(gateway, { timeSlotId: "made-up" }))).toBe("slotNotFound");
    const other = { ...gateway.at, companyId: gateway.companyId + 1 };
    const body = { apptReservation: { timeSlotId, orderId: "Not Available", quantity: 1 } };
    expect(await codeOf(gateway.call(reserveTimeSlot, { ...other, body }))).toBe("slotNotFound");
    gateway.now = Date.UTC(2026, 10, 5, 13) - 1;
    expect(await codeOf(reserve(gateway, { timeSlotId }))).toBe("done");
    gateway.now += 1;
    expect(await codeOf(reserve(gateway, { timeSlotId }))).toBe("slotNotFound");
  });

  it("a slot of a region that the address is not in, or that is there no more (971)", async () => {
    const north = regionOf({ appointments: 5 }, ["08:00-12:00"], { zipPrefixes: ["6"] });
    const south = regionOf({ appointments: 5 }, ["08:00-12:00"], { name: "South" });
    gateway.appointmentSettings = settingsOf([north, south], { horizonDays: 1 });
    const timeSlotId = (await slotIds(gateway, home)).get(morning) ?? "";
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home, zip: "7" }))).toBe("slotNotFound");
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home }))).toBe("done");
    // Nothing said of the place: the slot says it.
    expect(await reserve(gateway, { timeSlotId, addr1: "x" })).toMatchObject({ serviceRegion: "North" });
    gateway.appointmentSettings = settingsOf([south], { horizonDays: 1 });
    expect(await codeOf(reserve(gateway, { timeSlotId, ...home }))).toBe("slotNotFound");
  });

  const faulty: readonly [string, object, object][] = [
    ["a negative amount", { weight: -1 }, { code: "wrongType", path: "apptReservation.weight" }],
    [
      "an amount that is no number",
      { volume: "much" },
      { code: "wrongType", path: "apptReservation.volume" },
    ],
    ["an amount beyond all", { quantity: 1e12 }, { code: "wrongType", path: "apptReservation.quantity" }],
    [
      "an amount that is a list",
      { serviceTime: [1] },
      { code: "wrongType", path: "apptReservation.serviceTime" },
    ],
    ["no slot", { timeSlotId: undefined }, { code: "missing", path: "apptReservation.timeSlotId" }],
    ["no order", { orderId: undefined }, { code: "missing", path: "apptReservation.orderId" }],
    [
      "an order's number that is too long",
      { orderId: "9".repeat(21) },
      { code: "tooLong", path: "apptReservation.orderId" },
    ],
    [
      "a partner's code that is too long",
      { partnerCode: "P".repeat(11) },
      { code: "tooLong", path: "apptReservation.partnerCode" },
    ],
    [
      "an address that is too long",
      { addr1: "x".repeat(2_001) },
      { code: "tooLong", path: "apptReservation.addr1" },
    ],
    ["a town that is a number", { city: 1 }, { code: "wrongType", path: "apptReservation.city" }],
  ];

  it.each(faulty)("%s in a reservation", async (_, change, fault) => {
    const timeSlotId = await slotId(gateway, morning);
    await expect(reserve(gateway, { timeSlotId, ...change })).rejects.toMatchObject({ faults: [fault] });
    expect((await sumsOf(gateway)).kept).toEqual({});
  });

  it.each<[string, object, object]>([
    ["a date that is none", { apptStartDate: "2026-02-30T00:00:00" }, { code: "badDate" }],
    ["a date without a time", { apptStartDate: "2026-11-06" }, { code: "badDate" }],
    ["a negative amount", { quantity: "-1" }, { code: "wrongType", path: "apptRequest.quantity" }],
    [
      "an order's number that is too long",
      { orderId: "9".repeat(21) },
      { code: "tooLong", path: "apptRequest.orderId" },
    ],
  ])("%s in a listing", async (_, request, fault) => {
    await expect(list(gateway, request)).rejects.toMatchObject({ faults: [fault] });
  });

  it.each([{}, { apptRequest: null, apptReservation: null }])(
    "a body without its object, %j (903)",
    async (body) => {
      const { call, at } = gateway;
      expect(await codeOf(call(listTimeSlots, { ...at, body }))).toBe("emptyList");
      expect(await codeOf(call(reserveTimeSlot, { ...at, body }))).toBe("emptyList");
    },
  );

  it("unknown fields, when the setting says so", async () => {
    const timeSlotId = await slotId(gateway, morning);
    const strict = { ...gateway.at, unknownFields: "refuse" } as const;
    const apptReservation = { timeSlotId, orderId: "Not Available", quantity: 1, gate: "B" };
    await expect(
      gateway.call(reserveTimeSlot, { ...strict, body: { apptReservation } }),
    ).rejects.toMatchObject({ faults: [{ code: "wrongType", path: "apptReservation.gate" }] });
    await expect(
      gateway.call(listTimeSlots, { ...strict, body: { apptRequest: { gate: "B" } } }),
    ).rejects.toMatchObject({ faults: [{ code: "wrongType", path: "apptRequest.gate" }] });
  });
});
