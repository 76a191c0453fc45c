/** The newest time that is written in a state: a clock that is behind it was set back, or was ahead when that was written. */
import { sql } from "kysely";
import type { Reader } from "./database.ts";
import { findLastBackup } from "./last-backup.ts";
import { readMeta } from "./meta.ts";
import { findPruneClock } from "./prune-clock.ts";

export interface NewestTime {
  /** Milliseconds UTC. */
  readonly at: number;
  /** What was written then. */
  readonly what: string;
}

/** Rows with the time at which they were written, which nobody but the clock of the daemon has given. */
const writtenRows = [
  { table: "files", column: "received_at", what: "a file was received" },
  { table: "recorded_events", column: "recorded_at", what: "an event was recorded" },
  { table: "completions", column: "created_at", what: "a completion was made" },
  { table: "deliveries", column: "created_at", what: "a delivery was asked for" },
  { table: "imports", column: "received_at", what: "an import was received" },
  { table: "exports", column: "created_at", what: "an export was made" },
] as const;

/** Of each table the last ones: what was written while the clock was ahead is behind them by that many at most. */
const rowsLookedAt = 1_000;

async function newestRow(read: Reader, { table, column, what }: (typeof writtenRows)[number]) {
  const last = sql`select ${sql.ref(column)} as at from ${sql.table(table)} order by id desc limit ${sql.raw(String(rowsLookedAt))}`;
  const { rows } = await sql<{ at: number | null }>`select max(at) as at from (${last}) as written`.execute(
    read,
  );
  return { at: rows[0]?.at ?? Number.NEGATIVE_INFINITY, what };
}

/** Undefined in a new state. */
export async function findNewestTime(read: Reader): Promise<NewestTime | undefined> {
  const aliveAt = await readMeta(read, "alive_at");
  const backup = await findLastBackup(read);
  const pruneClock = await findPruneClock(read);
  const times: NewestTime[] = [];
  if (pruneClock !== undefined) times.push({ at: pruneClock.latest, what: "the daemon looked at the clock" });
  if (aliveAt !== undefined) times.push({ at: Number(aliveAt), what: "the daemon was alive" });
  if (backup !== undefined) times.push({ at: backup.endedAt, what: "a backup was made" });
  for (const one of writtenRows) times.push(await newestRow(read, one));
  const newest = times.reduce<NewestTime>((a, b) => (b.at > a.at ? b : a), {
    at: Number.NEGATIVE_INFINITY,
    what: "",
  });
  return newest.at === Number.NEGATIVE_INFINITY ? undefined : newest;
}
