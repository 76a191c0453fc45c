/**
 * Completions: a stop as it was when an event asked for a file about it
 * (specification/outbound.md#when-a-completion-file-is-due). Each is made in the transaction of the event, with its
 * deliveries; the file is rendered from it later, each time to the same bytes.
 */
import { type Kysely, type Selectable, sql } from "kysely";
import { completionFormat } from "../../domain/outbound/completion-format.ts";
import { completionFileName, nextCompletionName } from "../../domain/outbound/completion-name.ts";
import { recordedEvents } from "../../domain/outbound/recorded-events.ts";
import { localTimeOf } from "../../domain/time/zoned-time.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { Reader } from "../database/database.ts";
import { findFreeName, insertCompletionDeliveries } from "./deliveries.ts";
import type { Transaction } from "../database/group-commit.ts";
import { type DrivenLoad, findDrivenLoad } from "../stops/loads.ts";
import type { CompletionsTable } from "./outbound-rows.ts";
import { type Argument, prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

/** An event that may ask for a completion file, recorded with all others of its report. */
export interface CompletionTrigger {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly code: number;
  /** Whether the configuration asks for a file with each event of this code; else only the completion of a stop does. */
  readonly isWanted: boolean;
  /** Local, when it was reported. */
  readonly eventDTTM: string | undefined;
  readonly now: number;
}

const completing: ReadonlySet<number> = new Set([
  recordedEvents.stopDelivery.code,
  recordedEvents.stopClosed.code,
]);

/** Whether an event of this code can complete a stop. */
export function canComplete(code: number): boolean {
  return completing.has(code);
}

/** Could not be done, completed, completed by hand. */
const completed: ReadonlySet<string> = new Set(["80", "90", "91"]);

/** A stop and what belongs to it, as it is now. */
interface Snapshot {
  readonly stopStatus: string;
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
  readonly body: string;
  readonly execution: string;
  readonly loadId: number | null;
  readonly embedsDocuments: number | null;
  /** A delivery that has moved on to the name has it. */
  readonly nameHolder: number | null;
}

interface StopKey {
  readonly companyId: number;
  readonly stopNbr: string;
}

interface SnapshotArguments extends StopKey {
  readonly name: string;
}

type Arg = Argument<SnapshotArguments>;

function embedsDocuments(db: Kysely<Tables>, arg: Arg) {
  return db
    .selectFrom("outbound_settings")
    .select("embeds_documents")
    .where("company_id", "=", arg("companyId"));
}

function nameHolder(db: Kysely<Tables>, arg: Arg) {
  return db
    .selectFrom("deliveries")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("name", "=", arg("name"))
    .limit(sql.lit(1));
}

const snapshotQuery = prepareQuery<SnapshotArguments, Snapshot>((db, arg) =>
  db
    .selectFrom("stops as s")
    .select(["s.stop_status as stopStatus", "s.carrier_code as carrierCode"])
    .select(["s.assignment_criteria as assignmentCriteria", "s.body", "s.execution"])
    .select("s.load_id as loadId")
    .select([embedsDocuments(db, arg).as("embedsDocuments"), nameHolder(db, arg).as("nameHolder")])
    .where("s.company_id", "=", arg("companyId"))
    .where("s.stop_nbr", "=", arg("stopNbr")),
);

interface EventRow {
  readonly id: number;
  readonly event_code: number;
}

/** Not ordered: SQLite would prepare the statement anew at each run. */
const eventsQuery = prepareQuery<StopKey, EventRow>((db, arg) =>
  db
    .selectFrom("recorded_events")
    .select(["id", "event_code"])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

interface EventRange {
  readonly firstEventId: number;
  readonly lastEventId: number;
}

/** What was recorded before a cancellation, and the cancellation itself, belongs to an earlier stop of the same number. */
async function eventRange(tx: Transaction, trigger: CompletionTrigger): Promise<EventRange> {
  const { rows } = await eventsQuery.run(tx, trigger);
  const cancelled = recordedEvents.stopCancelled.code;
  let [lastEventId, lastCancelled, cancelledBefore] = [0, 0, 0];
  for (const { id, event_code: code } of rows) {
    lastEventId = Math.max(lastEventId, id);
    if (code !== cancelled) continue;
    cancelledBefore = Math.max(cancelledBefore, Math.min(lastCancelled, id));
    lastCancelled = Math.max(lastCancelled, id);
  }
  // One that asks for the file is part of what it tells.
  const endOfEarlier = trigger.code === cancelled ? cancelledBefore : lastCancelled;
  return { firstEventId: endOfEarlier + 1, lastEventId };
}

interface InsertArguments
  extends Omit<Snapshot, "nameHolder" | "loadId">,
    DrivenLoad,
    SnapshotArguments,
    EventRange {
  readonly code: number;
  readonly now: number;
}

/**
 * Without `returning`, as all that state changes run: in a large transaction SQLite would spend more time on going back to
 * before the statement than on the statement.
 */
const insertQuery = prepareQuery<InsertArguments>((db, arg) =>
  db
    .insertInto("completions")
    .values((eb) => ({
      company_id: arg("companyId"),
      stop_nbr: arg("stopNbr"),
      name: arg("name"),
      format: completionFormat,
      embeds_documents: eb.fn.coalesce(eb.val(arg("embedsDocuments")), eb.lit(0)),
      trigger_code: arg("code"),
      first_event_id: arg("firstEventId"),
      last_event_id: arg("lastEventId"),
      stop_status: arg("stopStatus"),
      carrier_code: arg("carrierCode"),
      assignment_criteria: arg("assignmentCriteria"),
      body: arg("body"),
      execution: arg("execution"),
      load_nbr: arg("loadNbr"),
      driver: arg("driver"),
      created_at: arg("now"),
    }))
    .onConflict((conflict) => conflict.columns(["company_id", "name"]).doNothing()),
);

/** Inserts it under the name that it should have, or the next that is free; gives that name, and its id. */
async function insertNamed(
  tx: Transaction,
  completion: InsertArguments,
  isNameHeld: boolean,
): Promise<{ readonly name: string; readonly subjectId: number }> {
  const first = isNameHeld ? undefined : await insertQuery.run(tx, completion);
  if (first?.affected === 1) return { name: completion.name, subjectId: first.insertedId };
  const name = await findFreeName(tx, completion, nextCompletionName);
  const { affected, insertedId } = await insertQuery.run(tx, { ...completion, name });
  if (affected !== 1) throw new Error(`the name ${name} was free, and is not`);
  return { name, subjectId: insertedId };
}

/**
 * Keeps the stop as it is now for a completion file and puts its deliveries in the queue, if the event asks for one: by the
 * configuration, or because it has brought the stop to 80, 90 or 91.
 */
export async function insertCompletion(tx: Transaction, trigger: CompletionTrigger): Promise<void> {
  const { companyId, stopNbr, code, now } = trigger;
  const wished = completionFileName(stopNbr, trigger.eventDTTM ?? localTimeOf(now, "UTC"));
  const [snapshot] = (await snapshotQuery.run(tx, { companyId, stopNbr, name: wished })).rows;
  if (snapshot === undefined || !(trigger.isWanted || completed.has(snapshot.stopStatus))) return;
  const range = await eventRange(tx, trigger);
  const load = await findDrivenLoad(tx, snapshot.loadId);
  const completion = { ...snapshot, ...range, ...load, companyId, stopNbr, name: wished, code, now };
  const inserted = await insertNamed(tx, completion, snapshot.nameHolder !== null);
  killPoint("completion.inserted");
  await insertCompletionDeliveries(tx, { companyId, ...inserted, orderKey: stopNbr, now });
}

/** An event of a completion as it was recorded. */
export interface StoredCompletionEvent {
  readonly code: number;
  /** Milliseconds UTC. */
  readonly recordedAt: number;
  /** JSON: what else is known of the event. */
  readonly data: string;
}

export interface StoredCompletion {
  readonly id: number;
  readonly companyId: number;
  readonly stopNbr: string;
  readonly name: string;
  readonly format: number;
  readonly embedsDocuments: boolean;
  readonly triggeredBy: number;
  readonly stopStatus: string;
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
  /** JSON: the canonical stop. */
  readonly body: string;
  readonly execution: string;
  readonly loadNbr: string | null;
  /** JSON: the driver of the load; `{}` without one. */
  readonly driver: string;
  /** In the order in which they were recorded. */
  readonly events: readonly StoredCompletionEvent[];
}

type CompletionRow = Omit<Selectable<CompletionsTable>, "first_event_id" | "last_event_id" | "created_at">;

const readColumns = [
  ...(["id", "company_id", "stop_nbr", "name", "format", "embeds_documents", "trigger_code"] as const),
  ...(["stop_status", "carrier_code", "assignment_criteria", "body", "execution"] as const),
  ...(["load_nbr", "driver"] as const),
] as const;

async function eventsOf(
  read: Reader,
  ids: readonly number[],
): Promise<ReadonlyMap<number, StoredCompletionEvent[]>> {
  const rows = await read
    .selectFrom("completions as c")
    .innerJoin("recorded_events as e", (join) =>
      join
        .onRef("e.company_id", "=", "c.company_id")
        .onRef("e.stop_nbr", "=", "c.stop_nbr")
        .onRef("e.id", ">=", "c.first_event_id")
        .onRef("e.id", "<=", "c.last_event_id"),
    )
    .select(["c.id as of", "e.id", "e.event_code as code", "e.recorded_at as recordedAt", "e.data"])
    .where("c.id", "in", ids)
    .execute();
  rows.sort((a, b) => a.id - b.id);
  const events = new Map<number, StoredCompletionEvent[]>();
  for (const { of, id: _, ...event } of rows) {
    const list = events.get(of);
    if (list === undefined) events.set(of, [event]);
    else list.push(event);
  }
  return events;
}

async function withEvents(
  read: Reader,
  rows: readonly CompletionRow[],
): Promise<readonly StoredCompletion[]> {
  const events = await eventsOf(read, fewStatements(rows.map(({ id }) => id)));
  return rows.map((row) => ({
    id: row.id,
    companyId: row.company_id,
    stopNbr: row.stop_nbr,
    name: row.name,
    format: row.format,
    embedsDocuments: row.embeds_documents === 1,
    triggeredBy: row.trigger_code,
    stopStatus: row.stop_status,
    carrierCode: row.carrier_code,
    assignmentCriteria: row.assignment_criteria,
    body: row.body,
    execution: row.execution,
    loadNbr: row.load_nbr,
    driver: row.driver,
    events: events.get(row.id) ?? [],
  }));
}

/** Filled up to a power of two with the last one, so that lists of all lengths make a handful of statements. */
function fewStatements(ids: readonly number[]): readonly number[] {
  const last = ids.at(-1);
  if (last === undefined) return [];
  const filled = [...ids];
  const length = 2 ** Math.ceil(Math.log2(ids.length));
  while (filled.length < length) filled.push(last);
  return filled;
}

/** The completions with these ids, some hundred at a time, with their events. */
export async function findCompletions(
  read: Reader,
  ids: readonly number[],
): Promise<readonly StoredCompletion[]> {
  if (ids.length === 0) return [];
  const rows = await read
    .selectFrom("completions")
    .select(readColumns)
    .where("id", "in", fewStatements(ids))
    .execute();
  return await withEvents(read, rows);
}

/** The company's completions after the one id and up to the other, in their order, at most `limit`, with their events. */
export async function listCompletions(
  read: Reader,
  window: {
    readonly companyId: number;
    readonly afterId: number;
    readonly lastId: number;
    readonly limit: number;
  },
): Promise<readonly StoredCompletion[]> {
  const rows = await read
    .selectFrom("completions")
    .select(readColumns)
    .where("company_id", "=", window.companyId)
    .where("id", ">", window.afterId)
    .where("id", "<=", window.lastId)
    .orderBy("id")
    .limit(window.limit)
    .execute();
  return rows.length === 0 ? [] : await withEvents(read, rows);
}
