/**
 * The rows of deliveries that somebody retries, repeats or gives up, and what they were until then (`delivery_repeats`).
 * The rules are in `operations/deliveries`.
 */
import { type DeliveryState, givenUpFault } from "../../domain/outbound/delivery-state.ts";
import { given } from "../../lib/given.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { DeliveryLine } from "./deliveries.ts";
import { targetsOf } from "./delivery-queries.ts";
import { isInState, isOpen } from "./delivery-states.ts";

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
    .select(namedColumns("d.id", "d.name", "d.state", "d.company_id", "d.target_id", "d.kind", "d.order_key"))
    .select(namedColumns("d.subject_id", "d.due_at", "d.fault", "t.is_configured", "t.paused_until"))
    .select(namedColumns("d.attempts", "d.last_attempt_at", "d.delivered_at"));
}

export type FoundDelivery = Awaited<ReturnType<ReturnType<typeof selectFound>["execute"]>>[number];

/** The delivery of that number, with its target. */
export async function findAsked(read: Reader | Transaction, id: number): Promise<FoundDelivery | undefined> {
  return await selectFound(read).where("d.id", "=", id).executeTakeFirst();
}

/** There is no such delivery. */
export interface UnknownDelivery {
  readonly kind: "unknown";
  /** It was there once, and was removed with its age. */
  readonly wasRemoved: boolean;
}

/** Ids are never used twice, so one below the greatest was there once. */
export async function unknownDelivery(read: Reader | Transaction, id: number): Promise<UnknownDelivery> {
  const row = await read
    .selectFrom("deliveries")
    .select("id")
    .where("id", ">", id)
    .limit(1)
    .executeTakeFirst();
  return { kind: "unknown", wasRemoved: row !== undefined };
}

/** Who asks for something, and why. */
export interface Asker {
  readonly by: string;
  readonly reason: string;
}

/** What somebody does with it; who and why is known of each give-up, and of what was asked for in the console. */
export type DeliveryAction =
  | ({ readonly action: "again" } & Partial<Asker>)
  | ({ readonly action: "giveUp" } & Asker);

/** Keeps what the delivery is now, before the action changes it. */
export async function keepHistory(
  tx: Transaction,
  { id, now, ...done }: Asked & DeliveryAction,
): Promise<void> {
  const before = await tx
    .selectFrom("deliveries")
    .select(["state", "attempts", "last_attempt_at", "delivered_at", "sha256", "size", "fault", "fault_text"])
    .select(["collected_at", "collected_by", "collected_from", "removed_at", "removed_by", "removed_from"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  await tx
    .insertInto("delivery_repeats")
    .values({
      ...{ ...before, delivery_id: id, asked_at: now, action: done.action },
      ...given({ asked_by: done.by, reason: done.reason }),
    })
    .execute();
}

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
    .where("c.company_id", "=", one.companyId)
    .where("c.stop_nbr", "=", one.orderKey)
    .where("c.id", ">", one.subjectId)
    .where("d.target_id", "=", one.targetId)
    .where("d.state", "=", "delivered")
    .orderBy("d.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { id: row.id, name: row.name, deliveredAt: row.delivered_at ?? 0 };
}

/** Makes one that waits due now, when it is due later. */
export const makeDue = prepareQuery<Asked>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ due_at: arg("now") })
    .where("id", "=", arg("id"))
    .where("due_at", ">", arg("now"))
    .where(isInState("state", "waiting")),
).run;

/** The same for all of a target that wait for their next attempt. */
export const makeAllDue = prepareQuery<{ targetId: number; now: number }>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ due_at: arg("now") })
    .where("target_id", "=", arg("targetId"))
    .where("due_at", ">", arg("now"))
    .where("attempts", ">", 0)
    .where(isInState("state", "waiting")),
).run;

/** A delivery at its place in its line. */
interface PlacedDelivery {
  readonly id: number;
  readonly lineNbr: number;
}

/** The open deliveries of a line. */
function openOfLine(tx: Transaction, { targetId, orderKey }: DeliveryLine) {
  return tx
    .selectFrom("deliveries")
    .where("target_id", "=", targetId)
    .where("order_key", "=", orderKey)
    .where(isOpen("state"));
}

/** The first open delivery of the line. */
export async function findHeadOfLine(
  tx: Transaction,
  line: DeliveryLine,
): Promise<PlacedDelivery | undefined> {
  return await openOfLine(tx, line)
    .select(["id", "line_nbr as lineNbr"])
    .orderBy("line_nbr")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
}

/** Puts a delivery behind another of its line. */
export const putBehind = prepareQuery<{ id: number }>((db, arg) =>
  db.updateTable("deliveries").set({ state: "behind" }).where("id", "=", arg("id")),
).run;

const asNew = {
  ...{ line_nbr: 0, attempts: 0, first_attempt_at: null, delivered_at: null },
  ...{ collected_at: null, collected_by: null, collected_from: null },
  ...{ removed_at: null, removed_by: null, removed_from: null },
};

/** Opens it as if it were new, due now, at its first place in the line. The fault of a dead one stays. */
export const reopenDelivery = prepareQuery<Asked & { readonly state: "waiting" | "behind" }>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ ...asNew, state: arg("state"), due_at: arg("now") })
    .where("id", "=", arg("id")),
).run;

/** The one of the line that waits, with its name; undefined when none does. */
export async function findWaitingOfLine(
  tx: Transaction,
  line: DeliveryLine,
): Promise<{ readonly id: number; readonly name: string } | undefined> {
  return await openOfLine(tx, line)
    .select(["id", "name"])
    .where(isInState("state", "waiting"))
    .executeTakeFirst();
}

/** Drops a delivery as one that was given up. */
export const dropGivenUp = prepareQuery<{ id: number; faultText: string }>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ state: "dropped", fault: givenUpFault, fault_text: arg("faultText") })
    .where("id", "=", arg("id")),
).run;

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
