/**
 * What the slots of a region have in use.
 *
 *   confirmed ──rescheduled, order or stop deleted──> released
 *   held ──reserved again with its order: that one is confirmed──> released
 *     \──after its time──> expired
 *
 * The sums of a slot change with each of these steps, in the same transaction. A hold counts no more from the moment at
 * which its time is over: readers of the sums subtract holds that are over and not marked yet.
 */
import {
  addShares,
  noShare,
  type Share,
  subtractShares,
} from "../../domain/appointments/appointment-capacity.ts";
import {
  addUse,
  type ExpireArguments,
  findDueHolds,
  insertAppointment,
  listDueHolds,
  listSlotUse,
  markExpired,
  markReleased,
  type NewAppointment,
  type PlacedShare,
  type SlotPlace,
  type SlotRange,
  type StoredAppointment,
} from "../../store/appointments/appointments.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";

async function giveBack(tx: Transaction, { place, share }: PlacedShare): Promise<void> {
  await addUse(tx, place, subtractShares(noShare, share));
}

export interface UseOfSlots {
  /** By the key of the slot; a missing one has nothing in use. */
  readonly byKey: ReadonlyMap<string, Share>;
  /** Holds whose time is over and that nobody has marked yet. */
  readonly dueHolds: number;
}

/** What is in use at `now` (milliseconds UTC) in the slots of a region from one key to another, both included. */
export async function findUseOfSlots(
  read: Reader | Transaction,
  { now, ...range }: SlotRange & { readonly now: number },
): Promise<UseOfSlots> {
  const { companyId, region } = range;
  const byKey = new Map<string, Share>();
  for (const { slotKey, used } of await listSlotUse(read, range)) byKey.set(slotKey, used);
  let dueHolds = 0;
  for (const { slotKey, count, share } of await listDueHolds(read, { companyId, region, now })) {
    dueHolds += count;
    byKey.set(slotKey, subtractShares(byKey.get(slotKey) ?? noShare, share));
  }
  return { byKey, dueHolds };
}

/** What is in use in one slot. */
export async function findUseOfSlot(tx: Transaction, place: SlotPlace, now: number): Promise<Share> {
  const { companyId, region, slotKey } = place;
  const [use] = await listSlotUse(tx, { companyId, region, firstKey: slotKey, lastKey: slotKey });
  const due = await findDueHolds(tx, place, now);
  return subtractShares(use?.used ?? noShare, due?.share ?? noShare);
}

/** Marks holds whose time is over, the oldest first. It only reduces the rows to read. */
export async function expireHolds(tx: Transaction, due: ExpireArguments): Promise<void> {
  const freed = new Map<string, PlacedShare>();
  for (const { place, share } of await markExpired(tx, due)) {
    const name = `${place.slotKey}${place.region}`;
    const before = freed.get(name)?.share ?? noShare;
    freed.set(name, { place, share: addShares(before, share) });
  }
  for (const one of freed.values()) await giveBack(tx, one);
}

/** Gives the share of a held or confirmed appointment back. */
export async function releaseShare(tx: Transaction, stored: StoredAppointment, now: number): Promise<void> {
  const { id, share } = stored;
  if (await markReleased(tx, { id, now })) await giveBack(tx, { place: stored, share });
}

/**
 * Stores an appointment and takes its share: confirmed when it has an order, else held. The caller has checked in the
 * same transaction that there is room.
 */
export async function keepAppointment(
  tx: Transaction,
  appointment: Omit<NewAppointment, "state">,
): Promise<void> {
  const state = appointment.orderNbr === null ? "held" : "confirmed";
  await insertAppointment(tx, { ...appointment, state });
  await addUse(tx, appointment, appointment.share);
}
