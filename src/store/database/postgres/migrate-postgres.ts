/**
 * Brings the schema of a database of PostgreSQL up to date, forward only. Each step is one transaction, under a lock that one
 * process has at a time: who waited for it finds the step done. A database that is up to date needs no lock.
 *
 * The first step makes the tables of schema 21 as a whole. From 22 on each migration has its text for either database.
 */
import { killPoint } from "../../../lib/kill-point.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import type { MigrationSurroundings } from "../migrate.ts";
import { migrations } from "../migrations/migrations.ts";
import { unfinishedCopyKey } from "../copy/copied-tables.ts";
import { currentSchema } from "../schema-plan.ts";
import { findPostgres, type FoundPostgres } from "./postgres-schema.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { sql as exchange } from "./schema-21-exchange.ts";
import { sql as gateway } from "./schema-21-gateway.ts";

interface PostgresStep {
  readonly name: string;
  /** Of the schema that it leaves, as its fingerprint. */
  readonly number: number;
  readonly fingerprint: string;
  readonly sql: string;
}

const firstSchema = 21;

const meta =
  'create table meta (key text collate "C" not null primary key, value text collate "C" not null);';

/** Those of a list of migrations that concern PostgreSQL; throws where one after schema 21 has no text for it. */
function stepsOf(known: typeof migrations): readonly PostgresStep[] {
  const later = known.slice(firstSchema).map(({ name, postgres }, index) => {
    if (postgres === undefined) throw new Error(`the migration "${name}" has no text for PostgreSQL`);
    return { name, number: firstSchema + index + 1, ...postgres };
  });
  const first = {
    name: `tables of schema ${firstSchema}`,
    number: firstSchema,
    fingerprint: "e007564792df94232536363a0013b578",
    sql: `${meta}${gateway}${exchange}`,
  };
  return [first, ...later];
}

const steps = stepsOf(migrations);

/** Any number that no other program takes in the same database. */
const migrationLock = 7_061_021;

/** Why a database has a schema that this dropgate does not know, with the remedy. */
export function schemaFault({ number, fingerprint, isEmpty }: FoundPostgres): string | undefined {
  if (number === 0 && isEmpty) return undefined;
  if (number > currentSchema) {
    return (
      `the database has schema ${number}, this dropgate knows ${currentSchema}: install the newer version again, or ` +
      "restore a backup from before the migration"
    );
  }
  if (number === 0)
    return "the database has tables that are not dropgate's: name a database of its own in `store`";
  if (steps.some((step) => step.number === number && step.fingerprint === fingerprint)) return undefined;
  return (
    `the database says that it has schema ${number}, but its tables are not those of that schema (fingerprint ` +
    `${fingerprint}): it was made by another build, or changed by hand; start the build that made it, or restore the ` +
    "database from a backup"
  );
}

async function note(session: PostgresSession, key: string, value: string): Promise<void> {
  const text =
    "insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value";
  await session.query({ text, values: [key, value] });
}

/** Whether it did the step; false when another process has done it meanwhile. */
async function runStep(session: PostgresSession, step: PostgresStep): Promise<boolean> {
  await session.query({ text: "select pg_advisory_xact_lock($1)", values: [migrationLock] });
  if ((await findPostgres(session)).number >= step.number) return false;
  await session.query({ text: step.sql, values: [] });
  const { fingerprint } = await findPostgres(session);
  if (fingerprint !== step.fingerprint) {
    const left = `left the schema ${fingerprint} instead of ${step.fingerprint}`;
    throw new Error(`the migration "${step.name}" ${left}: it was undone`);
  }
  await note(session, "schema", String(step.number));
  await note(session, "fingerprint", fingerprint);
  return true;
}

async function inTransaction<T>(session: PostgresSession, work: () => Promise<T>): Promise<T> {
  await session.begin();
  try {
    const value = await work();
    await session.commit();
    return value;
  } catch (error) {
    await session.rollback();
    throw error;
  }
}

/** Whether the next start migrates it. */
export function isOutdated({ number }: FoundPostgres): boolean {
  return number < currentSchema;
}

/** Why the database cannot be used, with the remedy; one of another state is told apart by its instance. */
export function postgresFault(found: FoundPostgres, marker: string | undefined): string | undefined {
  return (
    unfinishedFault(found) ?? schemaFault(found) ?? (found.isEmpty ? instanceFault(found, marker) : undefined)
  );
}

/**
 * Rejects when the database was written by a newer dropgate, has a schema that no dropgate made, or is not that of the
 * marker beside it.
 */
export async function migratePostgres(
  session: PostgresSession,
  { log, marker }: Pick<MigrationSurroundings, "log"> & { readonly marker: string | undefined },
): Promise<void> {
  const found = await findPostgres(session);
  const fault = unfinishedFault(found) ?? schemaFault(found) ?? instanceFault(found, marker);
  if (fault !== undefined) throw new OperatorError(fault);
  killPoint("migrate.begun");
  await runSteps(session, found, log);
}

async function runSteps(
  session: PostgresSession,
  found: FoundPostgres,
  log?: MigrationSurroundings["log"],
): Promise<void> {
  for (const step of steps.filter(({ number }) => number > found.number)) {
    const isDone = await inTransaction(session, () => runStep(session, step));
    if (isDone) log?.info({ schema: step.number, migration: step.name }, "database migrated");
    killPoint("migrate.stepDone");
  }
}

/** Makes the tables in a database that is about to get a state by a copy, and notes that: until its end no start takes it. */
export async function prepareForCopy(session: PostgresSession, found: FoundPostgres): Promise<void> {
  await runSteps(session, found);
  await note(session, unfinishedCopyKey, "1");
}

function unfinishedFault({ isUnfinishedCopy }: FoundPostgres): string | undefined {
  if (!isUnfinishedCopy) return undefined;
  return (
    "the database is of a copy that was not finished: make it again with `dropgate store copy --anew`, or name the " +
    "database that was copied in `store`, or remove `store` if it was SQLite"
  );
}

function instanceFault(
  { instanceId, isEmpty }: FoundPostgres,
  marker: string | undefined,
): string | undefined {
  if (marker === undefined || marker === instanceId) return undefined;
  if (isEmpty) {
    return (
      `the database that \`store\` names is empty, although the marker of the state directory says that there was one ` +
      `(${marker}): name the right database, or restore it from a backup`
    );
  }
  return (
    `the database that \`store\` names is not the one of this state directory (it says ${instanceId ?? "nothing"}, the ` +
    `marker ${marker}): name the right database, or remove the marker if this one is meant`
  );
}
