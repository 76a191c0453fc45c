/**
 * Reserves a time slot: a hold for an order that is not there yet, or the appointment of one that is
 * (specification/appointments.md#reservations).
 *
 * Everything happens in one transaction, and transactions run one after the other: of two requests for the last place, the
 * second sees what the first has written. A refusal changes nothing, the previous appointment included.
 */
import { lackingFor, type Share } from "../../domain/appointments/appointment-capacity.ts";
import { type AppointmentSettings, regionOf } from "../../domain/appointments/appointment-region.ts";
import { type AppointmentSlot, isBookable, slotOfId } from "../../domain/appointments/appointment-slots.ts";
import {
  addressKeyOf,
  orderNbrOf,
  readShare,
  type Reservation,
  SlotReservation,
} from "../../domain/appointments/appointment.ts";
import { DropgateError } from "../../lib/errors.ts";
import { findAppointment, findHold, type SlotPlace } from "../../store/appointments/appointments.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { recordEvent } from "../consequences/record-events.ts";
import {
  expireHolds,
  findUseOfSlot,
  keepAppointment,
  releaseShare,
} from "../consequences/slot-accounting.ts";
import { findAppointmentOrder, scheduleOf, writeSchedule } from "./appointment-order.ts";
import { type AppointmentDeps, fieldsBut, sentInput } from "./appointment-request.ts";
import { type CompanyBody, createBodyReader, refusal } from "../request-body.ts";
import { minuteMs } from "../../lib/durations.ts";

const readBody = createBodyReader(SlotReservation);

/** Holds that are marked as over along with a reservation: more than it can add. */
const tidiedAtOnce = 20;

interface Wanted {
  readonly companyId: number;
  readonly slot: AppointmentSlot;
  readonly settings: AppointmentSettings;
  readonly share: Share;
  readonly orderNbr: string | undefined;
  readonly addressKey: string | undefined;
  readonly now: number;
}

function noSuchSlot(why: string): DropgateError {
  return new DropgateError(
    "slotNotFound",
    `apptReservation.timeSlotId ${why}. List the time slots again and reserve one of these.`,
  );
}

function readReservation(input: CompanyBody): {
  readonly reservation: Reservation;
  readonly share: Share;
} {
  const { apptReservation: reservation } = readBody(sentInput(input, "apptReservation"));
  const { share, isNamed, faults } = readShare(reservation, "apptReservation");
  if (faults.length > 0) throw refusal(faults);
  if (isNamed) return { reservation, share };
  throw new DropgateError(
    "noCapacityNamed",
    "apptReservation has no quantity, weight, volume or serviceTime. Send at least one of them.",
  );
}

/** The slot of the reservation. One that names a place has to name one of the slot's region. */
function findSlot(
  companyId: number,
  reservation: Reservation,
  settings: AppointmentSettings,
): AppointmentSlot {
  const slot = slotOfId(companyId, reservation.timeSlotId, settings);
  if (slot === undefined) throw noSuchSlot("names no time slot of this company");
  const { zip, country, partnerCode, schedulingAttribute } = reservation;
  const isPlaced = [zip, country, partnerCode, schedulingAttribute].some(
    (one) => one !== undefined && one !== "",
  );
  if (isPlaced && regionOf(settings.regions, reservation) !== slot.region) {
    const remedy = "send the same address, partnerCode and schedulingAttribute as with the listing";
    throw noSuchSlot(`is of the region ${slot.region.name}, to which this place does not belong: ${remedy}`);
  }
  return slot;
}

function placeOf({ companyId, slot }: Wanted): SlotPlace {
  return { companyId, region: slot.region.name, slotKey: slot.key };
}

/** An appointment that is in the slot already was early enough when it was made, and may stay until the slot begins. */
function requireInTime({ slot, settings, now }: Wanted, hasPlace: boolean): void {
  const isInTime = hasPlace ? slot.startsAt > now : isBookable(slot, settings, now);
  if (!isInTime) throw noSuchSlot("names a time slot that is past, or cannot be booked at this time");
}

