/** The rows of deliveries that somebody gives up; the rules are in `operations/deliveries`. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import type { DeliveryLine } from "./deliveries.ts";
import { targetsOf } from "./delivery-queries.ts";
import { givenUpFault } from "../../domain/outbound/delivery-state.ts";
import { isInState, isOpen } from "./delivery-states.ts";

/** The one of the line that waits, with its name; undefined when none does. */
export async function findWaitingOfLine(
  tx: Transaction,
  line: DeliveryLine,
): Promise<{ readonly id: number; readonly name: string } | undefined> {
  return await tx
    .selectFrom("deliveries")
    .select(["id", "name"])
    .where("target_id", "=", line.targetId)
    .where("order_key", "=", line.orderKey)
    .where(isOpen("state"))
    .where(isInState("state", "waiting"))
    .executeTakeFirst();
}

/** Drops a delivery as one that was given up. */
export async function dropGivenUp(
  tx: Transaction,
  { id, faultText }: { readonly id: number; readonly faultText: string },
): Promise<void> {
  await tx
    .updateTable("deliveries")
    .set({ state: "dropped", fault: givenUpFault, fault_text: faultText })
    .where("id", "=", id)
    .execute();
}

export interface GiveUpSelection {
  readonly companyId?: number;
  readonly target: string;
}

/** The ids of deliveries of a target that can be given up, oldest first, after the one of `afterId`. */
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
