/**
 * The ledger: one entry for each file ever taken (specification/file-exchange.md#once). Writes and the reads of the
 * pipeline; queries for people are in `file-queries.ts`.
 */
import { type Selectable, sql } from "kysely";
import type { DecidedState, FileState } from "../../domain/files/file-state.ts";
import type { NewFile } from "../../domain/files/new-file.ts";
import { dayMs } from "../../lib/durations.ts";
import type { Fault } from "../../lib/errors.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { type Argument, prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";
import { forEach } from "../database/groups/side-by-side.ts";
import { countDecided, uncountDecided } from "./daily-files.ts";

type SentValue = "companyId" | "name" | "nameTime" | "size" | "channel" | "userName" | "receivedAt";

type NewRow = Pick<RowOf<"files">, SentValue | "location" | "beganAt" | "enteredAt">;

function newRowOf(arg: Argument<NewRow>) {
  return {
    ...namedArguments(
      arg,
      "company_id",
      "name",
      "name_time",
      "size",
      "channel",
      "user_name",
      "received_at",
      "began_at",
      "entered_at",
    ),
    ...{ source: arg("location"), location: arg("location"), is_filed: 0 },
    state: "waiting" as const,
    ...{ reasons: "[]", records_created: 0, records_updated: 0, records_deleted: 0 },
  };
}

const insertFile = prepareQuery<NewRow, { id: number }>(
  (db, arg) => db.insertInto("files").returning("id").values(newRowOf(arg)),
  { changesOwnRows: true },
);

const insertFileOnce = prepareQuery<NewRow, { id: number }>((db, arg) =>
  db
    .insertInto("files")
    .values(newRowOf(arg))
    .onConflict((conflict) => conflict.doNothing())
    .returning("id"),
);

type SourceArguments = Pick<NewRow, "companyId" | "location">;

const findWaiting = prepareQuery<SourceArguments, { id: number }>((db, arg) =>
  db
    .selectFrom("files")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("source", "=", arg("location"))
    .where("state", "=", sql.lit("waiting"))
    .where("is_filed", "=", sql.lit(0)),
);

/** Enters a file as waiting and returns its ledger id. */
export async function enterFile(tx: Transaction, file: NewFile): Promise<number> {
  const { beganAt = null, enteredAt = null } = file;
  const [row] = await insertFile.rows(tx, { ...file, beganAt, enteredAt });
  if (row === undefined) throw new Error("an inserted row gave no id");
  return row.id;
}

/** The same where another node may have entered it, from the same source: there is one entry that waits for a source. */
export async function enterFileOnce(tx: Transaction, file: NewFile): Promise<number> {
  const { companyId, location, beganAt = null, enteredAt = null } = file;
  const made = await insertFileOnce.find(tx, { ...file, beganAt, enteredAt });
  if (made !== undefined) return made.id;
  const waiting = await findWaiting.find(tx, { companyId, location });
  if (waiting === undefined) throw new Error("an entry that an insert has met is not there");
  return waiting.id;
}

type KeptValue = "id" | "sha256" | "size" | "stopFunction" | "stopNbr" | "documentId" | "firstId";
type OutcomeValue = "faults" | "created" | "updated" | "deleted";

/** The decision about a file. `location`: where the file is to be filed away to. */
export interface Decision extends Pick<LedgerEntry, KeptValue | OutcomeValue | "location"> {
  readonly state: DecidedState;
  readonly decidedAt: number;
  /** When its document had been read; null or left out when nothing could be read. */
  readonly parsedAt?: number | null;
}

interface DecisionArguments extends Omit<Decision, "faults"> {
  readonly reasons: string;
  readonly parsedAt: number | null;
}

const decideFile = prepareQuery<DecisionArguments>(
  (db, arg) =>
    db
      .updateTable("files")
      .set({
        state: arg("state"),
        ...namedArguments(arg, "sha256", "size", "stop_function", "stop_nbr", "document_id", "reasons"),
        ...{
          records_created: arg("created"),
          records_updated: arg("updated"),
          records_deleted: arg("deleted"),
        },
        ...namedArguments(arg, "decided_at", "parsed_at", "location", "first_id"),
      })
      .where("id", "=", arg("id"))
      .where("state", "=", "waiting"),
  { changesOwnRows: true },
);

