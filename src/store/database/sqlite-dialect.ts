/**
 * Everything that only SQLite has: the driver, the pragmas, the version check, generated ids.
 * The rest of `store/` is written so that a PostgreSQL dialect can stand in for this file.
 */
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import BetterSqlite from "better-sqlite3";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
} from "kysely";

import { StoreError, type StoreErrorKind } from "../../lib/store-error.ts";
import { QueryCompiler } from "./dialects/sqlite-query-compiler.ts";
import type { LockedLanes } from "./fence.ts";
import type { QueryRun, StatementConnection } from "./prepared-query.ts";

/** Below it a WAL reset could corrupt the database. */
const oldestSafeSqlite = [3, 51, 3] as const;
/** Short, because it blocks the event loop; longer waits happen outside of it. */
const busyTimeoutMs = 50;
const statementCacheSize = 500;

function checkVersion(version: string): void {
  const parts = version.split(".").map(Number);
  for (const [index, least] of oldestSafeSqlite.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least) {
      throw new Error(`SQLite ${version} is too old: ${oldestSafeSqlite.join(".")} or newer is needed`);
    }
  }
}

function setPragmas(database: BetterSqlite.Database, isNew: boolean): void {
  if (isNew) database.pragma("auto_vacuum = INCREMENTAL");
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.pragma("foreign_keys = ON");
  database.pragma("temp_store = MEMORY");
  database.pragma("cache_size = -16384");
  // Fewer, larger checkpoints: each one copies every changed page back once.
  database.pragma("wal_autocheckpoint = 4000");
  database.pragma("journal_size_limit = 67108864");
}

/** Until the first statement has run, the pragmas return the requested values and not those in force. */
function verifyPragmas(database: BetterSqlite.Database, path: string): void {
  database.prepare("select count(*) from sqlite_schema").get();
  const mode = database.pragma("journal_mode", { simple: true });
  const synchronous = database.pragma("synchronous", { simple: true });
  if (mode !== "wal" || synchronous !== 2) {
    throw new Error(
      `${path}: journal_mode is ${mode}, synchronous is ${synchronous}; wanted wal and 2 (FULL)`,
    );
  }
}

/** Mostly the caller is another user than the daemon's. */
const forbidden = ["SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"];

/** The driver's own messages do not name the file. */
function openingError(error: unknown, path: string): unknown {
  const translated = toStoreError(error);
  if (!(translated instanceof StoreError) || !(error instanceof BetterSqlite.SqliteError)) return translated;
  const isForbidden = forbidden.some((code) => error.code.startsWith(code));
  const remedy = isForbidden
    ? `; run dropgate as the user that owns ${dirname(path)}, and see that it may write there`
    : "";
  return new StoreError(translated.kind, `${path}: ${translated.message}${remedy}`, error);
}

function openFile(path: string, timeout: number): BetterSqlite.Database {
  try {
    return new BetterSqlite(path, { timeout });
  } catch (error) {
    throw openingError(error, path);
  }
}

/** Opens the database file with the pragmas that durability rests on, and checks that they hold. */
export function openSqlite(path: string, options: { readonly isNew: boolean }): BetterSqlite.Database {
  const database = openFile(path, busyTimeoutMs);
  try {
    // It holds password hashes; the write-ahead log gets the mode of the database.
    if (options.isNew) chmodSync(path, 0o640);
    checkVersion(sqliteVersionOf(database));
    setPragmas(database, options.isNew);
    verifyPragmas(database, path);
    return database;
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
}

/** A number that each commit of another connection changes, in this process or in another. */
export function dataVersionOf(database: BetterSqlite.Database): () => number {
  const statement = database.prepare<[], number>("pragma data_version").pluck();
  return () => statement.get() ?? 0;
}

/** Gives free pages back to the file system, a few at a time; tells whether there are more. */
export function vacuumIncrementally(database: BetterSqlite.Database, pages: number): boolean {
  database.pragma(`incremental_vacuum(${Math.trunc(pages)})`);
  return Number(database.pragma("freelist_count", { simple: true })) > 0;
}

/** By the beginning of the driver's code; what is not listed (full, read-only, a disk error) is `unavailable`. */
const kindsByCode: readonly (readonly [string, StoreErrorKind])[] = [
  ["SQLITE_BUSY", "busy"],
  ["SQLITE_LOCKED", "busy"],
  ["SQLITE_CORRUPT", "damaged"],
  ["SQLITE_NOTADB", "damaged"],
  // "no such column", "no such table": of the statement and the schema, not of the values.
  ["SQLITE_ERROR", "unfit"],
  ["SQLITE_SCHEMA", "unfit"],
  ["SQLITE_CONSTRAINT", "refused"],
  ["SQLITE_MISMATCH", "refused"],
  ["SQLITE_RANGE", "refused"],
  ["SQLITE_TOOBIG", "refused"],
  ["SQLITE_MISUSE", "refused"],
];

/** What a code of SQLite means for the store. */
export function storeErrorKindOf(code: string): StoreErrorKind {
  return kindsByCode.find(([prefix]) => code.startsWith(prefix))?.[1] ?? "unavailable";
}

/** Translates the driver's error; anything else is given back as it is. */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof BetterSqlite.SqliteError)) return error;
  return new StoreError(storeErrorKindOf(error.code), error.message, error);
}

