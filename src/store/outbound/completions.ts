/**
 * Completions as rows: stops as they were when an event asked for a file about them. Which events do is in
 * `operations/consequences`.
 */
import { type Kysely, type Selectable, sql } from "kysely";
import { completionFormat } from "../../domain/outbound/completion-format.ts";
import type { StopStatus } from "../../domain/stop/stop-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import type { CompletionsTable } from "./outbound-rows.ts";
import { type Argument, prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

/** A stop and what belongs to it, as it is now. */
export interface Snapshot {
  readonly stopStatus: StopStatus;
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
  readonly body: string;
  readonly execution: string;
  readonly embedsDocuments: number | null;
}

interface SnapshotRow extends Omit<Snapshot, "stopStatus"> {
  readonly stopStatus: string;
  readonly loadId: number | null;
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

const snapshotQuery = prepareQuery<SnapshotArguments, SnapshotRow>((db, arg) =>
  db
    .selectFrom("stops as s")
    .select(["s.stop_status as stopStatus", "s.carrier_code as carrierCode"])
    .select(["s.assignment_criteria as assignmentCriteria", "s.body", "s.execution"])
    .select("s.load_id as loadId")
    .select([embedsDocuments(db, arg).as("embedsDocuments"), nameHolder(db, arg).as("nameHolder")])
    .where("s.company_id", "=", arg("companyId"))
    .where("s.stop_nbr", "=", arg("stopNbr")),
);

export interface FoundSnapshot {
  readonly snapshot: Snapshot;
  /** The load that the stop is on. */
  readonly loadId: number | null;
  /** A delivery that has moved on to the name has it. */
  readonly isNameTaken: boolean;
}

/** The stop as it is now, for a completion that should have this name. */
export async function findSnapshot(
  tx: Transaction,
  wanted: SnapshotArguments,
): Promise<FoundSnapshot | undefined> {
  const [row] = (await snapshotQuery.run(tx, wanted)).rows;
  if (row === undefined) return undefined;
  const { loadId, nameHolder, stopStatus, ...rest } = row;
  const snapshot = { ...rest, stopStatus: stopStatus as StopStatus };
  return { snapshot, loadId, isNameTaken: nameHolder !== null };
}

/** The first and the last of the recorded events of a completion. */
export interface EventRange {
  readonly firstEventId: number;
  readonly lastEventId: number;
}

/** A completion to be stored. */
export interface NewCompletion extends Snapshot, SnapshotArguments, EventRange {
  readonly loadNbr: string | null;
  /** JSON: the driver of the load; `{}` without one. */
  readonly driver: string;
  /** Of the event that asks for it. */
  readonly code: number;
  readonly now: number;
}

/**
 * Without `returning`, as all that state changes run: in a large transaction SQLite would spend more time on going back to
 * before the statement than on the statement.
 */
const insertQuery = prepareQuery<NewCompletion>((db, arg) =>
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

/** Returns its id; undefined when another completion of the company has its name. */
export async function insertCompletion(
  tx: Transaction,
  completion: NewCompletion,
): Promise<number | undefined> {
  const { affected, insertedId } = await insertQuery.run(tx, completion);
  return affected === 1 ? insertedId : undefined;
}

/** An event of a completion as it was recorded. */
export interface StoredCompletionEvent {
  readonly code: number;
  /** Milliseconds UTC. */
  readonly recordedAt: number;
  /** JSON: the rest of the event. */
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
