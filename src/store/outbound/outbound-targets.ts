/**
 * The targets of deliveries, as the transactions of state changes and the queue see them: a copy of the configuration,
 * and the state of each target.
 */
import type { ExpressionBuilder } from "kysely";
import type { MessagePlan } from "../../domain/messages/message-settings.ts";
import { announce } from "../database/announcements.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";
import { rememberInTransaction } from "../database/groups/transaction-answers.ts";
import { rememberAnswers } from "../database/version-cache.ts";
import { isInState, isOpen } from "./delivery-states.ts";

/** The configuration of one company. */
export interface OutboundCopy {
  readonly companyId: number;
  /** All of its targets. */
  readonly targets: readonly { readonly name: string; readonly takesCompletions: boolean }[];
  /** Codes of recorded events that cause a completion file besides the completion of a stop. */
  readonly events: readonly number[];
  readonly embedsDocuments: boolean;
  /** Customer messages; without it there are none. */
  readonly messages?: MessagePlan | undefined;
}

const planQuery = prepareQuery<{ companyId: number }, { plan: string }>((db, arg) =>
  db.selectFrom("message_plans").select("plan").where("company_id", "=", arg("companyId")),
);

const plans = rememberInTransaction(async (tx, companyId) => {
  const found = await planQuery.find(tx, { companyId });
  return found === undefined ? undefined : (JSON.parse(found.plan) as MessagePlan);
});

/** The plan of a company: read once in each transaction. Undefined when nothing is configured. */
export function messagePlan(tx: Transaction, companyId: number): Promise<MessagePlan | undefined> {
  return plans.get(tx, companyId);
}

/** Updates the stored copy of the configuration. */
async function saveMessagePlan(
  tx: Transaction,
  companyId: number,
  plan: MessagePlan | undefined,
): Promise<void> {
  plans.forget(tx);
  await tx.deleteFrom("message_plans").where("company_id", "=", companyId).execute();
  if (plan === undefined) return;
  const row = { company_id: companyId, plan: JSON.stringify(plan) };
  await tx.insertInto("message_plans").values(row).execute();
}

async function saveTargets(tx: Transaction, { companyId, targets }: OutboundCopy): Promise<void> {
  await tx
    .updateTable("outbound_targets")
    .set({ is_configured: 0 })
    .where("company_id", "=", companyId)
    .where("is_configured", "=", 1)
    .execute();
  for (const { name, takesCompletions } of targets) {
    const configured = { takes_completions: takesCompletions ? 1 : 0, is_configured: 1, paused_until: 0 };
    await tx
      .insertInto("outbound_targets")
      .values({ company_id: companyId, name, ...configured })
      .onConflict((conflict) => conflict.columns(["company_id", "name"]).doUpdateSet(configured))
      .execute();
  }
  await endWaits(tx, companyId);
}

/** Deliveries that a fault of the target has delayed, not one of their own, are due with the end of the pause. */
async function endWaits(tx: Transaction, companyId: number): Promise<void> {
  await tx
    .updateTable("deliveries")
    .set((eb) => ({ due_at: eb.ref("created_at") }))
    .where("target_id", "in", (eb) =>
      eb
        .selectFrom("outbound_targets")
        .select("id")
        .where("company_id", "=", companyId)
        .where("is_configured", "=", 1),
    )
    .where(isInState("state", "waiting"))
    .where("attempts", ">", 0)
    .where("first_attempt_at", "is", null)
    .execute();
}

async function saveEvents(
  tx: Transaction,
  { companyId, causes, codes }: { companyId: number; causes: EventCause; codes: readonly number[] },
): Promise<void> {
  for (const code of new Set(codes)) {
    const row = { company_id: companyId, causes, event_code: code };
    await tx.insertInto("outbound_events").values(row).execute();
  }
}

/**
 * Updates the stored copy of the configuration. A target that is no longer in it keeps its rows, which wait until it is
 * there again; one whose configuration is newly applied is tried at once.
 */
export async function saveOutboundCopy(tx: Transaction, copy: OutboundCopy): Promise<void> {
  const { companyId, events, embedsDocuments, messages } = copy;
  wantedEvents.forget(tx);
  completionTargets.forget(tx);
  await saveTargets(tx, copy);
  await tx.deleteFrom("outbound_events").where("company_id", "=", companyId).execute();
  await saveEvents(tx, { companyId, causes: "completion", codes: events });
  await saveEvents(tx, {
    companyId,
    causes: "message",
    codes: Object.keys(messages?.events ?? {}).map(Number),
  });
  await saveMessagePlan(tx, companyId, messages);
  const settings = { embeds_documents: embedsDocuments ? 1 : 0 };
  await tx
    .insertInto("outbound_settings")
    .values({ company_id: companyId, ...settings })
    .onConflict((conflict) => conflict.column("company_id").doUpdateSet(settings))
    .execute();
}

