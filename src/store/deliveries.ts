/**
 * The delivery queue: rows are made here in the transaction of what they tell of, and put back by who asks for a dead one
 * again. What the queue does with them is in `delivery-heads.ts` and `delivery-outcomes.ts`.
 */
import { sql } from "kysely";
import { killPoint } from "../lib/kill-point.ts";
import { newDeliveryGuid } from "./delivery-guid.ts";
import { type DeliveryState, isInState, isOpen } from "./delivery-states.ts";
import type { Transaction } from "./group-commit.ts";
import { announceNews, changeTargetCounts } from "./outbound-targets.ts";
import { prepareQuery } from "./prepared-query.ts";

export type DeliveryKind = "completion" | "export" | "message";

export interface NewDelivery {
  readonly companyId: number;
  readonly targetId: number;
  readonly kind: DeliveryKind;
  /** The id of the completion, export or message. */
  readonly subjectId: number;
  /** Deliveries of the target with the same key go out one after the other. */
  readonly orderKey: string;
  readonly name: string;
  /** Milliseconds UTC: it is due at once. */
  readonly now: number;
}

/** The deliveries of a target that go one after the other. */
export interface DeliveryLine {
  readonly targetId: number;
  readonly orderKey: string;
}

const lineQuery = prepareQuery<DeliveryLine, { id: number }>((db, arg) =>
  db
    .selectFrom("deliveries")
    .select("id")
    .where("target_id", "=", arg("targetId"))
    .where("order_key", "=", arg("orderKey"))
    .where(isOpen("state"))
    .limit(sql.lit(1)),
);

/** Whether any delivery of the line is open. Asked first by all: lines are mostly empty, and then this is all it costs. */
export async function isLineOpen(tx: Transaction, line: DeliveryLine): Promise<boolean> {
  return (await lineQuery.run(tx, line)).rows.length > 0;
}

interface LastPlace {
  readonly last: number | null;
}

const lastPlaceQuery = prepareQuery<DeliveryLine, LastPlace>((db, arg) =>
  db
    .selectFrom("deliveries")
    .select((eb) => eb.fn.max("line_nbr").as("last"))
    .where("target_id", "=", arg("targetId"))
    .where("order_key", "=", arg("orderKey"))
    .where(isOpen("state")),
);

async function lastPlaceOf(tx: Transaction, line: DeliveryLine): Promise<number> {
  const [row] = (await lastPlaceQuery.run(tx, line)).rows;
  return row?.last ?? 0;
}

interface InsertArguments extends NewDelivery {
  readonly guid: string;
  readonly lineNbr: number;
  readonly state: "waiting" | "behind";
}

const insertQuery = prepareQuery<InsertArguments>((db, arg) =>
  db.insertInto("deliveries").values({
    guid: arg("guid"),
    company_id: arg("companyId"),
    target_id: arg("targetId"),
    kind: arg("kind"),
    subject_id: arg("subjectId"),
    order_key: arg("orderKey"),
    line_nbr: arg("lineNbr"),
    name: arg("name"),
    state: arg("state"),
    due_at: arg("now"),
    created_at: arg("now"),
  }),
);

async function insertUncounted(tx: Transaction, delivery: NewDelivery): Promise<string> {
  const guid = newDeliveryGuid(delivery.now);
  const isBehind = await isLineOpen(tx, delivery);
  const lineNbr = isBehind ? await lastPlaceOf(tx, delivery) : 0;
  await insertQuery.run(tx, { ...delivery, guid, lineNbr, state: isBehind ? "behind" : "waiting" });
  killPoint("delivery.inserted");
  return guid;
}

/** Puts a delivery at the end of its line, due at once. */
export async function addDelivery(tx: Transaction, delivery: NewDelivery): Promise<void> {
  await changeTargetCounts(tx, { id: delivery.targetId, open: 1, dead: 0 });
  await insertUncounted(tx, delivery);
}

/** Puts a delivery at the end of its line, due at once; gives its id. */
export async function insertDelivery(tx: Transaction, delivery: NewDelivery): Promise<number> {
  await changeTargetCounts(tx, { id: delivery.targetId, open: 1, dead: 0 });
  const guid = await insertUncounted(tx, delivery);
  const query = tx.selectFrom("deliveries").select("id").where("guid", "=", guid);
  return (await query.executeTakeFirstOrThrow()).id;
}

const completionTargets = prepareQuery<{ companyId: number }, { id: number }>((db, arg) =>
  db
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("takes_completions", "=", 1)
    .where("is_configured", "=", 1),
);

const countCompletion = prepareQuery<{ companyId: number }>((db, arg) =>
  db
    .updateTable("outbound_targets")
    .set((eb) => ({ open_count: eb("open_count", "+", 1), added_count: eb("added_count", "+", 1) }))
    .where("company_id", "=", arg("companyId"))
    .where("takes_completions", "=", 1)
    .where("is_configured", "=", 1),
);

/** A delivery of the completion to each target of its company that takes completions at once. */
export async function insertCompletionDeliveries(
  tx: Transaction,
  completion: Omit<NewDelivery, "targetId" | "kind">,
): Promise<void> {
  const { rows } = await completionTargets.run(tx, completion);
  if (rows.length === 0) return;
  await countCompletion.run(tx, completion);
  for (const { id } of rows) await insertUncounted(tx, { ...completion, kind: "completion", targetId: id });
}

interface NameRange {
  readonly companyId: number;
  readonly from: string;
  readonly to: string;
}

const namesAtOnce = 500;

