/**
 * The rows of attempts and their outcomes: each outcome moves a delivery by one guarded statement. The meaning of
 * outcomes is in `outbound/record-attempts.ts`.
 */
import { type DeliveryLine, isLineOpen } from "./deliveries.ts";
import type { Kysely } from "kysely";
import { givenUpFault } from "../../domain/outbound/delivery-state.ts";
import { isInState, isOpen } from "./delivery-states.ts";
import type { Transaction } from "../database/group-commit.ts";
import { type Argument, prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

export interface Attempted {
  /** Of the delivery. */
  readonly id: number;
  /** When the attempt began, milliseconds UTC. */
  readonly at: number;
  readonly durationMs: number;
}

export interface AttemptFault {
  readonly fault: string;
  /** For an administrator. */
  readonly faultText: string;
}

export interface Delivered extends Attempted {
  readonly now: number;
  readonly sha256: string | null;
  readonly size: number | null;
}

function updateDelivered(db: Kysely<Tables>, arg: Argument<Delivered>) {
  return db
    .updateTable("deliveries")
    .set((eb) => ({
      state: "delivered",
      attempts: eb("attempts", "+", 1),
      first_attempt_at: eb.fn.coalesce("first_attempt_at", eb.val(arg("at"))),
      last_attempt_at: arg("at"),
      delivered_at: arg("now"),
      sha256: arg("sha256"),
      size: arg("size"),
      fault: null,
      fault_text: null,
    }))
    .where("id", "=", arg("id"));
}

const deliveredQuery = prepareQuery<Delivered>((db, arg) => updateDelivered(db, arg).where(isOpen("state")));

/** It was given up during the attempt: the receiver has it all the same, and nobody counts it as open any more. */
const deliveredAfterAllQuery = prepareQuery<Delivered>((db, arg) =>
  updateDelivered(db, arg).where(isInState("state", "dropped")).where("fault", "=", givenUpFault),
);

export interface Failed extends Attempted, AttemptFault {
  /** Null leaves it as it was. */
  readonly state: "dead" | null;
  /** When the attempt began; null leaves the time of the first attempt as it was. */
  readonly countsFrom: number | null;
  /** Null leaves it as it was. */
  readonly dueAt: number | null;
}

const failedQuery = prepareQuery<Failed>((db, arg) =>
  db
    .updateTable("deliveries")
    .set((eb) => ({
      state: eb.fn.coalesce(eb.val(arg("state")), "state"),
      attempts: eb("attempts", "+", 1),
      first_attempt_at: eb.fn.coalesce("first_attempt_at", eb.val(arg("countsFrom"))),
      last_attempt_at: arg("at"),
      due_at: eb.fn.coalesce(eb.val(arg("dueAt")), "due_at"),
      fault: arg("fault"),
      fault_text: arg("faultText"),
    }))
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
);

const droppedQuery = prepareQuery<Attempted & AttemptFault>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ state: "dropped", fault: arg("fault"), fault_text: arg("faultText") })
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
);

const postponedQuery = prepareQuery<{ id: number; dueAt: number }>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ due_at: arg("dueAt") })
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
);

const attemptQuery = prepareQuery<Attempted & AttemptFault>((db, arg) =>
  db.insertInto("delivery_attempts").values({
    delivery_id: arg("id"),
    at: arg("at"),
    duration_ms: arg("durationMs"),
    fault: arg("fault"),
    fault_text: arg("faultText"),
  }),
);

const lineQuery = prepareQuery<{ id: number }, DeliveryLine>((db, arg) =>
  db
    .selectFrom("deliveries")
    .select(["target_id as targetId", "order_key as orderKey"])
    .where("id", "=", arg("id")),
);

const promoteQuery = prepareQuery<DeliveryLine>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ state: "waiting" })
    .where("id", "=", (eb) =>
      eb
        .selectFrom("deliveries")
        .select("id")
        .where("target_id", "=", arg("targetId"))
        .where("order_key", "=", arg("orderKey"))
        .where(isOpen("state"))
        .orderBy("line_nbr")
        .orderBy("id")
        .limit(1),
    )
    .where(isInState("state", "behind")),
);

const renameQuery = prepareQuery<{ id: number; name: string }>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ name: arg("name") })
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
);

/** Whether it was open. */
export async function markDelivered(tx: Transaction, delivered: Delivered): Promise<boolean> {
  return (await deliveredQuery.run(tx, delivered)).affected === 1;
}

/** The same of one that was given up. */
export async function markDeliveredAfterAll(tx: Transaction, delivered: Delivered): Promise<void> {
  await deliveredAfterAllQuery.run(tx, delivered);
}

/** Whether it was open: then the attempt is kept with its fault. */
export async function markFailed(tx: Transaction, failed: Failed): Promise<boolean> {
  const { affected } = await failedQuery.run(tx, failed);
  if (affected === 1) await attemptQuery.run(tx, failed);
  return affected === 1;
}

/** Whether it was open. */
export async function markDropped(tx: Transaction, dropped: Attempted & AttemptFault): Promise<boolean> {
  return (await droppedQuery.run(tx, dropped)).affected === 1;
}

/** Makes one that is open due at another time. */
export async function postpone(
  tx: Transaction,
  postponed: { readonly id: number; readonly dueAt: number },
): Promise<void> {
  await postponedQuery.run(tx, postponed);
}

/** Gives one that is open another name. */
export async function renameDelivery(
  tx: Transaction,
  renamed: { readonly id: number; readonly name: string },
): Promise<void> {
  await renameQuery.run(tx, renamed);
}

/** The line of a delivery that is there. */
export async function findLine(tx: Transaction, id: number): Promise<DeliveryLine> {
  const [line] = (await lineQuery.run(tx, { id })).rows;
  if (line === undefined) throw new Error(`delivery ${id} has disappeared`);
  return line;
}

/** Makes the first of the line waiting, when it is behind one that is open no more. */
export async function promoteNext(tx: Transaction, line: DeliveryLine): Promise<void> {
  if (await isLineOpen(tx, line)) await promoteQuery.run(tx, line);
}
