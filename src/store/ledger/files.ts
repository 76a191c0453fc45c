/**
 * The ledger: one entry for each file ever taken (specification/file-exchange.md#once). Writes and the reads of the
 * pipeline; queries for people are in `file-queries.ts`.
 */
import { sql } from "kysely";
import type { DecidedState, FileState } from "../../domain/files/file-state.ts";
import type { Fault } from "../../lib/errors.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { FilesTable } from "../database/schema.ts";

export interface NewFile {
  readonly companyId: number;
  readonly name: string;
  readonly nameTime: number | null;
  readonly size: number;
  readonly channel: string;
  readonly userName: string | null;
  readonly receivedAt: number;
  /** Where the bytes lie: relative to the state directory when inside it. */
  readonly location: string;
}

const insertFile = prepareQuery<NewFile, { id: number }>((db, arg) =>
  db
    .insertInto("files")
    .returning("id")
    .values({
      company_id: arg("companyId"),
      name: arg("name"),
      name_time: arg("nameTime"),
      sha256: null,
      size: arg("size"),
      channel: arg("channel"),
      user_name: arg("userName"),
      received_at: arg("receivedAt"),
      state: "waiting",
      stop_function: null,
      stop_nbr: null,
      document_id: null,
      reasons: "[]",
      records_created: 0,
      records_updated: 0,
      records_deleted: 0,
      decided_at: null,
      source: arg("location"),
      location: arg("location"),
      is_filed: 0,
      first_id: null,
      removed_at: null,
      removed_by: null,
    }),
);

/** Enters a file as waiting and returns its ledger id. */
export async function enterFile(tx: Transaction, file: NewFile): Promise<number> {
  const { rows } = await insertFile.run(tx, file);
  if (rows[0] === undefined) throw new Error("an inserted row gave no id");
  return rows[0].id;
}

/** The decision about a file. */
export interface Decision {
  readonly id: number;
  readonly state: DecidedState;
  readonly sha256: string | null;
  readonly size: number;
  readonly stopFunction: string | null;
  readonly stopNbr: string | null;
  readonly documentId: string | null;
  readonly faults: readonly Fault[];
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly decidedAt: number;
  /** Where the file is to be filed away to. */
  readonly location: string;
  readonly firstId: number | null;
}

interface DecisionArguments extends Omit<Decision, "faults"> {
  readonly reasons: string;
}

const decideFile = prepareQuery<DecisionArguments>((db, arg) =>
  db
    .updateTable("files")
    .set({
      state: arg("state"),
      sha256: arg("sha256"),
      size: arg("size"),
      stop_function: arg("stopFunction"),
      stop_nbr: arg("stopNbr"),
      document_id: arg("documentId"),
      reasons: arg("reasons"),
      records_created: arg("created"),
      records_updated: arg("updated"),
      records_deleted: arg("deleted"),
      decided_at: arg("decidedAt"),
      location: arg("location"),
      first_id: arg("firstId"),
    })
    .where("id", "=", arg("id"))
    .where("state", "=", "waiting"),
);

/** Moves a waiting entry to its decided state; false when it is not waiting any more. */
export async function recordDecision(tx: Transaction, decision: Decision): Promise<boolean> {
  const { faults, ...rest } = decision;
  return (await decideFile.run(tx, { ...rest, reasons: JSON.stringify(faults) })).affected === 1;
}

/** The move and the receipt are done. */
export async function markFiled(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx
    .updateTable("files")
    .set({ is_filed: 1 })
    .where("id", "in", [...ids])
    .execute();
}

/** The bytes lie somewhere else than was decided. */
export async function recordLocation(tx: Transaction, id: number, location: string): Promise<void> {
  await tx.updateTable("files").set({ location }).where("id", "=", id).execute();
}

/** A user removed the bytes of a refused file; returns whether an entry lies there. */
export async function recordRemoval(
  tx: Transaction,
  removal: { companyId: number; location: string; at: number; by: string },
): Promise<boolean> {
  const result = await tx
    .updateTable("files")
    .set({ removed_at: removal.at, removed_by: removal.by })
    .where("company_id", "=", removal.companyId)
    .where("location", "=", removal.location)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows) > 0;
}

/** An entry as the ledger keeps it. */
export interface LedgerEntry {
  readonly id: number;
  readonly companyId: number;
  readonly name: string;
  readonly nameTime: number | null;
  readonly sha256: string | null;
  readonly size: number;
  readonly channel: string;
  readonly userName: string | null;
  readonly receivedAt: number;
  readonly state: FileState;
  readonly stopFunction: string | null;
  readonly stopNbr: string | null;
  readonly documentId: string | null;
  readonly faults: readonly Fault[];
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly decidedAt: number | null;
  readonly source: string;
  readonly location: string;
  readonly isFiled: boolean;
  readonly firstId: number | null;
  readonly removedAt: number | null;
  readonly removedBy: string | null;
}

