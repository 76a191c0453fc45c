/**
 * Brings the schema of a database of PostgreSQL up to date, forward only. Each step is one transaction, under a lock that one
 * process has at a time: who waited for it finds the step done. A database that is up to date needs no lock.
 *
 * The first step makes the tables of schema 21 as a whole. From 22 on each migration has its text for either database. A step
 * after which older programs must not go on waits until they are gone (`older-programs.ts`). A database of a newer schema is
 * used as it is, as long as it says that programs of this schema may.
 */
import type { Logger } from "../../../lib/logs/log.ts";
import { killPoint } from "../../../lib/kill-point.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import { unfinishedCopyKey } from "../copy/copied-tables.ts";
import { allSchemas, type KnownSchemas, type PostgresStep } from "./known-schemas.ts";
import { migrationLock } from "./advisory-locks.ts";
import { type DrainPatience, drainOlderPrograms, usualPatience } from "./older-programs.ts";
import { oldestKey, tooOldText } from "./program-locks.ts";
import { findPostgres, type FoundPostgres } from "./postgres-schema.ts";
import type { PostgresSession } from "./postgres-session.ts";

function newerFault(found: FoundPostgres, current: number): string | undefined {
  const { number, needed, fingerprint, notedFingerprint } = found;
  // Until 23 a database said nothing of older programs: none may use it.
  if ((needed === 0 ? number : needed) > current) {
    return (
      `the database has schema ${number}, this dropgate knows ${current}: install the newer version again, or ` +
      "restore a backup from before the migration"
    );
  }
  return fingerprint === notedFingerprint ? undefined : otherFault(found);
}

function otherFault({ number, fingerprint }: FoundPostgres): string {
  return (
    `the database says that it has schema ${number}, but its tables are not those of that schema (fingerprint ` +
    `${fingerprint}): it was made by another build, or changed by hand; start the build that made it, or restore the ` +
    "database from a backup"
  );
}

/** Why a database has a schema that this dropgate cannot use, with the remedy. */
export function schemaFault(
  found: FoundPostgres,
  { steps, current }: KnownSchemas = allSchemas,
): string | undefined {
  const { number, needed, fingerprint, isEmpty } = found;
  if (number === 0 && isEmpty) return undefined;
  if (number > current) return newerFault(found, current);
  if (needed > current) return tooOldText(current, needed);
  if (number === 0)
    return "the database has tables that are not dropgate's: name a database of its own in `store`";
  const isKnown = steps.some((step) => step.number === number && step.fingerprint === fingerprint);
  return isKnown ? undefined : otherFault(found);
}

async function note(session: PostgresSession, key: string, value: string): Promise<void> {
  const text =
    "insert into meta (key, value) values ($1, $2) on conflict (key) do update set value = excluded.value";
  await session.query({ text, values: [key, value] });
}

/** Waits for whoever migrates; nobody does before the end of this transaction. */
async function findLocked(session: PostgresSession): Promise<FoundPostgres> {
  await session.query({ text: "select pg_advisory_xact_lock($1)", values: [migrationLock] });
  return await findPostgres(session);
}

/** Whether it did the step; false when another process has done it meanwhile. */
async function runStep(session: PostgresSession, step: PostgresStep): Promise<boolean> {
  if ((await findLocked(session)).number >= step.number) return false;
  await session.query({ text: step.sql, values: [] });
  const { fingerprint } = await findPostgres(session);
  if (fingerprint !== step.fingerprint) {
    const left = `left the schema ${fingerprint} instead of ${step.fingerprint}`;
    throw new Error(`the migration "${step.name}" ${left}: it was undone`);
  }
  await note(session, "schema", String(step.number));
  await note(session, "fingerprint", fingerprint);
  await note(session, oldestKey, String(step.oldest));
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
  return number < allSchemas.current;
}

/** Why the database cannot be used, with the remedy; one of another state is told apart by its instance. */
export function postgresFault(
  found: FoundPostgres,
  marker: string | undefined,
  known: KnownSchemas = allSchemas,
): string | undefined {
  return (
    unfinishedFault(found) ??
    schemaFault(found, known) ??
    (found.isEmpty ? instanceFault(found, marker) : undefined)
  );
}

export interface PostgresMigrationSurroundings extends Partial<StepSurroundings> {
  readonly marker: string | undefined;
}

interface StepSurroundings {
  readonly log: Pick<Logger, "info" | "warn"> | undefined;
  readonly known: KnownSchemas;
  readonly patience: DrainPatience | undefined;
}

/**
 * Rejects when the database is not for programs of this schema, has a schema that no dropgate made, or is not that of the
 * marker beside it.
 */
export async function migratePostgres(
  session: PostgresSession,
  { log, marker, known = allSchemas, patience }: PostgresMigrationSurroundings,
): Promise<void> {
  const faultOf = (one: FoundPostgres) =>
    unfinishedFault(one) ?? schemaFault(one, known) ?? instanceFault(one, marker);
  let found = await findPostgres(session);
  // While another process migrates, what is found may be of before and of after: it is looked at once more without it.
  if (faultOf(found) !== undefined) found = await inTransaction(session, () => findLocked(session));
  const fault = faultOf(found);
  if (fault !== undefined) throw new OperatorError(fault);
  killPoint("migrate.begun");
  await runSteps(session, found, { log, known, patience });
}

async function runSteps(
  session: PostgresSession,
  found: FoundPostgres,
  { log, known, patience = usualPatience }: StepSurroundings,
): Promise<void> {
  let { needed } = found;
  for (const step of known.steps.filter(({ number }) => number > found.number)) {
    if (found.number > 0 && step.oldest > needed) {
      await drainOlderPrograms({ session, log, patience }, step.oldest);
      needed = step.oldest;
    }
    const isDone = await inTransaction(session, () => runStep(session, step));
    if (isDone) log?.info({ schema: step.number, migration: step.name }, "database migrated");
    killPoint("migrate.stepDone");
  }
}

/** Makes the tables in a database that is about to get a state by a copy, and notes that: until its end no start takes it. */
export async function prepareForCopy(session: PostgresSession, found: FoundPostgres): Promise<void> {
  await runSteps(session, found, { log: undefined, known: allSchemas, patience: undefined });
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
