/**
 * The rows of attempts and their outcomes: each outcome moves a delivery by one guarded statement. The meaning of
 * outcomes is in `outbound/record-attempts.ts`.
 */
import type { Kysely } from "kysely";
import { givenUpFault, notConfiguredFault } from "../../domain/outbound/delivery-state.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns } from "../database/named-rows.ts";
import { type Argument, prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";
import { type DeliveryLine, isLineOpen } from "./deliveries.ts";
import { isInState, isOpen } from "./delivery-states.ts";

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

/** Whether it was open. */
export const markDelivered = prepareQuery<Delivered>((db, arg) =>
  updateDelivered(db, arg).where(isOpen("state")),
).changes;

/**
 * The same of one that somebody gave up during the attempt, or that has left the configuration: the receiver has it, and
 * it does not count as open any more.
 */
export const markDeliveredAfterAll = prepareQuery<Delivered>((db, arg) =>
  updateDelivered(db, arg)
    .where(isInState("state", "dropped"))
    .where("fault", "in", [givenUpFault, notConfiguredFault]),
).run;

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
      ...namedArguments(arg, "fault", "fault_text"),
      state: eb.fn.coalesce(eb.val(arg("state")), "state"),
      attempts: eb("attempts", "+", 1),
      first_attempt_at: eb.fn.coalesce("first_attempt_at", eb.val(arg("countsFrom"))),
      last_attempt_at: arg("at"),
      due_at: eb.fn.coalesce(eb.val(arg("dueAt")), "due_at"),
    }))
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
);

/** Whether it was open. */
export const markDropped = prepareQuery<Attempted & AttemptFault>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ state: "dropped", ...namedArguments(arg, "fault", "fault_text") })
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
).changes;

/** Makes an open one due at another time. */
export const postpone = prepareQuery<{ id: number; dueAt: number }>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ due_at: arg("dueAt") })
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
).run;

const attemptQuery = prepareQuery<Attempted & AttemptFault>((db, arg) =>
  db.insertInto("delivery_attempts").values({
    delivery_id: arg("id"),
    ...namedArguments(arg, "at", "duration_ms", "fault", "fault_text"),
  }),
);

const lineQuery = prepareQuery<{ id: number }, DeliveryLine>((db, arg) =>
  db.selectFrom("deliveries").select(namedColumns("target_id", "order_key")).where("id", "=", arg("id")),
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

/** Gives an open one another name. */
export const renameDelivery = prepareQuery<{ id: number; name: string }>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ name: arg("name") })
    .where("id", "=", arg("id"))
    .where(isOpen("state")),
).run;

/** Whether it was open: then the attempt is kept with its fault. */
export async function markFailed(tx: Transaction, failed: Failed): Promise<boolean> {
  const wasOpen = await failedQuery.changes(tx, failed);
  if (wasOpen) await attemptQuery.run(tx, failed);
  return wasOpen;
}

/** The line of a delivery that is there. */
export async function findLine(tx: Transaction, id: number): Promise<DeliveryLine> {
  const line = await lineQuery.find(tx, { id });
  if (line === undefined) throw new Error(`delivery ${id} has disappeared`);
  return line;
}

/** Makes the first of the line waiting, when it is behind one that is open no more. */
export async function promoteNext(tx: Transaction, line: DeliveryLine): Promise<void> {
  if (await isLineOpen(tx, line)) await promoteQuery.run(tx, line);
}