type FileRow = { [Column in keyof FilesTable]: Column extends "id" ? number : FilesTable[Column] };

/** Maps a row; the only place outside of queries that knows the columns' names. */
export function toLedgerEntry(row: FileRow): LedgerEntry {
  return {
    id: row.id,
    companyId: row.company_id,
    name: row.name,
    nameTime: row.name_time,
    sha256: row.sha256,
    size: row.size,
    channel: row.channel,
    userName: row.user_name,
    receivedAt: row.received_at,
    state: row.state as FileState,
    stopFunction: row.stop_function,
    stopNbr: row.stop_nbr,
    documentId: row.document_id,
    faults: JSON.parse(row.reasons) as readonly Fault[],
    created: row.records_created,
    updated: row.records_updated,
    deleted: row.records_deleted,
    decidedAt: row.decided_at,
    source: row.source,
    location: row.location,
    isFiled: row.is_filed === 1,
    firstId: row.first_id,
    removedAt: row.removed_at,
    removedBy: row.removed_by,
  };
}

/** The entry of that id, or undefined. */
export async function findFile(read: Reader, id: number): Promise<LedgerEntry | undefined> {
  const row = await read.selectFrom("files").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toLedgerEntry(row);
}

/** Entries that are not filed away yet, in the given states, after `afterId`, oldest first. */
export async function listOpenFiles(
  read: Reader,
  query: { states: readonly FileState[]; afterId: number; limit: number },
): Promise<readonly LedgerEntry[]> {
  const rows = await read
    .selectFrom("files")
    .selectAll()
    // A literal, not a parameter: only then does SQLite see that the partial index serves.
    .where("is_filed", "=", sql.lit(0))
    .where("state", "in", [...query.states])
    .where("id", ">", query.afterId)
    .orderBy("id")
    .limit(query.limit)
    .execute();
  return rows.map(toLedgerEntry);
}

/** Where the files of all entries lay that are not filed away yet, as the ledger names places. */
export async function listOpenSources(read: Reader): Promise<readonly string[]> {
  const rows = await read.selectFrom("files").select("source").where("is_filed", "=", sql.lit(0)).execute();
  return rows.map(({ source }) => source);
}

/**
 * Asks for a refused or superseded file to be tried again, and keeps what was decided about it; false when it is in no such
 * state or its bytes are gone.
 */
export async function requestRetry(
  tx: Transaction,
  { id, now }: { readonly id: number; readonly now: number },
): Promise<boolean> {
  const before = await tx
    .selectFrom("files")
    .select(["state", "decided_at", "reasons"])
    .where("id", "=", id)
    .executeTakeFirst();
  const result = await tx
    .updateTable("files")
    .set((set) => ({ state: "retry", is_filed: 0, source: set.ref("location") }))
    .where("id", "=", id)
    .where("state", "in", ["refused", "superseded"])
    .where("is_filed", "=", 1)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (before === undefined || Number(result.numUpdatedRows) !== 1) return false;
  await tx
    .insertInto("file_repeats")
    .values({ ...before, file_id: id, asked_at: now })
    .execute();
  return true;
}

/** What was decided about a file before somebody asked for it to be tried again; times are milliseconds UTC. */
export interface FileRepeat {
  readonly askedAt: number;
  readonly state: FileState;
  readonly decidedAt: number | null;
  readonly faults: readonly Fault[];
}

/** Oldest first. */
export async function listFileRepeats(read: Reader, id: number): Promise<readonly FileRepeat[]> {
  const rows = await read
    .selectFrom("file_repeats")
    .select(["asked_at", "state", "decided_at", "reasons"])
    .where("file_id", "=", id)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    askedAt: row.asked_at,
    state: row.state as FileState,
    decidedAt: row.decided_at,
    faults: JSON.parse(row.reasons) as readonly Fault[],
  }));
}

/** Takes an entry that is to be tried again back among the waiting; false when somebody else did. */
export async function acceptRetry(tx: Transaction, id: number): Promise<boolean> {
  const result = await tx
    .updateTable("files")
    .set({ state: "waiting", decided_at: null })
    .where("id", "=", id)
    .where("state", "=", "retry")
    .executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

const recentEntries = 100_000;

/** Entries decided since then, oldest first, looked for among the newest of the ledger. */
export async function listDecidedSince(read: Reader, since: number): Promise<readonly LedgerEntry[]> {
  const newest = await read
    .selectFrom("files")
    .select("id")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (newest === undefined) return [];
  const rows = await read
    .selectFrom("files")
    .selectAll()
    .where("id", ">", newest.id - recentEntries)
    .where("decided_at", ">=", since)
    .orderBy("decided_at")
    .orderBy("id")
    .execute();
  return rows.map(toLedgerEntry);
}
