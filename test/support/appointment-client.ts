/** Appointments of a store without HTTP before it: requests in short, and answers as they are read. */
import { listTimeSlots } from "../../src/operations/appointments/list-time-slots.ts";
import { reserveTimeSlot } from "../../src/operations/appointments/reserve-time-slot.ts";
import { importOrders } from "../../src/operations/imports/import-orders.ts";
import { readOrderDetail } from "../../src/operations/orders/order-detail.ts";
import { rejectOrder } from "../../src/operations/orders/reject-order.ts";
import { regionOf, settingsOf } from "./appointment-settings.ts";
import { codeOf, GatewayStore } from "./gateway-store.ts";

/** Slots of the region of `openNorth`, New York time. */
export const morning = "2026-11-06T08:00";
export const afternoon = "2026-11-06T13:00";
export const home = { addr1: "8 Elm Lane", city: "Springfield", zip: "62704", country: "US" };

/** A store with a region of two windows a day, two places in each, today and tomorrow. */
export async function openNorth(): Promise<GatewayStore> {
  const gateway = await GatewayStore.open();
  // 08:00 UTC on Thursday the 5th is 03:00 in New York.
  gateway.appointmentSettings = settingsOf([regionOf({ appointments: 2 })], { horizonDays: 1 });
  return gateway;
}

export async function importOrder(gateway: GatewayStore, orderNbr: string, rest: object = {}): Promise<void> {
  const body = { companyCode: "ACME", orders: [{ orderNbr, ...rest }] };
  await gateway.call(importOrders, { ...gateway.at, serviceName: "default", body });
}

export async function order({ companyId, call }: GatewayStore, orderNbr: string) {
  return JSON.parse(await call(readOrderDetail, { companyId, orderNbr })).Order[0];
}

export async function cancelOrder({ call, at }: GatewayStore, orderNbr: string): Promise<void> {
  await call(rejectOrder, { ...at, body: { orderNbr, reasonCode: "R" } });
}

export interface ListedSlot {
  readonly timeSlotId: string;
  readonly startDateTime: string;
  readonly endDateTime: string;
  readonly timeZone: string;
}

export interface Listing {
  readonly serviceRegion: string;
  readonly timeSlots: readonly ListedSlot[];
  readonly [name: string]: unknown;
}

/** Lists the slots for what the request names. */
export async function list(gateway: GatewayStore, request: object = {}): Promise<Listing> {
  const body: unknown = JSON.parse(JSON.stringify({ apptRequest: request }));
  const answer = await gateway.call(listTimeSlots, { ...gateway.at, body });
  return (answer as { apptRequest: Listing }).apptRequest;
}

/** The ids of the slots by their beginnings. */
export async function slotIds(gateway: GatewayStore, request: object = {}): Promise<Map<string, string>> {
  const { timeSlots } = await list(gateway, request);
  return new Map(timeSlots.map(({ startDateTime, timeSlotId }) => [startDateTime, timeSlotId]));
}

/** The id of the slot that begins then. Throws when it is not listed. */
export async function slotId(gateway: GatewayStore, startDateTime: string): Promise<string> {
  const id = (await slotIds(gateway)).get(startDateTime);
  if (id === undefined) throw new Error(`no slot begins at ${startDateTime}`);
  return id;
}

export async function reserve(gateway: GatewayStore, reservation: object): Promise<Record<string, unknown>> {
  const body: unknown = JSON.parse(
    JSON.stringify({ apptReservation: { orderId: "Not Available", quantity: 1, ...reservation } }),
  );
  const answer = await gateway.call(reserveTimeSlot, { ...gateway.at, body });
  return (answer as { apptReservation: Record<string, unknown> }).apptReservation;
}

/** How many can still book the slot that begins then; it is full afterwards. */
export async function placesLeft(gateway: GatewayStore, startDateTime: string): Promise<number> {
  const timeSlotId = (await slotIds(gateway)).get(startDateTime);
  if (timeSlotId === undefined) return 0;
  let places = 0;
  while ((await codeOf(reserve(gateway, { timeSlotId, addr1: "counter" }))) === "done") places += 1;
  return places;
}

const amounts = ["quantity", "weight", "volume", "service_minutes"] as const;

/** What the sums of each slot say beside what its held and confirmed rows add up to; equal when nothing is lost. */
export async function sumsOf({ store }: GatewayStore) {
  const rows = await store.read
    .selectFrom("appointments")
    .select(["region", "slot_key", ...amounts])
    .where("state", "in", ["held", "confirmed"])
    .execute();
  const counted: Record<string, number[]> = {};
  for (const row of rows) {
    const name = `${row.region} ${row.slot_key}`;
    const sums = counted[name] ?? [0, 0, 0, 0, 0];
    counted[name] = [1_000, ...amounts.map((amount) => row[amount])].map(
      (part, at) => part + (sums[at] ?? 0),
    );
  }
  const kept: Record<string, number[]> = {};
  const uses = await store.read.selectFrom("appointment_use").selectAll().execute();
  for (const use of uses) {
    const sums = [use.appointments, ...amounts.map((amount) => use[amount])];
    if (sums.some((sum) => sum !== 0)) kept[`${use.region} ${use.slot_key}`] = sums;
  }
  return { counted, kept };
}