type EventCause = "completion" | "message";

type WantedEventRow = Pick<RowOf<"outbound_events">, "causes" | "eventCode">;

const wantedEventsQuery = prepareQuery<{ companyId: number }, WantedEventRow>((db, arg) =>
  db
    .selectFrom("outbound_events")
    .select(namedColumns("causes", "event_code"))
    .where("company_id", "=", arg("companyId")),
);

/** Codes of events for which the configuration asks for something, by their consequence. */
export type WantedEvents = Readonly<Record<EventCause, ReadonlySet<number>>>;

async function askForWantedEvents(tx: Transaction, companyId: number): Promise<WantedEvents> {
  const rows = await wantedEventsQuery.rows(tx, { companyId });
  const codesOf = (cause: EventCause) =>
    new Set(rows.filter(({ causes }) => causes === cause).map(({ eventCode }) => eventCode));
  return { completion: codesOf("completion"), message: codesOf("message") };
}

const wantedEvents = rememberInTransaction(askForWantedEvents);

/** The codes of recorded events for which the configuration asks for a completion file, or for a customer message. */
export function wantedEventsOf(tx: Transaction, companyId: number): Promise<WantedEvents> {
  return wantedEvents.get(tx, companyId);
}

const completionTargetsQuery = prepareQuery<{ companyId: number }, { id: number }>((db, arg) =>
  db
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("takes_completions", "=", 1)
    .where("is_configured", "=", 1),
);

const completionTargets = rememberInTransaction(
  async (tx, companyId): Promise<readonly number[]> =>
    (await completionTargetsQuery.rows(tx, { companyId })).map(({ id }) => id),
);

/** The ids of the targets of a company that take completions at once. */
export function completionTargetsOf(tx: Transaction, companyId: number): Promise<readonly number[]> {
  return completionTargets.get(tx, companyId);
}

type TargetValue = "id" | "companyId" | "name" | "failures" | "pausedUntil";

/** A target, and its state. */
export interface OutboundTarget extends Pick<RowOf<"outbound_targets">, TargetValue> {
  readonly companyCode: string;
  readonly isConfigured: boolean;
  /** Who has paused it by hand, until somebody resumes it, and when; null when nobody has. */
  readonly pausedBy: string | null;
  readonly pausedAt: number | null;
  /** Deliveries that are waiting or behind. */
  readonly open: number;
  readonly dead: number;
  /** How often a delivery became open, or due before its time. */
  readonly added: number;
}

type TargetRow = Omit<OutboundTarget, "isConfigured"> & { readonly isConfigured: number };

/** Read after each burst of commits. Not ordered: SQLite would prepare the statement anew at each run. */
const targetsQuery = prepareQuery<object, TargetRow>((db) =>
  db
    .selectFrom("outbound_targets as t")
    .innerJoin("companies as c", "c.id", "t.company_id")
    .leftJoin("hand_pauses as h", (join) =>
      join
        .onRef("h.company_id", "=", "t.company_id")
        .on("h.kind", "=", "target")
        .onRef("h.name", "=", "t.name"),
    )
    .select(namedColumns("t.id", "t.company_id", "t.name", "t.is_configured", "t.failures", "t.paused_until"))
    .select(namedColumns("h.paused_by", "h.paused_at"))
    .select([
      "c.code as companyCode",
      "t.open_count as open",
      "t.dead_count as dead",
      "t.added_count as added",
    ]),
);

async function queryTargets(read: Reader): Promise<readonly OutboundTarget[]> {
  const rows = (await targetsQuery.rows(read, {})).toSorted((one, other) => one.id - other.id);
  return rows.map(({ isConfigured, ...row }) => ({ ...row, isConfigured: isConfigured === 1 }));
}

const remembered = rememberAnswers(queryTargets);

/**
 * All targets: the very same list until the next commit, so that a check costs next to nothing.
 */
export function listOutboundTargets(read: Reader): Promise<readonly OutboundTarget[]> {
  return remembered(read, "");
}