async function requireRoom(tx: Transaction, wanted: Wanted): Promise<void> {
  const used = await findUseOfSlot(tx, placeOf(wanted), wanted.now);
  const lacking = lackingFor(wanted.slot.window.capacity, used, wanted.share);
  if (lacking.length === 0) return;
  throw new DropgateError(
    "slotFull",
    `the time slot has not enough left (${lacking.join(", ")}). List the time slots again and reserve another one.`,
  );
}

/**
 * Releases the appointment that the new one replaces; returns whether that was in the same slot. A repeated request
 * replaces itself, and no hold: another hold of the same address is for another order.
 */
async function releaseReplaced(tx: Transaction, wanted: Wanted, orderNbr: string): Promise<boolean> {
  const { companyId, addressKey, now } = wanted;
  const previous = await findAppointment(tx, companyId, orderNbr);
  if (previous !== undefined) await releaseShare(tx, previous, now);
  const place = placeOf(wanted);
  if (previous?.region === place.region && previous.slotKey === place.slotKey) return true;
  if (addressKey === undefined) return false;
  const hold = await findHold(tx, { ...place, addressKey, now });
  if (hold !== undefined) await releaseShare(tx, hold, now);
  return hold !== undefined;
}

async function keep(
  tx: Transaction,
  wanted: Wanted,
  of: { readonly orderNbr: string | null; readonly expiresAt: number | null },
): Promise<void> {
  const { slot, share, addressKey = null, now } = wanted;
  const { startsAt } = slot;
  await requireRoom(tx, wanted);
  await keepAppointment(tx, {
    ...{ ...placeOf(wanted), ...scheduleOf(slot), startsAt, addressKey, share, now, ...of },
  });
}

async function hold(tx: Transaction, wanted: Wanted): Promise<void> {
  requireInTime(wanted, false);
  const expiresAt = wanted.now + wanted.settings.holdMinutes * minuteMs;
  await keep(tx, wanted, { orderNbr: null, expiresAt });
}

async function confirm(tx: Transaction, wanted: Wanted, orderNbr: string): Promise<void> {
  const { companyId, slot, now } = wanted;
  const found = await findAppointmentOrder(tx, companyId, orderNbr);
  if (found.kind === "closed") throw found.error;
  requireInTime(wanted, await releaseReplaced(tx, wanted, orderNbr));
  await keep(tx, wanted, { orderNbr, expiresAt: null });
  await writeSchedule(tx, found.order, { slot, now });
  const data = { ...scheduleOf(slot), serviceRegion: slot.region.name };
  await recordEvent(tx, { companyId, kind: "schedulingConfirmed", stopNbr: orderNbr, recordedAt: now, data });
}

async function reserve(tx: Transaction, wanted: Wanted): Promise<void> {
  const { companyId, orderNbr, now } = wanted;
  if (orderNbr === undefined) await hold(tx, wanted);
  else await confirm(tx, wanted, orderNbr);
  await expireHolds(tx, { companyId, now, limit: tidiedAtOnce });
}

/**
 * Reserves the slot and gives the answer as an object. For an order or stop that is there the previous appointment is
 * released, the time is written to `to.schedule`, and 8102 is recorded; for `Not Available` the share is held for the
 * minutes of the setting. Throws 970, 971, 972, 922, 906, 907, or the faults of the body.
 */
export async function reserveTimeSlot(deps: AppointmentDeps, input: CompanyBody): Promise<object> {
  const { reservation, share } = readReservation(input);
  const { companyId } = input;
  const settings = deps.appointments(input.companyCode);
  const slot = findSlot(companyId, reservation, settings);
  const orderNbr = orderNbrOf(reservation);
  const addressKey = addressKeyOf(reservation);
  await deps.store.write(companyId, (tx) =>
    reserve(tx, { companyId, slot, settings, share, orderNbr, addressKey, now: deps.clock.now() }),
  );
  const hidden = ["timeSlotId", "quantity", "weight", "volume", "serviceTime", "partnerCode"];
  const { holdMinutes: apptTTL } = settings;
  return {
    apptReservation: {
      ...fieldsBut(reservation, hidden),
      ...{ apptStatus: "CONFIRMED", apptTTL, serviceRegion: slot.region.name },
    },
  };
}
