/**
 * Deliveries that somebody asks for again: dead ones, those that were given up, delivered ones, and at once what waits for its time or its target. Each
 * takes the place in its line that it had from the beginning, before all later ones of its stop that are open, and what it
 * was is kept (`delivery_repeats`).
 */
import { killPoint } from "../../lib/kill-point.ts";
import {
  type Asked,
  findAsked,
  type FoundDelivery,
  isGivenUp,
  keepHistory,
  type RepeatedDelivery,
  type UnknownDelivery,
  unknownDelivery,
} from "./asked-delivery.ts";
import type { DeliveryLine } from "./deliveries.ts";
import { isInState, isOpen } from "./delivery-states.ts";
import type { Transaction } from "../database/group-commit.ts";
import { announceNews, changeTargetCounts } from "./outbound-targets.ts";

/** A later completion of the same stop that the target has had. */
export interface NewerDelivery {
  readonly id: number;
  readonly name: string;
  readonly deliveredAt: number;
}

export type RepeatOutcome =
  | UnknownDelivery
  /** There is nothing to be asked for, or not in this way. */
  | { readonly kind: "refused"; readonly delivery: RepeatedDelivery; readonly isMessage: boolean }
  | {
      readonly kind: "queued";
      /** `behind` when earlier ones of its stop are open: it comes after them. */
      readonly delivery: RepeatedDelivery;
      readonly isTargetConfigured: boolean;
      /** This one is going to come after it. */
      readonly newerDelivered: NewerDelivery | null;
    };

async function findNewerDelivered(tx: Transaction, one: FoundDelivery): Promise<NewerDelivery | null> {
  if (one.kind !== "completion") return null;
  const row = await tx
    .selectFrom("completions as c")
    .innerJoin("deliveries as d", (join) =>
      join.onRef("d.subject_id", "=", "c.id").on("d.kind", "=", "completion"),
    )
    .select(["d.id", "d.name", "d.delivered_at"])
    .where("c.company_id", "=", one.company_id)
    .where("c.stop_nbr", "=", one.order_key)
    .where("c.id", ">", one.subject_id)
    .where("d.target_id", "=", one.target_id)
    .where("d.state", "=", "delivered")
    .orderBy("d.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { id: row.id, name: row.name, deliveredAt: row.delivered_at ?? 0 };
}

/** One that waits for its next attempt, or for its target, has it now; it spends it like any other. */
async function hasten(tx: Transaction, waiting: FoundDelivery, now: number): Promise<RepeatOutcome> {
  await tx
    .updateTable("deliveries")
    .set({ due_at: now })
    .where("id", "=", waiting.id)
    .where("due_at", ">", now)
    .where(isInState("state", "waiting"))
    .execute();
  await announceNews(tx, waiting.target_id);
  const isTargetConfigured = waiting.is_configured === 1;
  return { kind: "queued", delivery: waiting, isTargetConfigured, newerDelivered: null };
}

/**
 * Has everything that waits for its next attempt at a target tried now, the oldest first: what a delivery has waited for, up to
 * six hours, says nothing any more once somebody has seen to the target. Gives how many they are.
 */
export async function hastenAll(
  tx: Transaction,
  { targetId, now }: { readonly targetId: number; readonly now: number },
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable("deliveries")
    .set({ due_at: now })
    .where("target_id", "=", targetId)
    .where("due_at", ">", now)
    .where("attempts", ">", 0)
    .where(isInState("state", "waiting"))
    .executeTakeFirst();
  if (numUpdatedRows > 0) await announceNews(tx, targetId);
  return Number(numUpdatedRows);
}

/** The first open delivery of the line. */
async function headOf(tx: Transaction, line: DeliveryLine) {
  return await tx
    .selectFrom("deliveries")
    .select(["id", "line_nbr"])
    .where("target_id", "=", line.targetId)
    .where("order_key", "=", line.orderKey)
    .where(isOpen("state"))
    .orderBy("line_nbr")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/** The state that it has at its place in the line. When it is the first, what was the first is behind it. */
async function takePlace(tx: Transaction, one: FoundDelivery): Promise<"waiting" | "behind"> {
  const head = await headOf(tx, { targetId: one.target_id, orderKey: one.order_key });
  if (head === undefined) return "waiting";
  if (head.line_nbr === 0 && head.id < one.id) return "behind";
  await tx.updateTable("deliveries").set({ state: "behind" }).where("id", "=", head.id).execute();
  return "waiting";
}

const asNew = {
  ...{ line_nbr: 0, attempts: 0, first_attempt_at: null, delivered_at: null },
  ...{ collected_at: null, collected_by: null, removed_at: null, removed_by: null },
} as const;

/** Puts it back in the queue, due now. The fault of a dead one stays to be seen until it is delivered. */
async function reopen(tx: Transaction, one: FoundDelivery, now: number): Promise<RepeatOutcome> {
  await keepHistory(tx, { id: one.id, now, action: "again" });
  const state = await takePlace(tx, one);
  await tx
    .updateTable("deliveries")
    .set({ ...asNew, state, due_at: now })
    .where("id", "=", one.id)
    .execute();
  const dead = one.state === "dead" ? -1 : 0;
  await changeTargetCounts(tx, { id: one.target_id, open: 1, dead });
  killPoint("delivery.retried");
  const newerDelivered = await findNewerDelivered(tx, one);
  const isTargetConfigured = one.is_configured === 1;
  return { kind: "queued", delivery: { ...one, state }, isTargetConfigured, newerDelivered };
}

/**
 * Tries a dead delivery, or one that was given up, again, with all attempts before it. One that waits until it is due is due now; one that waits for its
 * target is queued too, for the caller to end the pause.
 */
export async function retryDelivery(tx: Transaction, { id, now }: Asked): Promise<RepeatOutcome> {
  const found = await findAsked(tx, id);
  if (found === undefined) return await unknownDelivery(tx, id);
  const isPutOff = found.due_at > now || found.paused_until > now || found.is_configured === 0;
  if (found.state === "waiting" && isPutOff) return await hasten(tx, found, now);
  if (found.state !== "dead" && !isGivenUp(found)) {
    return { kind: "refused", delivery: found, isMessage: found.kind === "message" };
  }
  return await reopen(tx, found, now);
}

/** Sends a delivered one again, under the same id with the same bytes. A message to a customer is not sent twice. */
export async function resendDelivery(tx: Transaction, { id, now }: Asked): Promise<RepeatOutcome> {
  const found = await findAsked(tx, id);
  if (found === undefined) return await unknownDelivery(tx, id);
  const isMessage = found.kind === "message";
  if (found.state !== "delivered" || isMessage) return { kind: "refused", delivery: found, isMessage };
  return await reopen(tx, found, now);
}
