/**
 * The SQLite database of a state directory as the target of a copy.
 *
 *   no database ──> `dropgate.db.copying` filled, proved, synced ──> it gets its name: a state
 *
 * A crash before leaves the file without its name, which no start takes for a database, and a further copy begins anew only
 * when it is told to.
 */
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { rename, rmSync, syncFile } from "../../../lib/files/changes.ts";
import { syncDirectory } from "../../../lib/files/durable-file.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import { databaseFileName, unfinishedCopyName } from "../database.ts";
import { findSchema, migrate } from "../migrate.ts";
import { planSchema } from "../schema-plan.ts";
import { makeOneFile, openForReading, openSqlite, toStoreError } from "../sqlite-dialect.ts";
import { checkReferences, type SqliteDatabase } from "../sqlite-schema.ts";
import { clearTable } from "./copied-tables.ts";
import type { ColumnKind, CopiedRow, CopiedTable, CopyTarget, Counters } from "./copy-side.ts";
import { sqliteCounters, sqliteRows, sqliteTables } from "./sqlite-rows.ts";

/** With the files that SQLite makes beside a database. */
const suffixes = ["", "-wal", "-shm", "-journal"];

function removeFile(path: string): void {
  for (const suffix of suffixes) rmSync(`${path}${suffix}`, { force: true });
}

function requireRoom(stateDir: string, isAnew: boolean): void {
  const [database, unfinished] = [join(stateDir, databaseFileName), join(stateDir, unfinishedCopyName)];
  const there = suffixes.map((suffix) => `${database}${suffix}`).find((path) => existsSync(path));
  if (there !== undefined)
    throw new OperatorError(`${there} is there already, and a copy replaces nothing: move it away first`);
  if (existsSync(unfinished) && !isAnew)
    throw new OperatorError(`${unfinished} is of a copy that was not finished: begin anew with --anew`);
}

type Stored = string | number | bigint | null;

const fromText: Readonly<Record<ColumnKind, (text: string) => Stored>> = {
  integer: BigInt,
  real: Number,
  text: (text) => text,
};

/** Writes rows of a table, some at a time. */
function inserterOf(database: SqliteDatabase, { name, columns }: CopiedTable) {
  const list = columns.map((column) => `"${column.name}"`).join(", ");
  const values = columns.map(() => "?").join(", ");
  const insert = database.prepare<Stored[]>(`insert into "${name}" (${list}) values (${values})`);
  const parsers = columns.map(({ kind }) => fromText[kind]);
  return (rows: readonly CopiedRow[]): void => {
    for (const row of rows)
      insert.run(...row.map((text, at) => (text === null ? null : (parsers[at]?.(text) ?? null))));
  };
}

/** Made again when all rows are there: so they take a fraction of the time. */
function dropIndexes(database: SqliteDatabase): readonly string[] {
  const indexes = database
    .prepare<[], { readonly name: string; readonly sql: string }>(
      "select name, sql from sqlite_schema where type = 'index' and sql is not null",
    )
    .all();
  for (const { name } of indexes) database.exec(`drop index "${name}"`);
  return indexes.map(({ sql }) => sql);
}

function putCounters(database: SqliteDatabase, { lastIds, ledgerGaps }: Counters): void {
  database.exec("delete from sqlite_sequence");
  const put = database.prepare<[string, bigint]>("insert into sqlite_sequence (name, seq) values (?, ?)");
  for (const [table, lastId] of lastIds) put.run(table, BigInt(lastId));
  database.prepare<[bigint]>("update ledger_gaps set ids = ?").run(BigInt(ledgerGaps));
}

function requireSchema(database: SqliteDatabase): void {
  checkReferences(database);
  const plan = planSchema(findSchema(database));
  if (plan.kind !== "steps" || plan.steps.length > 0)
    throw new Error("the copy has another schema than it began with");
}

/** Nothing of it is a state before its end: then all of it is synced at once. */
async function makeEmpty(path: string): Promise<SqliteDatabase> {
  const database = openSqlite(path, { isNew: true });
  try {
    await migrate(database, { path });
    database.pragma("journal_mode = OFF");
    database.pragma("synchronous = OFF");
    database.pragma("foreign_keys = OFF");
    database.pragma("cache_size = -65536");
    // Indexes over millions of rows are sorted where there is room for them.
    database.pragma("temp_store = FILE");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

async function giveName(unfinished: string, path: string): Promise<void> {
  const handle = await open(unfinished, "r+");
  await syncFile(handle).finally(() => handle.close());
  await rename(unfinished, path);
  await syncDirectory(dirname(path));
}

/** The state directory is locked. */
export async function openSqliteTarget(stateDir: string, isAnew: boolean): Promise<CopyTarget> {
  requireRoom(stateDir, isAnew);
  const unfinished = join(stateDir, unfinishedCopyName);
  removeFile(unfinished);
  let database = await makeEmpty(unfinished).catch((error: unknown) => {
    throw toStoreError(error);
  });
  database.exec("begin");
  const indexes = dropIndexes(database);
  return {
    tables: async () => sqliteTables(database),
    rows: (table) => sqliteRows(database, table),
    counters: async () => sqliteCounters(database),
    async write(table, batches) {
      database.exec(clearTable(table));
      const insert = inserterOf(database, table);
      for await (const batch of batches) insert(batch);
    },
    async settle(counters) {
      putCounters(database, counters);
      for (const sql of indexes) database.exec(sql);
      database.exec("commit");
      requireSchema(database);
      database.close();
      makeOneFile(unfinished);
      database = openForReading(unfinished);
    },
    async complete() {
      database.close();
      await giveName(unfinished, join(stateDir, databaseFileName));
    },
    close: async () => void database.close(),
  };
}