/** As 3.50.4; "unknown" when it does not say. */
export function sqliteVersionOf(database: BetterSqlite.Database): string {
  const row = database.prepare<[], { version: string }>("select sqlite_version() as version").get();
  return row?.version ?? "unknown";
}

/**
 * Takes a lock that the kernel gives back when the process dies, however it dies: an exclusive lock on a small database
 * of its own, so that no two copies of SQLite share a file. Throws when another process has it.
 */
export function lockExclusively(path: string): { release(): void } {
  const database = openFile(path, 0);
  try {
    database.pragma("journal_mode = MEMORY");
    database.exec("begin exclusive");
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
  return { release: () => database.close() };
}

/** The same lock beside others of its kind, which keep whoever wants it exclusively away. */
export function lockShared(path: string): { release(): void } {
  const database = openFile(path, 0);
  try {
    database.pragma("journal_mode = MEMORY");
    database.exec("begin");
    // The first read takes it.
    database.prepare("select count(*) from sqlite_schema").get();
  } catch (error) {
    database.close();
    throw openingError(error, path);
  }
  return { release: () => database.close() };
}

/** A connection that changes nothing. */
export function openForReading(path: string): BetterSqlite.Database {
  try {
    return new BetterSqlite(path, { readonly: true, timeout: 5_000 });
  } catch (error) {
    throw openingError(error, path);
  }
}

/** A connection whose reads all see the database as it is now. While it is open, the write-ahead log only grows. */
export function openSnapshot(path: string): BetterSqlite.Database {
  const database = openForReading(path);
  database.exec("begin");
  // The snapshot is taken by the first read.
  database.prepare("select count(*) from sqlite_schema").get();
  return database;
}

/** Makes one file of a database that nobody has open, without a write-ahead log, also for those that read it later. */
export function makeOneFile(path: string): void {
  const database = openFile(path, busyTimeoutMs);
  try {
    const mode = database.pragma("journal_mode = DELETE", { simple: true });
    if (mode !== "delete") throw new Error(`${path}: journal_mode is ${String(mode)}; wanted delete`);
  } finally {
    database.close();
  }
}

const maxProblemsOfTable = 3;

function damageOf(database: BetterSqlite.Database, table: string): readonly string[] {
  try {
    const statement = `quick_check("${table}")`;
    const rows = database.pragma(statement) as readonly { readonly quick_check: string }[];
    const problems = rows.map((row) => row.quick_check).filter((text) => text !== "ok");
    return problems.slice(0, maxProblemsOfTable).map((text) => `${table}: ${text.replaceAll("\n", " ")}`);
  } catch (error) {
    const translated = toStoreError(error);
    if (translated instanceof StoreError && translated.kind === "damaged")
      return [`${table}: ${translated.message}`];
    throw translated;
  }
}

/** Checks one table after the other, with its indexes: the problems that SQLite finds. */
export function* lookForDamage(
  database: BetterSqlite.Database,
): Generator<{ readonly problems: readonly string[]; readonly tookMs: number }> {
  const tables = database
    .prepare<[], string>("select name from sqlite_schema where type = 'table' order by name")
    .pluck()
    .all();
  for (const table of tables) {
    const begun = performance.now();
    const problems = damageOf(database, table);
    yield { problems, tookMs: performance.now() - begun };
  }
}

type CachedStatement = BetterSqlite.Statement<unknown[], unknown>;

/** Called with every error of a statement, translated. */
type OnStoreFault = (error: unknown) => void;

class SqliteConnection implements StatementConnection<CachedStatement> {
  readonly answersAtOnce = true;
  readonly undoesUnitsAlone = true;
  readonly #database: BetterSqlite.Database;
  readonly #onFault: OnStoreFault;
  /** Preparing costs as much as running: statements are kept by their text, the longest unused goes first. */
  readonly #statements = new Map<string, CachedStatement>();

  #statementsInTurn = Number.POSITIVE_INFINITY;
  /** Statements to go until others get their turn. */
  #leftInTurn = Number.POSITIVE_INFINITY;

  constructor(database: BetterSqlite.Database, onFault: OnStoreFault) {
    this.#database = database;
    this.#onFault = onFault;
  }

  giveTurnsEvery(statements: number): void {
    this.#statementsInTurn = statements;
    this.#leftInTurn = statements;
  }

  async lockFor(): Promise<LockedLanes> {
    // A transaction that writes is the only one, and so is the process.
    return undefined;
  }

  /** Passes on the result of the driver; now and then only in the next turn of the event loop. */
  #answer<Result>(result: Result): Promise<Result> {
    this.#leftInTurn -= 1;
    if (this.#leftInTurn > 0) return Promise.resolve(result);
    this.#leftInTurn = this.#statementsInTurn;
    return setImmediate(result);
  }

  #noted(error: unknown): unknown {
    const translated = toStoreError(error);
    this.#onFault(translated);
    return translated;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return this.#answer(this.#run<R>(this.#statementFor(query.sql), query.parameters));
    } catch (error) {
      return Promise.reject(this.#noted(error));
    }
  }

  prepare(sql: string): CachedStatement {
    try {
      return this.#database.prepare<unknown[]>(sql);
    } catch (error) {
      throw this.#noted(error);
    }
  }

  runPrepared<R>(statement: CachedStatement, parameters: readonly unknown[]): Promise<QueryRun<R>> {
    try {
      if (statement.reader)
        return this.#answer({ rows: statement.all(parameters) as R[], affected: 0, insertedId: 0 });
      const { changes, lastInsertRowid } = statement.run(parameters);
      return this.#answer({ rows: [], affected: changes, insertedId: Number(lastInsertRowid) });
    } catch (error) {
      return Promise.reject(this.#noted(error));
    }
  }

  firstPrepared<R, Value>(
    statement: CachedStatement,
    parameters: readonly unknown[],
    read: (row: R) => Value,
  ): Promise<Value | undefined> {
    try {
      const row = statement.get(parameters) as R | undefined;
      return this.#answer(row === undefined ? undefined : read(row));
    } catch (error) {
      return Promise.reject(this.#noted(error));
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const statement = this.#database.prepare(query.sql);
    for (const row of statement.iterate(...query.parameters)) yield { rows: [row as R] };
  }

  #run<R>(statement: CachedStatement, parameters: readonly unknown[]): QueryResult<R> {
    if (statement.reader) return { rows: statement.all(...parameters) as R[] };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  #statementFor(sql: string): CachedStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare<unknown[]>(sql);
      const oldest =
        this.#statements.size >= statementCacheSize ? this.#statements.keys().next().value : undefined;
      if (oldest !== undefined) this.#statements.delete(oldest);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

class SqliteDriver implements Driver {
  readonly #database: BetterSqlite.Database;
  readonly #connection: SqliteConnection;

  constructor(database: BetterSqlite.Database, onFault: OnStoreFault) {
    this.#database = database;
    this.#connection = new SqliteConnection(database, onFault);
  }

  async init(): Promise<void> {
    // The database is open already: its owner opened it and closes it.
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // With a full disk SQLite has rolled back by itself.
    if (this.#database.inTransaction) await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  async releaseConnection(): Promise<void> {
    // One connection, never pooled: writers are put in line by the group commit.
  }

  async destroy(): Promise<void> {
    // See `init`.
  }
}

/** A Kysely dialect over an open better-sqlite3 database, with prepared statements kept by their text. */
export function sqliteDialect(
  database: BetterSqlite.Database,
  onFault: OnStoreFault = () => undefined,
): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteDriver(database, onFault),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new QueryCompiler(),
  };
}