/** Whether the company has, or had, any target. */
export async function hasTargets(db: Reader | Transaction, companyId: number): Promise<boolean> {
  const row = await db
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "=", companyId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

const targetByName = prepareQuery<{ companyId: number; name: string }, { id: number }>((db, arg) =>
  db
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("name", "=", arg("name"))
    .where("is_configured", "=", 1),
);

/** The id of a target that the configuration has; undefined when there is none of that name. */
export function findTargetId(
  db: Reader | Transaction,
  target: { readonly companyId: number; readonly name: string },
): Promise<number | undefined> {
  return targetByName.first(db, target, ({ id }) => id);
}

/** When the oldest open delivery of each target was made, milliseconds UTC, by the id of the target. */
export async function listOldestOpen(read: Reader): Promise<ReadonlyMap<number, number>> {
  const rows = await read
    .selectFrom("outbound_targets as t")
    .select("t.id")
    .select((eb) =>
      eb
        .selectFrom("deliveries as d")
        .select("d.created_at")
        .whereRef("d.target_id", "=", "t.id")
        .where(isOpen("d.state"))
        .orderBy("d.id")
        .limit(1)
        .as("at"),
    )
    .where("t.open_count", ">", 0)
    .execute();
  return new Map(rows.flatMap(({ id, at }) => (at === null ? [] : [[id, at]])));
}

/**
 * Some deliveries of a target: the newest that were given up, or the oldest that are open. The daemon asks while a
 * backlog may be long: an index has either in this order.
 */
export async function listSomeOfTarget(
  read: Reader,
  { targetId, state, limit }: { targetId: number; state: "dead" | "open"; limit: number },
): Promise<readonly Pick<RowOf<"deliveries">, "id" | "name" | "faultText">[]> {
  return await read
    .selectFrom("deliveries as d")
    .select(namedColumns("d.id", "d.name", "d.fault_text"))
    .where("d.target_id", "=", targetId)
    .where(state === "dead" ? isInState("d.state", state) : isOpen("d.state"))
    .orderBy("d.id", state === "dead" ? "desc" : "asc")
    .limit(limit)
    .execute();
}

export type TargetPause = Pick<OutboundTarget, "id" | "failures" | "pausedUntil">;

/**
 * Records that a target is paused, or, with zeros, that it works again. Whoever ends a pause for a queue in another process
 * gives the present moment for its end.
 */
export const saveTargetPause = prepareQuery<TargetPause>((db, arg) =>
  db
    .updateTable("outbound_targets")
    .set({ failures: arg("failures"), paused_until: arg("pausedUntil") })
    .where("id", "=", arg("id")),
).run;

interface CountChange {
  readonly id: number;
  readonly open: number;
  readonly dead: number;
}

const countQuery = prepareQuery<CountChange & { readonly added: number }>((db, arg) =>
  db
    .updateTable("outbound_targets")
    .set((eb) => ({
      open_count: eb("open_count", "+", arg("open")),
      added_count: eb("added_count", "+", arg("added")),
      dead_count: eb("dead_count", "+", arg("dead")),
    }))
    .where("id", "=", arg("id")),
);

/** Changes the numbers of open and dead deliveries by that much, in the transaction that changes the deliveries. */
export async function changeTargetCounts(tx: Transaction, change: CountChange): Promise<void> {
  await countQuery.run(tx, { ...change, added: Math.max(0, change.open) });
  if (change.open > 0) announce(tx, "deliveries");
}

const newsQuery = prepareQuery<{ id: number }>((db, arg) =>
  db
    .updateTable("outbound_targets")
    .set((eb) => ({ added_count: eb("added_count", "+", 1) }))
    .where("id", "=", arg("id")),
);

/** A delivery of the target has become due: the queue reads what is due at its next check. */
export async function announceNews(tx: Transaction, id: number): Promise<void> {
  await newsQuery.run(tx, { id });
  announce(tx, "deliveries");
}

type TargetCounts = ExpressionBuilder<Tables, "outbound_targets">;

function countsOf(eb: TargetCounts) {
  const ofTarget = eb
    .selectFrom("deliveries as d")
    .select((count) => count.fn.countAll<number>().as("count"))
    .whereRef("d.target_id", "=", "outbound_targets.id");
  return {
    open_count: ofTarget.where(isOpen("d.state")),
    dead_count: ofTarget.where(isInState("d.state", "dead")),
  };
}

function isMiscounted(eb: TargetCounts) {
  const { open_count: open, dead_count: dead } = countsOf(eb);
  return eb.or([eb("open_count", "!=", open), eb("dead_count", "!=", dead)]);
}

/** Whether somebody has changed the database by hand, so that the counts of a company's targets are wrong. */
export async function hasMiscounts(read: Reader, companyId: number): Promise<boolean> {
  const wrong = read.selectFrom("outbound_targets").select("id").where("company_id", "=", companyId);
  return (await wrong.where(isMiscounted).limit(1).executeTakeFirst()) !== undefined;
}

/** Counts the open and dead deliveries anew, of one company or all, in case that somebody has changed the database by hand. */
export async function recountTargets(tx: Transaction, companyId?: number): Promise<void> {
  await tx
    .updateTable("outbound_targets")
    .$if(companyId !== undefined, (some) => some.where("company_id", "=", companyId ?? 0))
    .set(countsOf)
    .execute();
}
