/**
 * Lists the time slots that have room for what the request names (specification/appointments.md#slots).
 *
 * The first listing for an order without an appointment is recorded as 8101.
 */
import {
  lackingFor,
  noShare,
  type Share,
  subtractShares,
} from "../../domain/appointments/appointment-capacity.ts";
import { type AppointmentRegion, regionOf } from "../../domain/appointments/appointment-region.ts";
import {
  type AppointmentSlot,
  bookableSlots,
  slotIdOf,
} from "../../domain/appointments/appointment-slots.ts";
import {
  orderNbrOf,
  readShare,
  SlotListing,
  type SlotRequest,
} from "../../domain/appointments/appointment.ts";
import { recordedEvents } from "../../domain/outbound/recorded-events.ts";
import { readInstant } from "../../domain/time/local-time.ts";
import { momentOf } from "../../domain/time/zoned-time.ts";
import { findAppointment, type StoredAppointment } from "../../store/appointments/appointments.ts";
import type { Reader } from "../../store/database/database.ts";
import { findLastSchedulingEvent } from "../../store/stops/recorded-events.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { recordEvent } from "../consequences/record-events.ts";
import { expireHolds, findUseOfSlots } from "../consequences/slot-accounting.ts";
import { findAppointmentOrder, scheduleOf } from "./appointment-order.ts";
import { type AppointmentDeps, fieldsBut, sentInput } from "./appointment-request.ts";
import { type CompanyBody, createBodyReader, refusal } from "../request-body.ts";

const readBody = createBodyReader(SlotListing);

/**
 * With more unmarked holds than this whose time is over, they are marked: reading them at each listing would take time.
 */
const untidyHolds = 500;
const tidiedAtOnce = 5_000;

interface OrderKey {
  readonly companyId: number;
  readonly orderNbr: string;
}

/** Whether the listing is the first for an order that is there, open, and has no appointment. */
async function isToBeInitiated(
  db: Reader | Transaction,
  { companyId, orderNbr }: OrderKey,
): Promise<boolean> {
  const last = await findLastSchedulingEvent(db, { companyId, stopNbr: orderNbr });
  // 7059 and 8103 end what was before: the order came again.
  const isOver =
    last === undefined ||
    last.code === recordedEvents.stopCancelled.code ||
    last.code === recordedEvents.schedulingCancelled.code;
  if (!isOver) return false;
  const found = await findAppointmentOrder(db, companyId, orderNbr);
  return found.kind === "open" && (await findAppointment(db, companyId, orderNbr)) === undefined;
}

async function noteInitiated({ store, clock }: AppointmentDeps, key: OrderKey): Promise<void> {
  if (!(await isToBeInitiated(store.read, key))) return;
  await store.write(key.companyId, async (tx) => {
    // Of two listings at the same time one is the first.
    if (!(await isToBeInitiated(tx, key))) return;
    const { companyId, orderNbr } = key;
    const recordedAt = clock.now();
    await recordEvent(tx, { companyId, kind: "schedulingInitiated", stopNbr: orderNbr, recordedAt });
  });
}

interface Search {
  readonly companyId: number;
  readonly slots: readonly AppointmentSlot[];
  readonly share: Share;
  /** The appointment that the order has now: it is released when another is made, so it takes no room. */
  readonly own: StoredAppointment | undefined;
  readonly now: number;
}

function ownShareIn({ region, key }: AppointmentSlot, own: StoredAppointment | undefined): Share {
  return own?.region === region.name && own.slotKey === key ? own.share : noShare;
}

async function findRoomy(
  deps: AppointmentDeps,
  region: AppointmentRegion,
  { companyId, slots, share, own, now }: Search,
): Promise<readonly AppointmentSlot[]> {
  const keys = slots.map(({ key }) => key).toSorted();
  const [firstKey, lastKey] = [keys[0], keys.at(-1)];
  if (firstKey === undefined || lastKey === undefined) return [];
  const range = { companyId, region: region.name, firstKey, lastKey, now };
  const { byKey, dueHolds } = await findUseOfSlots(deps.store.read, range);
  if (dueHolds > untidyHolds)
    await deps.store.write(companyId, (tx) => expireHolds(tx, { companyId, now, limit: tidiedAtOnce }));
  return slots.filter((slot) => {
    const used = subtractShares(byKey.get(slot.key) ?? noShare, ownShareIn(slot, own));
    return lackingFor(slot.window.capacity, used, share).length === 0;
  });
}

function shownSlot(companyId: number, slot: AppointmentSlot) {
  const { timeFrom, timeTo, timeZone } = scheduleOf(slot);
  return {
    timeSlotId: slotIdOf(companyId, slot),
    startDateTime: timeFrom.slice(0, 16),
    endDateTime: timeTo.slice(0, 16),
    timeZone,
  };
}

function readRequest(input: CompanyBody): { readonly request: SlotRequest; readonly share: Share } {
  const { apptRequest: request } = readBody(sentInput(input, "apptRequest"));
  const { share, faults } = readShare(request, "apptRequest");
  if (faults.length > 0) throw refusal(faults);
  return { request, share };
}

/**
 * The answer as an object: the request without what it takes, the region's name as `serviceRegion`, and `timeSlots` with
 * enough left, the earliest first. Without a region that matches they are empty. Throws the faults of the body.
 */
export async function listTimeSlots(deps: AppointmentDeps, input: CompanyBody): Promise<object> {
  const { request, share } = readRequest(input);
  const { companyId } = input;
  const settings = deps.appointments(input.companyCode);
  const orderNbr = orderNbrOf(request);
  if (orderNbr !== undefined) await noteInitiated(deps, { companyId, orderNbr });
  const shown = fieldsBut(request, ["quantity", "weight", "volume", "serviceTime", "apptStartDate"]);
  const region = regionOf(settings.regions, request);
  if (region === undefined) return { apptRequest: { ...shown, serviceRegion: "", timeSlots: [] } };
  const now = deps.clock.now();
  const { apptStartDate } = request;
  const from =
    apptStartDate === undefined ? now : (readInstant(apptStartDate) ?? momentOf(apptStartDate, region.zone));
  const slots = bookableSlots(region, settings, { now, from });
  const own =
    orderNbr === undefined ? undefined : await findAppointment(deps.store.read, companyId, orderNbr);
  const roomy = await findRoomy(deps, region, { companyId, slots, share, own, now });
  const timeSlots = roomy.map((slot) => shownSlot(companyId, slot));
  return { apptRequest: { ...shown, serviceRegion: region.name, timeSlots } };
}
