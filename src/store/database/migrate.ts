/**
 * Brings the schema of a database up to date: the steps of its plan, forward only, one transaction each. `meta` keeps the
 * number and the fingerprint of the schema. A crash leaves the schema between two steps, from which the next start goes on.
 *
 * A database with content is copied first: `dropgate.db.before-N` is the database as it was before schema N. Between the
 * steps `meta` says that it was copied, so that what goes on after a crash puts no half-migrated database in its place.
 */
import { existsSync } from "node:fs";
import type { Logger } from "../../lib/logs/log.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { OperatorError } from "../../lib/operator-error.ts";
import { migrations } from "./migrations/migrations.ts";
import { currentSchema, type FoundSchema, planSchema, type SchemaStep } from "./schema-plan.ts";
import {
  changeSchema,
  copyDatabase,
  fingerprintOf,
  readSchema,
  type SchemaParts,
  type SqliteDatabase,
  schemaMadeBy,
} from "./sqlite-schema.ts";

/**
 * In `meta` from the first step to the last one: the schema that the copy was made before. Not earlier: until then the
 * older version can go on with the database, and the copy would be of a time before that.
 */
const copiedKey = "copied_before_schema";

interface Noted {
  /** 0 when none is noted. */
  readonly number: number;
  readonly fingerprint: string | undefined;
  readonly copiedBefore: number | undefined;
}

/** The table `meta`; undefined when there is none. */
export function readMeta(database: SqliteDatabase): ReadonlyMap<string, string> | undefined {
  const isThere = database.prepare("select 1 from sqlite_schema where name = 'meta'").get() !== undefined;
  if (!isThere) return undefined;
  const rows = database
    .prepare<[], { readonly key: string; readonly value: string }>("select key, value from meta")
    .all();
  return new Map(rows.map(({ key, value }) => [key, value]));
}

function readNoted(database: SqliteDatabase): Noted {
  const meta = readMeta(database);
  const copied = meta?.get(copiedKey);
  return {
    number: Number(meta?.get("schema") ?? 0),
    fingerprint: meta?.get("fingerprint"),
    copiedBefore: copied === undefined ? undefined : Number(copied),
  };
}

function putMeta(database: SqliteDatabase, key: string, value: string | number): void {
  const upsert = database.prepare<[string, string]>(
    "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value",
  );
  upsert.run(key, String(value));
}

function note(
  database: SqliteDatabase,
  { number, fingerprint }: Pick<FoundSchema, "number" | "fingerprint">,
): void {
  putMeta(database, "schema", number);
  putMeta(database, "fingerprint", fingerprint);
}

/** The schema of an open database, with its tables and indexes. */
export function findSchema(database: SqliteDatabase): FoundSchema & { readonly parts: SchemaParts } {
  const parts = readSchema(database);
  const { number } = readNoted(database);
  return { number, fingerprint: fingerprintOf(parts), isEmpty: parts.size === 0, parts };
}

/** Names of tables and indexes that differ from the schema of that number. */
function differences(parts: SchemaParts, number: number): string {
  const wanted = schemaMadeBy(migrations.slice(0, number).map(({ sql }) => sql));
  const missing = [...wanted.keys()].filter((name) => !parts.has(name)).map((name) => `${name} is missing`);
  const strange = [...parts.keys()].filter((name) => !wanted.has(name)).map((name) => `${name} is unknown`);
  const other = [...wanted]
    .filter(([name, definition]) => parts.has(name) && parts.get(name) !== definition)
    .map(([name]) => `${name} differs`);
  const all = [...missing, ...other, ...strange];
  return all.length > 6 ? `${all.slice(0, 6).join(", ")} and ${all.length - 6} more` : all.join(", ");
}

/** Why a database cannot be used, with the remedy. */
export function schemaFault(
  kind: "newer" | "unknown",
  { number, fingerprint, parts }: FoundSchema & { readonly parts: SchemaParts },
): string {
  if (kind === "newer") {
    return (
      `the database has schema ${number}, this dropgate knows ${currentSchema}: install the newer version again, or ` +
      `restore the copy that was made before the migration (dropgate.db.before-N)`
    );
  }
  if (number === 0) {
    return (
      "the database has tables, but does not say which schema they are: it is not one of dropgate's, or it was damaged; " +
      "restore it from a backup"
    );
  }
  return (
    `the database says that it has schema ${number}, but its tables are not those of any schema ${number} that this ` +
    `dropgate knows (fingerprint ${fingerprint}; ${differences(parts, number)}): it was made by another build, or ` +
    "changed by hand; start the build that made it, or restore the database from a backup"
  );
}

export interface MigrationSurroundings {
  /** Of the database file. */
  readonly path: string;
  readonly log?: Pick<Logger, "info"> | undefined;
  /** Runs a migration of existing data while nobody else uses it; without it, the caller ensures that. */
  readonly exclusively?: ((work: () => Promise<void>) => Promise<void>) | undefined;
}

async function copyBefore(database: SqliteDatabase, { path, log }: MigrationSurroundings): Promise<void> {
  const copy = `${path}.before-${currentSchema}`;
  if (readNoted(database).copiedBefore === currentSchema && existsSync(copy)) return;
  log?.info({ copy }, "copying the database before its migration");
  await copyDatabase(database, copy);
}

/** Whether it did the step; false when another process has done it meanwhile. */
function runStep(database: SqliteDatabase, step: SchemaStep, isLast: boolean): boolean {
  if (findSchema(database).fingerprint === step.fingerprint) return false;
  database.exec(step.sql);
  const { fingerprint } = findSchema(database);
  if (fingerprint !== step.fingerprint) {
    const left = `left the schema ${fingerprint} instead of ${step.fingerprint}`;
    throw new Error(`the migration "${step.name}" ${left}: it was undone`);
  }
  note(database, step);
  if (isLast) database.prepare<[string]>("delete from meta where key = ?").run(copiedKey);
  else putMeta(database, copiedKey, currentSchema);
  killPoint("migrate.stepDone");
  return true;
}

function runSteps(
  database: SqliteDatabase,
  steps: readonly SchemaStep[],
  log?: MigrationSurroundings["log"],
): void {
  for (const step of steps) {
    const isDone = changeSchema(database, () => runStep(database, step, step === steps.at(-1)));
    if (isDone) log?.info({ schema: step.number, migration: step.name }, "database migrated");
  }
}

/** Rejects when the database was written by a newer dropgate, or has a schema that no dropgate made. */
export async function migrate(database: SqliteDatabase, surroundings: MigrationSurroundings): Promise<void> {
  const found = findSchema(database);
  const plan = planSchema(found);
  if (plan.kind !== "steps") throw new OperatorError(schemaFault(plan.kind, found));
  database.exec("create table if not exists meta (key text not null primary key, value text not null)");
  killPoint("migrate.begun");
  if (plan.steps.length === 0) {
    // Until 0.1.0 only the number was stored.
    if (readNoted(database).fingerprint !== found.fingerprint) note(database, found);
    return;
  }
  if (found.isEmpty) return runSteps(database, plan.steps);
  const { exclusively = (work) => work(), log } = surroundings;
  await exclusively(async () => {
    await copyBefore(database, surroundings);
    runSteps(database, plan.steps, log);
  });
}
