/** Reads the database of a state without changing it: no migration, no new file. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely } from "kysely";
import { type Company, listCompanies } from "../accounts/companies.ts";
import { findUsersByName, type UserRecord } from "../accounts/users.ts";
import { databaseFileName, markerFileName, type Reader, readMarker } from "./database.ts";
import type { Examination, Examined } from "./examination.ts";
import { openReader } from "./open-reader.ts";
import type { StatePlace } from "./state-place.ts";
import { type DeliveryHold, findDeliveryHold } from "../outbound/delivery-hold.ts";
import { type HandPause, listHandPauses } from "../outbound/hand-pauses.ts";
import { listOutboundTargets, type OutboundTarget } from "../outbound/outbound-targets.ts";
import {
  type DeliveredBytes,
  type FiledBytes,
  meanDeliveredBytes,
  meanDocumentBytes,
  meanFiledBytes,
} from "../ledger/file-sizes.ts";
import type { Tables } from "./schema.ts";
import { lookForRestored, type Restored } from "./generation.ts";
import { type BackupState, findBackupState } from "./backup-state.ts";
import { findLastBackup, type LastBackup } from "./last-backup.ts";
import { findNewestTime, type NewestTime } from "./newest-time.ts";
import { findSchema, readMeta, schemaFault } from "./migrate.ts";
import { findPruneClock, type PruneClock } from "./prune-clock.ts";
import { planSchema } from "./schema-plan.ts";
import {
  lookForDamage,
  openForReading,
  openSqlite,
  sqliteDialect,
  sqliteVersionOf,
} from "./sqlite-dialect.ts";
import { measureTables, type TableGrowth } from "./table-growth.ts";
import { usedDatabaseBytes } from "./database-sizes.ts";

export type StoreInspection =
  | { readonly kind: "absent" /** The marker says that there was one. */; readonly isMissing: boolean }
  | PresentStore;

export interface PresentStore extends Examination {
  readonly kind: "present";
  /** An older database was restored, and the ledger not verified since. */
  readonly restored: Restored | undefined;
  /** Deliveries are held since a restore. */
  readonly deliveryHold: DeliveryHold | undefined;
  /** The last backup that was taken of it. */
  readonly lastBackup: LastBackup | undefined;
  /** What the daemon has noted of the backups of its schedule. */
  readonly backupState: BackupState;
  /** The newest time that is written in it. */
  readonly newestTime: NewestTime | undefined;
  /** The newest time that retention took for right. */
  readonly pruneClock: PruneClock | undefined;
  readonly marker: string | undefined;
  readonly companies: readonly Company[];
  readonly targets: readonly OutboundTarget[];
  readonly handPauses: readonly HandPause[];
}

function examineSqlite(path: string): Examined {
  const database = openSqlite(path, { isNew: false });
  try {
    const found = findSchema(database);
    const plan = planSchema(found);
    return {
      engine: `SQLite ${sqliteVersionOf(database)}, WAL, synchronous=FULL`,
      server: undefined,
      schema: found.number,
      schemaFault: plan.kind === "steps" ? undefined : schemaFault(plan.kind, found),
      isOutdated: plan.kind === "steps" && plan.steps.length > 0,
      instanceId: readMeta(database)?.get("instance"),
      read: new Kysely<Tables>({ dialect: sqliteDialect(database) }),
      close: async () => void database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function examine({ stateDir, url }: StatePlace, marker: string | undefined) {
  if (url === undefined) {
    const path = join(stateDir, databaseFileName);
    return existsSync(path) ? examineSqlite(path) : undefined;
  }
  if (marker === undefined) return undefined;
  const { examinePostgres } = await import("./postgres/examine-postgres.ts");
  return await examinePostgres(url, marker);
}

/** Rejects when the database cannot be used or asked, SQLite is too old, or its pragmas do not hold. */
export async function inspectStore(place: StatePlace): Promise<StoreInspection> {
  const { stateDir } = place;
  const marker = readMarker(join(stateDir, markerFileName));
  const examined = await examine(place, marker);
  if (examined === undefined) return { kind: "absent", isMissing: marker !== undefined };
  const { read, close, ...known } = examined;
  try {
    const isCurrent = known.schemaFault === undefined && !known.isOutdated;
    return {
      ...{ kind: "present", marker, ...known },
      restored: isCurrent
        ? await lookForRestored({ read, isOnServer: place.url !== undefined }, stateDir)
        : undefined,
      lastBackup: isCurrent ? await findLastBackup(read) : undefined,
      backupState: isCurrent ? await findBackupState(read) : {},
      pruneClock: isCurrent ? await findPruneClock(read) : undefined,
      newestTime: isCurrent ? await findNewestTime(read) : undefined,
      deliveryHold: isCurrent ? await findDeliveryHold(read) : undefined,
      // Tables of other schemas are not read: they may be missing, or mean something else.
      companies: isCurrent ? await listCompanies(read) : [],
      targets: isCurrent ? await listOutboundTargets(read) : [],
      handPauses: isCurrent ? await listHandPauses(read) : [],
    };
  } finally {
    await close();
  }
}

async function reading<T>(place: StatePlace, work: (read: Reader) => Promise<T>): Promise<T> {
  const { read, close } = await openReader(place);
  try {
    return await work(read);
  } finally {
    await close();
  }
}

/** What there is to know of how a state grows. */
export interface StateGrowth {
  readonly tables: readonly TableGrowth[];
  readonly databaseBytes: number;
  readonly filed: FiledBytes;
  readonly documentBytes: number;
  readonly delivered: readonly DeliveredBytes[];
}

/** How the state has grown since each of these times, milliseconds UTC. */
export async function inspectGrowth(
  place: StatePlace,
  since: readonly number[],
): Promise<readonly StateGrowth[]> {
  return await reading(place, async (read) => {
    const sizes = {
      // On a server, it fills none of the disks that are known here.
      databaseBytes: place.url === undefined ? await usedDatabaseBytes(read) : 0,
      filed: await meanFiledBytes(read),
      documentBytes: await meanDocumentBytes(read),
      delivered: await meanDeliveredBytes(read),
    };
    const found: StateGrowth[] = [];
    for (const one of since) found.push({ ...sizes, tables: await measureTables(read, one) });
    return found;
  });
}

/** All users of these names; the database has to be of this version. */
export async function inspectUsers(
  place: StatePlace,
  names: readonly string[],
): Promise<readonly UserRecord[]> {
  return await reading(place, async (read) => {
    const found: UserRecord[] = [];
    for (const name of new Set(names)) found.push(...(await findUsersByName(read, name)));
    return found;
  });
}

/** What SQLite finds wrong with the tables of the database, a few findings of each; it reads all of them. */
export function findDamage(stateDir: string): readonly string[] {
  const database = openForReading(join(stateDir, databaseFileName));
  try {
    return [...lookForDamage(database)].flatMap(({ problems }) => problems);
  } finally {
    database.close();
  }
}
