/**
 * Opens the state: one SQLite file, read through one connection and written through another; or a database of PostgreSQL
 * (`postgres/open-postgres.ts`), of which the state directory has the marker alone.
 *
 * Readers never see a half-done unit of work: they have a connection of their own, and WAL gives them the last commit.
 * A marker beside the database has the same instance id, because SQLite silently creates an empty database where one is
 * missing.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Kysely } from "kysely";
import { writeFileDurably } from "../../lib/files/durable-file.ts";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { OperatorError } from "../../lib/operator-error.ts";
import { newGuid } from "../../lib/ids.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { ArrivalTable } from "../cluster/arrivals.ts";
import type { LeaseTable } from "../cluster/lease-table.ts";
import type { Listeners } from "./announcements.ts";
import type { Fence } from "./fence.ts";
import type { GroupCommit, Work } from "./groups/group-commit.ts";
import type { DatabaseSizes } from "./database-sizes.ts";
import type { Migration } from "./migrations/migrations.ts";
import type { DrainPatience } from "./postgres/older-programs.ts";
import { findSchema, migrate, type MigrationSurroundings, readMeta } from "./migrate.ts";
import type { Owner } from "./owner.ts";
import { connectionOf } from "./prepared-query.ts";
import type { Tables } from "./schema.ts";
import type { StatePlace } from "./state-place.ts";
import { StoreCondition } from "./store-condition.ts";
import {
  dataVersionOf,
  openSqlite,
  sqliteDialect,
  toStoreError,
  vacuumIncrementally,
} from "./sqlite-dialect.ts";
import type { SqliteDatabase } from "./sqlite-schema.ts";
import { assembleStore } from "./dialects/assemble-store.ts";
import { areUnitsChecked, watchSqlite } from "./groups/unit-checks.ts";
import { setDataVersion } from "./version-cache.ts";

export const databaseFileName = "dropgate.db";
export const markerFileName = "dropgate.instance";
/** The database of a copy that is not complete. */
export const unfinishedCopyName = "dropgate.db.copying";

export type Reader = Kysely<Tables>;

export interface Store {
  readonly instanceId: string;
  /** Whether the database is one of a server, which no restart of this process would mend. */
  readonly isOnServer: boolean;
  /** The faults of statements since the store was opened. */
  readonly condition: StoreCondition;
  /** Commits since the store was opened. */
  readonly commits: GroupCommit["figures"];
  /** Committed state only. */
  readonly read: Reader;
  /**
   * Runs what reads the state as of one moment, however long it takes, where the database can do that beside other readers;
   * SQLite cannot, but gives ids in the order of commits. Gives what `work` gives.
   */
  asOfNow<T>(work: (read: Reader) => Promise<T>): Promise<T>;
  /**
   * Runs a unit of work; resolves after it is durable. Units share commits but fail alone. `whose`: see `Owner`. Rejects with a
   * `FencedError` when the fence is no longer in force, with an `UnseenArrivalsError` when it does not know all files.
   */
  write<T>(whose: Owner, work: Work<T>, fence?: Fence): Promise<T>;
  /** The same for a unit that nobody waits for: it goes with the next commit, or a tenth of a second later. */
  writeSoon<T>(whose: Owner, work: Work<T>, fence?: Fence): Promise<T>;
  /** The leases that nodes of this database share; undefined where one process has all companies for ever. */
  readonly leases: LeaseTable | undefined;
  /** Files that nodes enter for one another; undefined as the leases are. */
  readonly arrivals: ArrivalTable | undefined;
  /** Calls `listener` after each commit with such an announcement; returns a function that ends that. */
  listen: Listeners["listen"];
  /**
   * From now on each unit of work is refused, with this reason; undefined: no more. Resolves when none is running. What may write
   * is known by `leases`: a program that has become too old for the database.
   */
  refuseWrites(reason: string | undefined): Promise<void>;
  /** How large the database is. Rejects with a `StoreError`. */
  sizes(): Promise<DatabaseSizes>;
  /** Returns free pages to the file system; tells whether there are more. Call it when idle, with few at a time. */
  vacuum(pages: number): boolean;
  close(): Promise<void>;
}

