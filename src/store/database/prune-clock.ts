/** The newest time at which something was found old, and a jump of the clock since then. */
import type { Reader } from "./database.ts";
import type { Transaction } from "./group-commit.ts";
import { readMeta, readNote, writeMeta } from "./meta.ts";

const pruneClockKey = "prune_clock";

/** Moments are milliseconds UTC. */
export interface PruneClock {
  /** The newest time that the clock has shown and that was taken for right. */
  readonly latest: number;
  /** What the clock showed when it was found to have jumped; undefined while it is taken for right. */
  readonly jumpedTo?: number;
}

/** Before the first note, when the daemon was last known to be alive; undefined in a new state. */
export async function findPruneClock(read: Reader): Promise<PruneClock | undefined> {
  const note = await readNote<PruneClock>(read, pruneClockKey);
  if (note !== undefined) return note;
  const aliveAt = await readMeta(read, "alive_at");
  return aliveAt === undefined ? undefined : { latest: Number(aliveAt) };
}

export async function notePruneClock(tx: Transaction, clock: PruneClock): Promise<void> {
  await writeMeta(tx, pruneClockKey, JSON.stringify(clock));
}
