/** The schema of a SQLite database as a whole: its fingerprint, how it is changed, and a copy of the database before that. */
import { createHash } from "node:crypto";
import { closeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { fsyncSync, open, openSync, rename, rmSync, syncFile } from "../../lib/files/changes.ts";
import { syncDirectory } from "../../lib/files/durable-file.ts";

export type SqliteDatabase = BetterSqlite.Database;

/** Tables and indexes by their names, each with its normalised definition. */
export type SchemaParts = ReadonlyMap<string, string>;

/** SQLite quotes the name of a renamed table and keeps the spelling of a definition; neither makes another schema. */
function normalised(definition: string): string {
  const parts = definition.split(/('(?:[^']|'')*')/);
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replaceAll('"', "")
      .replaceAll(/\s+/g, " ")
      .replaceAll(/ ?([(),]) ?/g, "$1");
  return parts.map((part, index) => (index % 2 === 0 ? plain(part) : part)).join("");
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** All but the table `meta`, which the migrations themselves stand in, and what SQLite makes for itself. */
export function readSchema(database: SqliteDatabase): SchemaParts {
  const rows = database
    .prepare<[], SchemaRow>(
      `select type, name, sql from sqlite_schema
       where sql is not null and name <> 'meta' and name not like 'sqlite\\_%' escape '\\' order by type, name`,
    )
    .all();
  return new Map(rows.map(({ type, name, sql }) => [`${type} ${name}`, normalised(sql)]));
}

/** The schema that these statements create. */
export function schemaMadeBy(statements: readonly string[]): SchemaParts {
  const database = new BetterSqlite(":memory:");
  try {
    for (const text of statements) database.exec(text);
    return readSchema(database);
  } finally {
    database.close();
  }
}

/** The tables that have rows as soon as these statements have made them. */
export function tablesFilledBy(statements: readonly string[]): ReadonlySet<string> {
  const database = new BetterSqlite(":memory:");
  try {
    for (const text of statements) database.exec(text);
    const tables = database
      .prepare<[], string>("select name from sqlite_schema where type = 'table'")
      .pluck()
      .all();
    return new Set(tables.filter((name) => database.prepare(`select 1 from "${name}"`).get() !== undefined));
  } finally {
    database.close();
  }
}

/** Equal for equal schemas, however they came about. */
export function fingerprintOf(schema: SchemaParts): string {
  const hash = createHash("sha256");
  for (const [name, definition] of schema) hash.update(`${name}\n${definition}\n`);
  return hash.digest("hex").slice(0, 32);
}

/** Throws where a row refers to one that is not there. */
export function checkReferences(database: SqliteDatabase): void {
  const broken = database.prepare<[], { readonly table: string; readonly parent: string }>(
    "pragma foreign_key_check",
  );
  const first = broken.get();
  if (first === undefined) return;
  throw new Error(`rows of ${first.table} refer to rows of ${first.parent} that are not there`);
}

/**
 * Runs a change in one transaction. References are checked after all of it, because a table that is rebuilt is gone for
 * a moment.
 */
export function changeSchema<T>(database: SqliteDatabase, change: () => T): T {
  // Has no effect inside of a transaction.
  database.pragma("foreign_keys = OFF");
  try {
    return database
      .transaction(() => {
        const outcome = change();
        checkReferences(database);
        return outcome;
      })
      .immediate();
  } finally {
    database.pragma("foreign_keys = ON");
  }
}

/** Pages of a copy: how many are done, of how many. */
export type CopyProgress = (progress: { readonly done: number; readonly total: number }) => void;

/** Small enough that others who use the disk do not wait for all of the copy at its end. */
const pagesBetweenSyncs = 4_096;
const pagesAtOnce = 256;

/** Writes the copy to the disk as it grows. */
function syncedProgress(file: string, onProgress: CopyProgress | undefined) {
  const descriptor = openSync(file, "r+");
  let synced = 0;
  return {
    progress({ totalPages: total, remainingPages }: BetterSqlite.BackupMetadata): number {
      const done = total - remainingPages;
      onProgress?.({ done, total });
      if (done - synced >= pagesBetweenSyncs) {
        fsyncSync(descriptor);
        synced = done;
      }
      return pagesAtOnce;
    },
    end: () => closeSync(descriptor),
  };
}

/** Copies a database that may be in use to `path`, durably; what was there before is replaced. */
export async function copyDatabase(
  database: SqliteDatabase,
  path: string,
  onProgress?: CopyProgress,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  rmSync(temporary, { force: true });
  // It holds password hashes: nobody else may read it, not even while it grows.
  closeSync(openSync(temporary, "wx", 0o640));
  const synced = syncedProgress(temporary, onProgress);
  try {
    await database.backup(temporary, { progress: synced.progress });
    const handle = await open(temporary, "r+");
    await syncFile(handle).finally(() => handle.close());
    await rename(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    synced.end();
  }
  await syncDirectory(dirname(path));
}