/** The instance in the marker beside a database; undefined when there is none. */
export function readMarker(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function readInstanceId(db: Kysely<Tables>): Promise<string | undefined> {
  const row = await db.selectFrom("meta").select("value").where("key", "=", "instance").executeTakeFirst();
  return row?.value;
}

/**
 * Refuses a database that its marker does not name. Runs before the migration: so a database of another place stays
 * unchanged, and an empty file that a disk or a restore has left gets no tables.
 */
function refuseOther(database: SqliteDatabase, stateDir: string): void {
  const marker = readMarker(join(stateDir, markerFileName));
  if (marker === undefined) return;
  const known = readMeta(database)?.get("instance");
  if (known === marker) return;
  const { isEmpty, number } = findSchema(database);
  if (isEmpty) throw new OperatorError(emptyFault(stateDir));
  // Tables without a number: the plan of the schema identifies them.
  if (number === 0) return;
  throw new OperatorError(
    `the database beside ${join(stateDir, markerFileName)} is not the one that belongs there (it says ` +
      `${known ?? "nothing"}, the marker ${marker}): restore the right database, or remove the marker if this one is meant`,
  );
}

async function agreeOnInstance(db: Kysely<Tables>, markerPath: string): Promise<string> {
  const known = await readInstanceId(db);
  if (readMarker(markerPath) !== undefined && known !== undefined) return known;
  // On a database server another node may note one at the same moment: the first stays.
  const noted = { key: "instance", value: known ?? newGuid() };
  if (known === undefined)
    await db
      .insertInto("meta")
      .values(noted)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  const instanceId = (await readInstanceId(db)) ?? noted.value;
  killPoint("store.instanceNoted");
  await writeFileDurably(markerPath, `${instanceId}\n`);
  return instanceId;
}

/** How a migration that is due is run, and where the database is. */
export interface OpenOptions extends Omit<MigrationSurroundings, "path" | "log"> {
  readonly log?: Pick<Logger, "info" | "warn"> | undefined;
  /** `postgres://user:password@host/database`; without it, the database is the SQLite file of the state directory. */
  readonly url?: string | undefined;
  /** The daemon that opens it: a server of databases shows its name, and bounds its transactions by its lease. */
  readonly node?: { readonly name: string; readonly leaseMs: number } | undefined;
  /** The migrations that the program knows, for PostgreSQL; all, but for tests. */
  readonly known?: readonly Migration[] | undefined;
  /** How long a migration of PostgreSQL waits for older nodes. */
  readonly patience?: DrainPatience | undefined;
}

/** `unmarked`: the database is there, its marker is not. `lost`: the other way round. */
export type StatePresence = "there" | "none" | "unmarked" | "lost";

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (systemCodeOf(error) !== "EACCES") throw error;
    const remedy = "run dropgate as the user that owns it, or as root";
    throw new OperatorError(`${dirname(path)} cannot be entered: ${remedy}`, { cause: error });
  }
}

/** Whether there is a state; a database on a server is not asked. Throws when the folder cannot be entered. */
export function findState({ stateDir, url }: StatePlace): StatePresence {
  if (url !== undefined) return isThere(join(stateDir, markerFileName)) ? "there" : "none";
  const [hasDatabase, hasMarker] = [databaseFileName, markerFileName].map((name) =>
    isThere(join(stateDir, name)),
  );
  if (hasDatabase === hasMarker) return hasDatabase ? "there" : "none";
  return hasDatabase ? "unmarked" : "lost";
}

