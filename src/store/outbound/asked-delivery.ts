/** A delivery that somebody wants something done with, and what is kept of what it was until then (`delivery_repeats`). */
import type { DeliveryState } from "../../domain/outbound/delivery-state.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";

export interface RepeatedDelivery {
  readonly id: number;
  readonly name: string;
  readonly state: DeliveryState;
}

export interface Asked {
  readonly id: number;
  /** Milliseconds UTC. */
  readonly now: number;
}

function selectFound(read: Reader) {
  return read
    .selectFrom("deliveries as d")
    .innerJoin("outbound_targets as t", "t.id", "d.target_id")
    .select(["d.id", "d.name", "d.state", "d.company_id", "d.target_id", "d.kind", "d.line_nbr"])
    .select(["d.order_key", "d.subject_id", "d.due_at", "d.fault", "t.is_configured", "t.paused_until"]);
}

type FoundRow = Awaited<ReturnType<ReturnType<typeof selectFound>["execute"]>>[number];

export interface FoundDelivery extends Omit<FoundRow, "state"> {
  readonly state: DeliveryState;
}

/** The delivery of that number, with its target. */
export async function findAsked(tx: Transaction, id: number): Promise<FoundDelivery | undefined> {
  const row = await selectFound(tx).where("d.id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : { ...row, state: row.state as DeliveryState };
}

/** There is no such delivery. */
export interface UnknownDelivery {
  readonly kind: "unknown";
  /** It was there once, and was removed with its age. */
  readonly wasRemoved: boolean;
}

/** Numbers are never given twice, so one below the greatest was there once. */
export async function unknownDelivery(tx: Transaction, id: number): Promise<UnknownDelivery> {
  const row = await tx.selectFrom("deliveries").select("id").where("id", ">", id).limit(1).executeTakeFirst();
  return { kind: "unknown", wasRemoved: row !== undefined };
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

/** What is done with it: by whom and why, where that is told. */
export type DeliveryAction =
  | { readonly action: "again" }
  | { readonly action: "giveUp"; readonly by: string; readonly reason: string };

/** Keeps what the delivery is now, before that is done with it. */
export async function keepHistory(
  tx: Transaction,
  { id, now, ...done }: Asked & DeliveryAction,
): Promise<void> {
  const before = await tx
    .selectFrom("deliveries")
    .select(keptColumns)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("delivery_repeats")
    .values({
      ...{ ...before, delivery_id: id, asked_at: now, action: done.action },
      ...(done.action === "giveUp" ? { asked_by: done.by, reason: done.reason } : {}),
    })
    .execute();
}