/** Moves a waiting entry to its decided state, and counts it; false when it is not waiting any more. */
export async function recordDecision(tx: Transaction, decision: Decision): Promise<boolean> {
  const { faults, parsedAt = null, ...rest } = decision;
  const isDecided = await decideFile.changes(tx, { ...rest, parsedAt, reasons: JSON.stringify(faults) });
  if (isDecided) await countDecided(tx, decision.id, faults);
  return isDecided;
}

const markOneFiled = prepareQuery<{ id: number; at: number | null }>(
  (db, arg) =>
    db
      .updateTable("files")
      .set({ is_filed: 1, filed_at: arg("at") })
      .where("id", "=", arg("id")),
  { changesOwnRows: true },
);

/** The moves and the receipts are done; `at`: when they were, milliseconds UTC, null where nobody knows. */
export async function markFiled(
  tx: Transaction,
  ids: readonly number[],
  at: number | null = null,
): Promise<void> {
  await forEach(tx, ids, (id) => markOneFiled.run(tx, { id, at }));
}

/** The bytes are somewhere else than the decision said. */
export async function recordLocation(tx: Transaction, id: number, location: string): Promise<void> {
  await tx.updateTable("files").set({ location }).where("id", "=", id).execute();
}

type RemovalArguments = { companyId: number; location: string; at: number; by: string };

/** A user removed the bytes of a refused file; returns whether an entry has that location. */
export const recordRemoval = prepareQuery<RemovalArguments>((db, arg) =>
  db
    .updateTable("files")
    .set({ removed_at: arg("at"), removed_by: arg("by") })
    .where("company_id", "=", arg("companyId"))
    .where("location", "=", arg("location"))
    .where("removed_at", "is", null),
).changes;

type FileRow = Selectable<Tables["files"]>;

type CountColumn = "recordsCreated" | "recordsUpdated" | "recordsDeleted";

/** An entry as the ledger keeps it. */
export interface LedgerEntry extends Omit<RowOf<"files">, CountColumn | "isFiled" | "reasons"> {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly isFiled: boolean;
  readonly faults: readonly Fault[];
}

/** Maps a row. */
export function toLedgerEntry(row: FileRow): LedgerEntry {
  const { recordsCreated, recordsUpdated, recordsDeleted, isFiled, reasons, ...rest } = named(row);
  return {
    ...rest,
    ...{ created: recordsCreated, updated: recordsUpdated, deleted: recordsDeleted },
    isFiled: isFiled === 1,
    faults: JSON.parse(reasons) as readonly Fault[],
  };
}

/** The entry of that id, or undefined. */
export async function findFile(read: Reader, id: number): Promise<LedgerEntry | undefined> {
  const row = await read.selectFrom("files").selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toLedgerEntry(row);
}

/** Which entries are asked for; those of all companies unless one is given. */
export interface OpenFilesQuery {
  readonly states: readonly FileState[];
  readonly afterId: number;
  readonly limit: number;
  readonly companyId?: number | undefined;
}

/** Entries that are not filed away yet, in the given states, after `afterId`, oldest first. */
export async function listOpenFiles(
  read: Reader,
  { companyId, ...query }: OpenFilesQuery,
): Promise<readonly LedgerEntry[]> {
  const rows = await read
    .selectFrom("files")
    .selectAll()
    // A literal, not a parameter: only then does SQLite see that the partial index serves.
    .where("is_filed", "=", sql.lit(0))
    .where("state", "in", [...query.states])
    .where("id", ">", query.afterId)
    .$if(companyId !== undefined, (all) => all.where("company_id", "=", companyId ?? 0))
    .orderBy("id")
    .limit(query.limit)
    .execute();
  return rows.map(toLedgerEntry);
}

/** Those of the entries of a company that wait, oldest first. */
export async function listWaitingOf(
  read: Reader,
  { companyId, fileIds }: { readonly companyId: number; readonly fileIds: readonly number[] },
): Promise<readonly LedgerEntry[]> {
  const rows = await read
    .selectFrom("files")
    .selectAll()
    .where("company_id", "=", companyId)
    .where("id", "in", [...fileIds])
    .where("state", "=", "waiting")
    .orderBy("id")
    .execute();
  return rows.map(toLedgerEntry);
}

/** The locations at which the files of all entries that are not filed away yet were taken. */
export async function listOpenSources(read: Reader): Promise<readonly string[]> {
  const rows = await read.selectFrom("files").select("source").where("is_filed", "=", sql.lit(0)).execute();
  return rows.map(({ source }) => source);
}