const takenNames = prepareQuery<NameRange, { name: string }>((db, arg) =>
  db
    .selectFrom("completions")
    .select("name")
    .where("company_id", "=", arg("companyId"))
    .where("name", ">=", arg("from"))
    .where("name", "<=", arg("to"))
    .union(
      db
        .selectFrom("deliveries")
        .select("name")
        .where("company_id", "=", arg("companyId"))
        .where("name", ">=", arg("from"))
        .where("name", "<=", arg("to")),
    )
    .orderBy("name")
    .limit(namesAtOnce),
);

/**
 * The first name that no completion and no delivery of the company has, beginning with `name`. `next` gives the name that
 * follows one: the greater one, but for the last of all, which the smallest follows.
 */
export async function findFreeName(
  tx: Transaction,
  wanted: { readonly companyId: number; readonly name: string },
  next: (name: string) => string,
): Promise<string> {
  const { companyId } = wanted;
  let { name } = wanted;
  for (;;) {
    // All names of the stop from this one on: what comes before the time in the name is the same in all of them.
    const to = name.replace(/_\d{8}_\d{6}\.xml$/, "_99999999_999999.xml");
    const { rows } = await takenNames.run(tx, { companyId, from: name, to });
    const taken = new Set(rows.map((row) => row.name));
    const from = name;
    while (taken.has(name)) name = next(name);
    if (name === from || (name > from && taken.size < namesAtOnce)) return name;
  }
}

export interface RetriedDelivery {
  readonly id: number;
  readonly name: string;
  readonly state: DeliveryState;
}

export type RetryOutcome =
  | { readonly kind: "unknown" }
  /** There is nothing to be asked for: it was delivered, is behind another, or is due. */
  | { readonly kind: "notDead"; readonly delivery: RetriedDelivery }
  | {
      readonly kind: "queued";
      /** `behind` when others of its stop wait already: it comes after them. */
      readonly delivery: RetriedDelivery;
      readonly isTargetConfigured: boolean;
      /** A later completion of the same stop that the target has had meanwhile: this one is going to come after it. */
      readonly newerDelivered: {
        readonly id: number;
        readonly name: string;
        readonly deliveredAt: number;
      } | null;
    };

interface FoundDelivery extends RetriedDelivery {
  readonly company_id: number;
  readonly target_id: number;
  readonly kind: string;
  readonly order_key: string;
  readonly subject_id: number;
  readonly due_at: number;
  readonly is_configured: number;
  readonly paused_until: number;
}

async function findDelivery(tx: Transaction, id: number): Promise<FoundDelivery | undefined> {
  const row = await tx
    .selectFrom("deliveries as d")
    .innerJoin("outbound_targets as t", "t.id", "d.target_id")
    .select(["d.id", "d.name", "d.state", "d.company_id", "d.target_id", "d.kind"])
    .select(["d.order_key", "d.subject_id", "d.due_at", "t.is_configured", "t.paused_until"])
    .where("d.id", "=", id)
    .executeTakeFirst();
  return row === undefined ? undefined : { ...row, state: row.state as DeliveryState };
}

async function findNewerDelivered(tx: Transaction, dead: FoundDelivery) {
  if (dead.kind !== "completion") return null;
  const row = await tx
    .selectFrom("completions as c")
    .innerJoin("deliveries as d", (join) =>
      join.onRef("d.subject_id", "=", "c.id").on("d.kind", "=", "completion"),
    )
    .select(["d.id", "d.name", "d.delivered_at"])
    .where("c.company_id", "=", dead.company_id)
    .where("c.stop_nbr", "=", dead.order_key)
    .where("c.id", ">", dead.subject_id)
    .where("d.target_id", "=", dead.target_id)
    .where("d.state", "=", "delivered")
    .orderBy("d.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { id: row.id, name: row.name, deliveredAt: row.delivered_at ?? 0 };
}

/** One that waits for its next attempt, or for its target, has it now; it spends it like any other. */
async function hastenDelivery(tx: Transaction, waiting: FoundDelivery, now: number): Promise<RetryOutcome> {
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
 * Puts a dead delivery at the end of its line, due now, with all attempts before it. Others of the line keep their place.
 * One that waits until it is due is due now; one that waits for its target is queued too, for the caller to end the pause.
 */
export async function retryDelivery(
  tx: Transaction,
  { id, now }: { readonly id: number; readonly now: number },
): Promise<RetryOutcome> {
  const dead = await findDelivery(tx, id);
  if (dead === undefined) return { kind: "unknown" };
  const isPutOff = dead.due_at > now || dead.paused_until > now || dead.is_configured === 0;
  if (dead.state === "waiting" && isPutOff) return await hastenDelivery(tx, dead, now);
  if (dead.state !== "dead") return { kind: "notDead", delivery: dead };
  const line = { targetId: dead.target_id, orderKey: dead.order_key };
  const isBehind = await isLineOpen(tx, line);
  const state = isBehind ? "behind" : "waiting";
  const lineNbr = isBehind ? (await lastPlaceOf(tx, line)) + 1 : 0;
  await tx
    .updateTable("deliveries")
    .set({ state, line_nbr: lineNbr, due_at: now, attempts: 0, first_attempt_at: null })
    .where("id", "=", id)
    .where(isInState("state", "dead"))
    .execute();
  await changeTargetCounts(tx, { id: dead.target_id, open: 1, dead: -1 });
  killPoint("delivery.retried");
  const isTargetConfigured = dead.is_configured === 1;
  const newerDelivered = await findNewerDelivered(tx, dead);
  return { kind: "queued", delivery: { ...dead, state }, isTargetConfigured, newerDelivered };
}
