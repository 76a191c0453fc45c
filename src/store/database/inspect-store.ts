/** Reads the database of a state directory without changing it: no migration, no new file. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely } from "kysely";
import { type Company, listCompanies } from "../accounts/companies.ts";
import { findUsersByName, type UserRecord } from "../accounts/users.ts";
import { databaseFileName, markerFileName, readMarker } from "./database.ts";
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
import { measureTables, type TableGrowth, usedDatabaseBytes } from "./table-growth.ts";

export type StoreInspection =
  | { readonly kind: "absent" /** The marker says that there was one. */; readonly isMissing: boolean }
  | {
      readonly kind: "present";
      readonly sqliteVersion: string;
      /** The number of the schema, 0 for none. */
      readonly schema: number;
      /** Why the schema cannot be used, with what to do. */
      readonly schemaFault: string | undefined;
      /** Whether the next start migrates it; nothing else is known of it then. */
      readonly isOutdated: boolean;
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
      readonly instanceId: string | undefined;
      readonly marker: string | undefined;
      readonly companies: readonly Company[];
      readonly targets: readonly OutboundTarget[];
      readonly handPauses: readonly HandPause[];
    };

/** Rejects when the file is no usable database, SQLite is too old, or the pragmas do not hold. */
export async function inspectStore(stateDir: string): Promise<StoreInspection> {
  const path = join(stateDir, databaseFileName);
  const marker = readMarker(join(stateDir, markerFileName));
  if (!existsSync(path)) return { kind: "absent", isMissing: marker !== undefined };
  const database = openSqlite(path, { isNew: false });
  try {
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    const found = findSchema(database);
    const plan = planSchema(found);
    const isCurrent = plan.kind === "steps" && plan.steps.length === 0;
    return {
      kind: "present",
      sqliteVersion: sqliteVersionOf(database),
      schema: found.number,
      schemaFault: plan.kind === "steps" ? undefined : schemaFault(plan.kind, found),
      isOutdated: plan.kind === "steps" && !isCurrent,
      restored: isCurrent ? await lookForRestored(db, stateDir) : undefined,
      lastBackup: isCurrent ? await findLastBackup(db) : undefined,
      backupState: isCurrent ? await findBackupState(db) : {},
      pruneClock: isCurrent ? await findPruneClock(db) : undefined,
      newestTime: isCurrent ? await findNewestTime(db) : undefined,
      deliveryHold: isCurrent ? await findDeliveryHold(db) : undefined,
      instanceId: readMeta(database)?.get("instance"),
      marker,
      // Tables of other schemas are not read: they may be missing, or mean something else.
      companies: isCurrent ? await listCompanies(db) : [],
      targets: isCurrent ? await listOutboundTargets(db) : [],
      handPauses: isCurrent ? await listHandPauses(db) : [],
    };
  } finally {
    database.close();
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
  stateDir: string,
  since: readonly number[],
): Promise<readonly StateGrowth[]> {
  const database = openForReading(join(stateDir, databaseFileName));
  try {
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    const sizes = {
      databaseBytes: await usedDatabaseBytes(db),
      filed: await meanFiledBytes(db),
      documentBytes: await meanDocumentBytes(db),
      delivered: await meanDeliveredBytes(db),
    };
    const found: StateGrowth[] = [];
    for (const one of since) found.push({ ...sizes, tables: await measureTables(db, one) });
    return found;
  } finally {
    database.close();
  }
}

/** All users of these names; the database has to be of this version. */
export async function inspectUsers(
  stateDir: string,
  names: readonly string[],
): Promise<readonly UserRecord[]> {
  const database = openForReading(join(stateDir, databaseFileName));
  try {
    const db = new Kysely<Tables>({ dialect: sqliteDialect(database) });
    const found: UserRecord[] = [];
    for (const name of new Set(names)) found.push(...(await findUsersByName(db, name)));
    return found;
  } finally {
    database.close();
  }
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
