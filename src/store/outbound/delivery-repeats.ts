/** The rows of deliveries that somebody retries or repeats; the rules are in `operations/deliveries`. */
import type { Transaction } from "../database/group-commit.ts";
import type { FoundDelivery } from "./asked-delivery.ts";
import type { DeliveryLine } from "./deliveries.ts";
import { isInState, isOpen } from "./delivery-states.ts";

/** A later completion of the same stop that was delivered to the target. */
export interface NewerDelivery {
  readonly id: number;
  readonly name: string;
  readonly deliveredAt: number;
}

/** The last delivery to its target of a later completion of its stop, of one that is of a completion; else null. */
export async function findNewerDelivered(tx: Transaction, one: FoundDelivery): Promise<NewerDelivery | null> {
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

interface Hastened {
  /** Milliseconds UTC. */
  readonly now: number;
}

/** Makes one that waits due now, when it is due later. */
export async function makeDue(
  tx: Transaction,
  { id, now }: Hastened & { readonly id: number },
): Promise<void> {
  await tx
    .updateTable("deliveries")
    .set({ due_at: now })
    .where("id", "=", id)
    .where("due_at", ">", now)
    .where(isInState("state", "waiting"))
    .execute();
}

/** The same for all of a target that wait for their next attempt. Returns how many they are. */
export async function makeAllDue(
  tx: Transaction,
  { targetId, now }: Hastened & { readonly targetId: number },
): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable("deliveries")
    .set({ due_at: now })
    .where("target_id", "=", targetId)
    .where("due_at", ">", now)
    .where("attempts", ">", 0)
    .where(isInState("state", "waiting"))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** A delivery at its place in its line. */
export interface PlacedDelivery {
  readonly id: number;
  readonly lineNbr: number;
}

/** The first open delivery of the line. */
export async function findHeadOfLine(
  tx: Transaction,
  line: DeliveryLine,
): Promise<PlacedDelivery | undefined> {
  return await tx
    .selectFrom("deliveries")
    .select(["id", "line_nbr as lineNbr"])
    .where("target_id", "=", line.targetId)
    .where("order_key", "=", line.orderKey)
    .where(isOpen("state"))
    .orderBy("line_nbr")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/** Puts a delivery behind another of its line. */
export async function putBehind(tx: Transaction, id: number): Promise<void> {
  await tx.updateTable("deliveries").set({ state: "behind" }).where("id", "=", id).execute();
}

const asNew = {
  ...{ line_nbr: 0, attempts: 0, first_attempt_at: null, delivered_at: null },
  ...{ collected_at: null, collected_by: null, removed_at: null, removed_by: null },
} as const;

/** Opens it as if it were new, due now, at the place that it had from the beginning. The fault of a dead one stays. */
export async function reopenDelivery(
  tx: Transaction,
  { id, state, now }: Hastened & { readonly id: number; readonly state: "waiting" | "behind" },
): Promise<void> {
  await tx
    .updateTable("deliveries")
    .set({ ...asNew, state, due_at: now })
    .where("id", "=", id)
    .execute();
}