/** Of the decision to come. */
const nothingYet = {
  ...{ parsed_at: null, filed_at: null },
  ...{ receipt_collected_at: null, receipt_collected_by: null },
  ...{ receipt_collected_over: null, receipt_unread: 0 },
} as const;

/**
 * Requests the retry of a refused or superseded file, and keeps the decision about it; false when it is in no such state
 * or its bytes are gone.
 */
export async function requestRetry(
  tx: Transaction,
  { id, now }: { readonly id: number; readonly now: number },
): Promise<boolean> {
  const before = await tx
    .selectFrom("files")
    .select(["state", "decided_at", "reasons", "receipt_collected_at", "receipt_collected_by"])
    .where("id", "=", id)
    .where("state", "in", ["refused", "superseded"])
    .where("is_filed", "=", 1)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  if (before === undefined) return false;
  await uncountDecided(tx, id);
  await tx
    .updateTable("files")
    .set((set) => ({ state: "retry", is_filed: 0, source: set.ref("location"), ...nothingYet }))
    .where("id", "=", id)
    .execute();
  await tx
    .insertInto("file_repeats")
    .values({ ...before, file_id: id, asked_at: now })
    .execute();
  return true;
}

/** The decision about a file before somebody requested its retry; times are milliseconds UTC. */
export interface FileRepeat extends Omit<RowOf<"file_repeats">, "id" | "fileId" | "reasons"> {
  readonly faults: readonly Fault[];
}

/** Oldest first. */
export async function listFileRepeats(read: Reader, id: number): Promise<readonly FileRepeat[]> {
  const rows = await read
    .selectFrom("file_repeats")
    .select(
      namedColumns(
        ...(["asked_at", "state", "decided_at", "reasons"] as const),
        ...(["receipt_collected_at", "receipt_collected_by"] as const),
      ),
    )
    .where("file_id", "=", id)
    .orderBy("id")
    .execute();
  return rows.map(({ reasons, ...row }) => ({ ...row, faults: JSON.parse(reasons) as readonly Fault[] }));
}

/** When the last retry of each was requested, milliseconds UTC; files without one are left out. */
export async function findLastRepeats(
  read: Reader,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await read
    .selectFrom("file_repeats")
    .select((eb) => ["file_id", eb.fn.max("asked_at").as("asked_at")])
    .where("file_id", "in", [...ids])
    .groupBy("file_id")
    .execute();
  return new Map(rows.map((row) => [row.file_id, Number(row.asked_at)]));
}

/** Makes an entry whose retry was requested waiting again; false when somebody else did. */
export const acceptRetry = prepareQuery<{ id: number }>((db, arg) =>
  db
    .updateTable("files")
    .set({ state: "waiting", decided_at: null })
    .where("id", "=", arg("id"))
    .where("state", "=", "retry"),
).changes;

const recentEntries = 100_000;

/** How long after its decision a file may be filed, milliseconds: while the tree is away, or has no space. */
const filedWithinMs = dayMs;

/** Entries whose files were decided or filed since then and are filed, oldest first, of the newest entries of the ledger. */
export async function listFiledSince(
  read: Reader,
  since: number,
  companyId?: number,
): Promise<readonly LedgerEntry[]> {
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
    // A literal, not a parameter: only then is it sure that the partial index serves.
    .where("is_filed", "=", sql.lit(1))
    .where("decided_at", ">=", since - filedWithinMs)
    .where((eb) => eb.or([eb("decided_at", ">=", since), eb("filed_at", ">=", since)]))
    .$if(companyId !== undefined, (all) => all.where("company_id", "=", companyId ?? 0))
    .orderBy("decided_at")
    .orderBy("id")
    .execute();
  return rows.map(toLedgerEntry);
}

const insertFileStop = prepareQuery<RowOf<"file_stops">>((db, arg) =>
  db
    .insertInto("file_stops")
    .values(namedArguments(arg, "company_id", "stop_nbr", "file_id"))
    // A file that is tried again names the same stops again.
    .onConflict((conflict) => conflict.doNothing()),
);

/** Notes the stops of a document with several, each once, but for the first, which is in the entry. */
export async function noteLaterStops(
  tx: Transaction,
  file: { readonly companyId: number; readonly fileId: number; readonly stopNbrs: readonly string[] },
): Promise<void> {
  const { companyId, fileId } = file;
  for (const stopNbr of new Set(file.stopNbrs)) await insertFileStop.run(tx, { companyId, stopNbr, fileId });
}
