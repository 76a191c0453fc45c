/**
 * Completions as rows: stops as they were when an event asked for a file about them. `operations/consequences` has the
 * rule which events do.
 */
import { type Kysely, type Selectable, sql } from "kysely";
import { completionFormat } from "../../domain/outbound/completion-format.ts";
import type { StopStatus } from "../../domain/stop/stop-status.ts";
import { returningId } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { type Argument, prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

type AssignmentValue = "carrierCode" | "assignmentCriteria";

/** A stop and what belongs to it, as it is now. */
export interface Snapshot extends Pick<RowOf<"completions">, AssignmentValue | "body" | "execution"> {
  readonly stopStatus: StopStatus;
  readonly embedsDocuments: number | null;
}

interface SnapshotRow extends Snapshot {
  readonly loadId: number | null;
  readonly nameHolder: number | null;
}

type SnapshotArguments = Pick<RowOf<"completions">, "companyId" | "stopNbr" | "name">;

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
    .select(namedColumns("s.stop_status", "s.carrier_code", "s.assignment_criteria"))
    .select(namedColumns("s.body", "s.execution", "s.load_id"))
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
  const row = await snapshotQuery.find(tx, wanted);
  if (row === undefined) return undefined;
  const { loadId, nameHolder, ...snapshot } = row;
  return { snapshot, loadId, isNameTaken: nameHolder !== null };
}

/** The first and the last of the recorded events of a completion. */
export type EventRange = Pick<RowOf<"completions">, "firstEventId" | "lastEventId">;

/** A completion to be stored. */
export interface NewCompletion
  extends Snapshot,
    SnapshotArguments,
    EventRange,
    Pick<RowOf<"completions">, "loadNbr" | "driver"> {
  /** Of the event that asks for it. */
  readonly code: number;
  readonly now: number;
}

/**
 * Without `returning`, as in all statements of state changes: in a large transaction SQLite would spend more time on
 * preparing for an undo of the statement than on the statement.
 */
const insertQuery = prepareQuery<NewCompletion>(
  (db, arg) =>
    db
      .insertInto("completions")
      .values((eb) => ({
        ...namedArguments(arg, "company_id", "stop_nbr", "name"),
        format: completionFormat,
        embeds_documents: eb.fn.coalesce(eb.val(arg("embedsDocuments")), eb.lit(0)),
        trigger_code: arg("code"),
        ...namedArguments(arg, "first_event_id", "last_event_id", "stop_status", "carrier_code"),
        ...namedArguments(arg, "assignment_criteria", "body", "execution", "load_nbr", "driver"),
        created_at: arg("now"),
      }))
      .onConflict((conflict) => conflict.columns(["company_id", "name"]).doNothing())
      .modifyEnd(returningId),
  { changesOwnRows: true },
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

type UnusedValue = "embedsDocuments" | "triggerCode" | keyof EventRange | "createdAt";

export interface StoredCompletion extends Omit<RowOf<"completions">, UnusedValue> {
  readonly embedsDocuments: boolean;
  readonly triggeredBy: number;
  /** In the order in which they were recorded. */
  readonly events: readonly StoredCompletionEvent[];
}

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
  rows: readonly Selectable<Tables["completions"]>[],
): Promise<readonly StoredCompletion[]> {
  const events = await eventsOf(read, fewStatements(rows.map(({ id }) => id)));
  return rows.map((row) => {
    const { embedsDocuments, triggerCode: triggeredBy, ...rest } = named(row);
    return { ...rest, triggeredBy, embedsDocuments: embedsDocuments === 1, events: events.get(row.id) ?? [] };
  });
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
    .selectAll()
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
    .selectAll()
    .where("company_id", "=", window.companyId)
    .where("id", ">", window.afterId)
    .where("id", "<=", window.lastId)
    .orderBy("id")
    .limit(window.limit)
    .execute();
  return rows.length === 0 ? [] : await withEvents(read, rows);
}