/** Why a state that `init` made is not found, with what to do. */
export function stateFault(stateDir: string, presence: Exclude<StatePresence, "there">): string {
  const marker = join(stateDir, markerFileName);
  switch (presence) {
    case "none":
      return isThere(stateDir)
        ? `there is no state in ${stateDir}, neither database nor marker: mount the file system that has it, or correct ` +
            "stateDir; only `dropgate init` makes a new one"
        : `the state directory ${stateDir} does not exist: mount the file system that has it, or correct stateDir; only ` +
            "`dropgate init` makes a new one";
    case "unmarked":
      return (
        `${marker} is missing beside the database: restore both together; if this database is meant, \`dropgate init\` ` +
        "with its company and user makes the marker"
      );
    case "lost":
      if (isThere(join(stateDir, unfinishedCopyName)))
        return `${join(stateDir, unfinishedCopyName)} is of a copy that was not finished: make it again with \`dropgate store copy --anew\`, or set \`store\` to the database that was copied`;
      return `${join(stateDir, databaseFileName)} is missing although ${marker} says that it was there: restore it from a backup, or set \`store\` if it is on PostgreSQL`;
  }
}

/** Why a database without tables, beside its marker, is not used, with what to do. */
export function emptyFault(stateDir: string): string {
  const [database, marker] = [join(stateDir, databaseFileName), join(stateDir, markerFileName)];
  return `${database} is empty although ${marker} says that it was there: restore it from a backup`;
}

/** Opens a state that `init` has made, and never makes one: a mistyped `stateDir` must not become an empty state. */
export async function openExistingStore(stateDir: string, options: OpenOptions = {}): Promise<Store> {
  const presence = findState({ stateDir, url: options.url });
  if (presence !== "there") throw new OperatorError(stateFault(stateDir, presence));
  return await openStore(stateDir, options);
}

/**
 * Opens (or makes) the database in `stateDir` and migrates it. Rejects when the file is gone although its marker is
 * there, when marker and database differ, or when the schema is newer than the code or unknown to it.
 */
export async function openStore(stateDir: string, options: OpenOptions = {}): Promise<Store> {
  const { url, node, ...surroundings } = options;
  const markerPath = join(stateDir, markerFileName);
  if (url === undefined) return await openSqliteStore(stateDir, surroundings);
  // Loaded only where it is used.
  const { openPostgresStore } = await import("./postgres/open-postgres.ts");
  const agree = (db: Kysely<Tables>) => agreeOnInstance(db, markerPath);
  return await openPostgresStore({ ...surroundings, url, node, marker: readMarker(markerPath), agree });
}

async function sizesOfFile(path: string): Promise<DatabaseSizes> {
  const sizeOf = async (file: string) => (await stat(file).catch(unlessMissing))?.size ?? 0;
  return { file: await sizeOf(path), wal: await sizeOf(`${path}-wal`) };
}

async function openSqliteStore(
  stateDir: string,
  options: Omit<MigrationSurroundings, "path">,
): Promise<Store> {
  const path = join(stateDir, databaseFileName);
  const markerPath = join(stateDir, markerFileName);
  const isNew = !existsSync(path);
  if (findState({ stateDir }) === "lost") throw new OperatorError(stateFault(stateDir, "lost"));
  const condition = new StoreCondition();
  const note = (error: unknown) => condition.note(error);
  const writer = openSqlite(path, { isNew });
  try {
    killPoint("store.opened");
    refuseOther(writer, stateDir);
    await migrate(writer, { ...options, path });
    killPoint("store.migrated");
    const write = new Kysely<Tables>({ dialect: sqliteDialect(writer, note) });
    const instanceId = await agreeOnInstance(write, markerPath);
    const reader = openSqlite(path, { isNew: false });
    const read = new Kysely<Tables>({ dialect: sqliteDialect(reader, note) });
    // Prepared queries then use it directly.
    await connectionOf(read);
    setDataVersion(read, dataVersionOf(reader));
    return assembleStore({
      isOnServer: false,
      ...{ leases: undefined, arrivals: undefined },
      ...{ instanceId, condition, read, write },
      asOfNow: (work) => work(read),
      watch: areUnitsChecked() ? watchSqlite(writer) : undefined,
      sizes: () => sizesOfFile(path),
      vacuum: (pages) => vacuumIncrementally(writer, pages),
      async end() {
        reader.close();
        writer.close();
      },
    });
  } catch (error) {
    writer.close();
    throw toStoreError(error);
  }
}
