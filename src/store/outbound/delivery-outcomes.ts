/**
 * What became of attempts. Many outcomes are written in one transaction; each moves a row by one guarded statement. What was
 * tried may be behind another meanwhile, an earlier one that was asked for again: its outcome counts all the same.
 */
import { nextCompletionName } from "../../domain/outbound/completion-name.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { type DeliveryLine, findFreeName, isLineOpen } from "./deliveries.ts";
import type { Kysely } from "kysely";
import { givenUpFault, isInState, isOpen } from "./delivery-states.ts";
import type { Transaction } from "../database/group-commit.ts";
import { changeTargetCounts, saveTargetPause, type TargetPause } from "./outbound-targets.ts";
import { type Argument, prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

interface Attempted {
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

export type AttemptRecord =
  | (Attempted & { readonly kind: "delivered"; readonly sha256: string | null; readonly size: number | null })
  | (Attempted &
      AttemptFault & {
        readonly kind: "later";
        readonly dueAt: number;
        /** The fault is not its own: the time after which it is given up does not begin with it. */
        readonly isOfTarget: boolean;
      })
  | (Attempted & AttemptFault & { readonly kind: "dead" })
  /** A message that is of no use any more, or not wanted: it was not tried. */
  | (Attempted & AttemptFault & { readonly kind: "dropped" })
  /** A message that has to wait: it was not tried, and spends no attempt. */
  | (Attempted & { readonly kind: "postponed"; readonly dueAt: number })
  /** Another file has the name; it goes on under the next one, at once and without having spent an attempt. */
  | (Attempted & { readonly kind: "nameTaken"; readonly companyId: number; readonly name: string });

interface DeliveredArguments extends Attempted {
  readonly now: number;
  readonly sha256: string | null;
  readonly size: number | null;
}

function updateDelivered(db: Kysely<Tables>, arg: Argument<DeliveredArguments>) {
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

const deliveredQuery = prepareQuery<DeliveredArguments>((db, arg) =>
  updateDelivered(db, arg).where(isOpen("state")),
);

/** It was given up while it was under way: the other side has it all the same, and nobody counts it as open any more. */
const deliveredAfterAllQuery = prepareQuery<DeliveredArguments>((db, arg) =>
  updateDelivered(db, arg).where(isInState("state", "dropped")).where("fault", "=", givenUpFault),
);

interface FailedArguments extends Attempted, AttemptFault {
  /** Null leaves it as it was. */
  readonly state: "dead" | null;
  /** When the attempt began; null leaves the time of the first attempt as it was. */
  readonly countsFrom: number | null;
  /** Null leaves it as it was. */
  readonly dueAt: number | null;
}

const failedQuery = prepareQuery<FailedArguments>((db, arg) =>
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

/** How the numbers of open and dead deliveries of the targets have changed. */
class CountChanges {
  readonly #byTarget = new Map<number, { open: number; dead: number }>();

  closed(targetId: number, dead: 0 | 1): void {
    const change = this.#byTarget.get(targetId) ?? { open: 0, dead: 0 };
    change.open -= 1;
    change.dead += dead;
    this.#byTarget.set(targetId, change);
  }

  async save(tx: Transaction): Promise<void> {
    for (const [id, change] of this.#byTarget) await changeTargetCounts(tx, { id, ...change });
  }
}

/** Whether it was open: without that somebody else has decided about it. */
async function recordFailed(tx: Transaction, record: FailedArguments): Promise<boolean> {
  const { affected } = await failedQuery.run(tx, record);
  if (affected === 1) await attemptQuery.run(tx, record);
  return affected === 1;
}

type DoneRecord = Extract<AttemptRecord, { kind: "delivered" | "dead" | "dropped" }>;

/** Whether it was open. */
async function close(tx: Transaction, record: DoneRecord, now: number): Promise<boolean> {
  if (record.kind === "dead")
    return await recordFailed(tx, { ...record, state: "dead", dueAt: null, countsFrom: record.at });
  if (record.kind === "dropped") return (await droppedQuery.run(tx, record)).affected === 1;
  const wasOpen = (await deliveredQuery.run(tx, { ...record, now })).affected === 1;
  if (!wasOpen) await deliveredAfterAllQuery.run(tx, { ...record, now });
  return wasOpen;
}

/** Lets the first of the line go, when it is behind one that is open no more. */
export async function promoteNext(tx: Transaction, line: DeliveryLine): Promise<void> {
  if (await isLineOpen(tx, line)) await promoteQuery.run(tx, line);
  killPoint("delivery.promoted");
}

async function recordDone(tx: Transaction, record: DoneRecord, { counts, now }: Context): Promise<void> {
  if (!(await close(tx, record, now))) return;
  const [line] = (await lineQuery.run(tx, record)).rows;
  if (line === undefined) throw new Error(`delivery ${record.id} was there, and is not`);
  counts.closed(line.targetId, record.kind === "dead" ? 1 : 0);
  await promoteNext(tx, line);
}

async function recordOne(tx: Transaction, record: AttemptRecord, context: Context): Promise<void> {
  if (record.kind === "nameTaken") {
    const name = await findFreeName(tx, record, nextCompletionName);
    await renameQuery.run(tx, { id: record.id, name });
  } else if (record.kind === "later") {
    const countsFrom = record.isOfTarget ? null : record.at;
    await recordFailed(tx, { ...record, state: null, countsFrom });
  } else if (record.kind === "postponed") {
    await postponedQuery.run(tx, record);
  } else {
    await recordDone(tx, record, context);
  }
  killPoint("delivery.recorded");
}

interface Context {
  readonly counts: CountChanges;
  readonly now: number;
}

/**
 * Writes outcomes in the order given, and how their targets stand. A delivery that is done lets the one behind it go. One
 * that is not open any more is left as it is.
 */
export async function recordAttempts(
  tx: Transaction,
  outcomes: {
    readonly records: readonly AttemptRecord[];
    readonly pauses: readonly TargetPause[];
    readonly now: number;
  },
): Promise<void> {
  const context = { counts: new CountChanges(), now: outcomes.now };
  for (const record of outcomes.records) await recordOne(tx, record, context);
  await context.counts.save(tx);
  for (const pause of outcomes.pauses) await saveTargetPause(tx, pause);
}
