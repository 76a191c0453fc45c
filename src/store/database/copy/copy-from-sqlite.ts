/** The SQLite database of a state as the source of a copy: read as of one moment, while no command writes. */
import { join } from "node:path";
import { OperatorError } from "../../../lib/operator-error.ts";
import { databaseFileName, markerFileName, readMarker } from "../database.ts";
import { findSchema, readMeta, schemaFault } from "../migrate.ts";
import { planSchema } from "../schema-plan.ts";
import { openSnapshot, openSqlite, toStoreError } from "../sqlite-dialect.ts";
import type { SqliteDatabase } from "../sqlite-schema.ts";
import type { CopySource } from "./copy-side.ts";
import { sqliteCounters, sqliteRows, sqliteTables } from "./sqlite-rows.ts";

/** Why a source whose schema has this number is not copied, with the remedy. */
export function olderSourceFault(number: number): string {
  return (
    `the database to be copied has schema ${number} of an older version: start dropgate on it once, which migrates ` +
    "it, stop it, and copy then"
  );
}

/** Throws for a database that is not the state of the directory, or has another schema than this version's. */
function requireState(database: SqliteDatabase, stateDir: string): string {
  const found = findSchema(database);
  const plan = planSchema(found);
  if (plan.kind !== "steps") throw new OperatorError(schemaFault(plan.kind, found));
  if (plan.steps.length > 0) throw new OperatorError(olderSourceFault(found.number));
  const [instanceId, marker] = [
    readMeta(database)?.get("instance"),
    readMarker(join(stateDir, markerFileName)),
  ];
  if (instanceId !== undefined && instanceId === marker) return instanceId;
  throw new OperatorError(
    `the database in ${stateDir} is not the one of the marker beside it: restore the right one, then copy`,
  );
}

/** The state directory is locked. */
export function openSqliteSource(stateDir: string): CopySource {
  const path = join(stateDir, databaseFileName);
  const guard = openSqlite(path, { isNew: false });
  try {
    // What a command beside would write now, the copy would not have.
    guard.exec("begin immediate");
    const instanceId = requireState(guard, stateDir);
    const snapshot = openSnapshot(path);
    return {
      instanceId,
      requireUnused: async () => undefined,
      tables: async () => sqliteTables(snapshot),
      rows: (table) => sqliteRows(snapshot, table),
      counters: async () => sqliteCounters(snapshot),
      async close() {
        snapshot.close();
        guard.close();
      },
    };
  } catch (error) {
    guard.close();
    throw toStoreError(error);
  }
}
