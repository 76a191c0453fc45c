/**
 * Deliveries that somebody asks for again: dead ones, delivered ones, and at once what waits for its time or its target. Each
 * takes the place in its line that it had from the beginning, before all later ones of its stop that are open, and what it
 * was is kept (`delivery_repeats`).
 */
import { killPoint } from "../lib/kill-point.ts";
import type { Reader } from "./database.ts";
import type { DeliveryLine } from "./deliveries.ts";
import { type DeliveryState, isInState, isOpen } from "./delivery-states.ts";
import type { Transaction } from "./group-commit.ts";
import { announceNews, changeTargetCounts } from "./outbound-targets.ts";

export interface RepeatedDelivery {
  readonly id: number;
  readonly name: string;
  readonly state: DeliveryState;
}

/** A later completion of the same stop that the target has had. */
export interface NewerDelivery {
  readonly id: number;
  readonly name: string;
  readonly deliveredAt: number;
}

export type RepeatOutcome =
  | {
      readonly kind: "unknown" /** It was there once, and was removed with its age. */;
      readonly wasRemoved: boolean;
    }
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

interface Asked {
  readonly id: number;
  /** Milliseconds UTC. */
  readonly now: number;
}

function selectFound(read: Reader) {
  return read
    .selectFrom("deliveries as d")
    .innerJoin("outbound_targets as t", "t.id", "d.target_id")
    .select(["d.id", "d.name", "d.state", "d.company_id", "d.target_id", "d.kind", "d.line_nbr"])
    .select(["d.order_key", "d.subject_id", "d.due_at", "t.is_configured", "t.paused_until"]);
}

type FoundRow = Awaited<ReturnType<ReturnType<typeof selectFound>["execute"]>>[number];

interface FoundDelivery extends Omit<FoundRow, "state"> {
  readonly state: DeliveryState;
}

async function find(tx: Transaction, id: number): Promise<FoundDelivery | undefined> {
  const row = await selectFound(tx).where("d.id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : { ...row, state: row.state as DeliveryState };
}

/** Numbers are never given twice, so one below the greatest was there once. */
async function unknown(tx: Transaction, id: number): Promise<RepeatOutcome> {
  const row = await tx.selectFrom("deliveries").select("id").where("id", ">", id).limit(1).executeTakeFirst();
  return { kind: "unknown", wasRemoved: row !== undefined };
}

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

const keptColumns = [
  ...([
    "state",
    "attempts",
    "last_attempt_at",
    "delivered_at",
    "sha256",
    "size",
    "fault",
    "fault_text",
  ] as const),
  ...(["collected_at", "collected_by", "removed_at", "removed_by"] as const),
] as const;

async function keepHistory(tx: Transaction, { id, now }: Asked): Promise<void> {
  const before = await tx
    .selectFrom("deliveries")
    .select(keptColumns)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("delivery_repeats")
    .values({ ...before, delivery_id: id, asked_at: now })
    .execute();
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
  await keepHistory(tx, { id: one.id, now });
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
 * Tries a dead delivery again, with all attempts before it. One that waits until it is due is due now; one that waits for its
 * target is queued too, for the caller to end the pause.
 */
export async function retryDelivery(tx: Transaction, { id, now }: Asked): Promise<RepeatOutcome> {
  const found = await find(tx, id);
  if (found === undefined) return await unknown(tx, id);
  const isPutOff = found.due_at > now || found.paused_until > now || found.is_configured === 0;
  if (found.state === "waiting" && isPutOff) return await hasten(tx, found, now);
  if (found.state !== "dead") return { kind: "refused", delivery: found, isMessage: false };
  return await reopen(tx, found, now);
}

/** Sends a delivered one again, under the same id with the same bytes. A message to a customer is not sent twice. */
export async function resendDelivery(tx: Transaction, { id, now }: Asked): Promise<RepeatOutcome> {
  const found = await find(tx, id);
  if (found === undefined) return await unknown(tx, id);
  const isMessage = found.kind === "message";
  if (found.state !== "delivered" || isMessage) return { kind: "refused", delivery: found, isMessage };
  return await reopen(tx, found, now);
}
