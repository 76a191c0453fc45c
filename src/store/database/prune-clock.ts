/** The newest time at which something was found old, and what is known of a clock that went wrong since then. */
import { sql } from "kysely";
import { givenIds } from "./dialects/sql-forms.ts";
import type { Reader } from "./database.ts";
import type { Transaction } from "./groups/group-commit.ts";
import { readMeta, readNote, writeMeta } from "./meta.ts";

const pruneClockKey = "prune_clock";

/** Rows that were written by a clock that was behind: they look older than they are. */
export interface Misdated {
  /** No such row has an earlier date, milliseconds UTC. */
  readonly from: number;
  /** When the clock was right again; undefined while it is behind. */
  readonly until?: number | undefined;
}

/** Moments are milliseconds UTC. */
export interface PruneClock {
  /** The newest time that the clock has shown and that was taken for right. */
  readonly latest: number;
  /** What the clock showed when it was found to have jumped; undefined while it is taken for right. */
  readonly jumpedTo?: number | undefined;
  /** How much had been written when the clock was looked at last. */
  readonly written?: number | undefined;
  /** The clock is behind, or was when it jumped; `written`: how much had been written before. */
  readonly behind?: { readonly from: number; readonly written: number | undefined } | undefined;
  readonly misdated?: Misdated | undefined;
}

/** Before the first note, when the daemon was last known to be alive; undefined in a new state. */
export async function findPruneClock(read: Reader): Promise<PruneClock | undefined> {
  const note = await readNote<PruneClock>(read, pruneClockKey);
  if (note !== undefined) return note;
  const aliveAt = await readMeta(read, "alive_at");
  return aliveAt === undefined ? undefined : { latest: Number(aliveAt) };
}

/** Notes all of it, in the place of the note before. */
export async function notePruneClock(tx: Transaction, clock: PruneClock): Promise<void> {
  await writeMeta(tx, pruneClockKey, JSON.stringify(clock));
}

const datedTables = [
  ...["appointments", "completions", "deliveries", "delivery_repeats", "exports", "file_repeats", "files"],
  ...["imports", "loads", "messages", "recorded_events", "stops"],
];

/** How many rows with a date there ever were: the same number again says that none was written meanwhile. */
export async function countWritten(read: Reader): Promise<number> {
  const { rows } = await sql<{ written: number | null }>`
    select sum(seq) as written from ${givenIds} where name in (${sql.join(datedTables)})`.execute(read);
  return rows[0]?.written ?? 0;
}
