/**
 * Deliveries that somebody gives up: what waits, stands behind another or is dead is dropped, and the next of its line goes on.
 * Who did so, when and why is kept (`delivery_repeats`). An attempt that is under way goes on; when it succeeds, the
 * delivery is delivered after all.
 */
import {
  type Asked,
  findAsked,
  type FoundDelivery,
  keepHistory,
  type RepeatedDelivery,
  type UnknownDelivery,
  unknownDelivery,
} from "./asked-delivery.ts";
import type { Reader } from "../database/database.ts";
import { targetsOf } from "./delivery-queries.ts";
import { promoteNext } from "./delivery-outcomes.ts";
import { givenUpFault, isInState, isOpen } from "./delivery-states.ts";
import type { Transaction } from "../database/group-commit.ts";
import { announceNews, changeTargetCounts } from "./outbound-targets.ts";

export interface GiveUp extends Asked {
  /** Who gives it up, as the machine knows them. */
  readonly by: string;
  readonly reason: string;
}

export type GiveUpOutcome =
  | UnknownDelivery
  /** It was delivered, or dropped before. */
  | { readonly kind: "refused"; readonly delivery: RepeatedDelivery }
  | {
      readonly kind: "givenUp";
      /** As it was. */
      readonly delivery: RepeatedDelivery;
      /** The one of its stop or export that goes on, because this one held it up. */
      readonly next: Pick<RepeatedDelivery, "id" | "name"> | undefined;
    };

async function waitingOfLine(tx: Transaction, one: FoundDelivery) {
  return await tx
    .selectFrom("deliveries")
    .select(["id", "name"])
    .where("target_id", "=", one.target_id)
    .where("order_key", "=", one.order_key)
    .where(isOpen("state"))
    .where(isInState("state", "waiting"))
    .executeTakeFirst();
}

/** Gives one up, and lets the next of its line go. */
export async function giveUpDelivery(
  tx: Transaction,
  { id, now, by, reason }: GiveUp,
): Promise<GiveUpOutcome> {
  const found = await findAsked(tx, id);
  if (found === undefined) return await unknownDelivery(tx, id);
  if (found.state === "delivered" || found.state === "dropped") return { kind: "refused", delivery: found };
  await keepHistory(tx, { id, now, action: "giveUp", by, reason });
  await tx
    .updateTable("deliveries")
    .set({ state: "dropped", fault: givenUpFault, fault_text: `given up by ${by}: ${reason}` })
    .where("id", "=", id)
    .execute();
  const isDead = found.state === "dead";
  await changeTargetCounts(tx, { id: found.target_id, open: isDead ? 0 : -1, dead: isDead ? -1 : 0 });
  await promoteNext(tx, { targetId: found.target_id, orderKey: found.order_key });
  await announceNews(tx, found.target_id);
  const next = found.state === "waiting" ? await waitingOfLine(tx, found) : undefined;
  return { kind: "givenUp", delivery: found, next };
}

export interface GiveUpSelection {
  readonly companyId?: number;
  readonly target: string;
}

/** The ids of what may be given up of a target, oldest first, after the one of `afterId`. */
export async function listToGiveUp(
  read: Reader,
  {
    companyId,
    target,
    afterId,
    limit,
  }: GiveUpSelection & { readonly afterId: number; readonly limit: number },
): Promise<readonly number[]> {
  const inState = (isOf: ReturnType<typeof isOpen>) =>
    read
      .selectFrom("deliveries as d")
      .select("d.id")
      .where("d.target_id", "in", targetsOf(read, { companyId, target }))
      .where(isOf)
      .where("d.id", ">", afterId)
      .orderBy("d.id")
      .limit(limit)
      .execute();
  // One after the other: each of the two has an index of its own.
  const rows = [...(await inState(isOpen("d.state"))), ...(await inState(isInState("d.state", "dead")))];
  const ids = rows.map(({ id }) => id).toSorted((a, b) => a - b);
  return ids.slice(0, limit);
}

/** How many of a target may be given up. */
export async function countToGiveUp(read: Reader, { companyId, target }: GiveUpSelection): Promise<number> {
  const row = await read
    .selectFrom("outbound_targets as t")
    .select((eb) => eb.fn.sum<number>(eb("t.open_count", "+", eb.ref("t.dead_count"))).as("count"))
    .where("t.id", "in", targetsOf(read, { companyId, target }))
    .executeTakeFirst();
  return row?.count ?? 0;
}
