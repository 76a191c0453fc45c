/**
 * Resends of all that a filter selects, noted while they are under way: each batch is queued in the transaction that notes
 * how far it went. A command that was killed and is repeated goes on from there, so that nothing is sent twice for it.
 */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { forgetMeta, readNote, writeMeta } from "../database/meta.ts";
import { dayMs } from "../../lib/durations.ts";

/** Moments are milliseconds UTC. */
export interface ResendUnderWay {
  /** The filter as it was typed. */
  readonly filter: string;
  readonly begunAt: number;
  /** What relative times meant when it began; without an end given, that is when it began. */
  readonly deliveredSince?: number;
  readonly deliveredUntil?: number;
  /** The last delivery that there was when it began. */
  readonly upToId: number;
  /** The last one that it has come to. */
  readonly afterId: number;
  /** How many are queued. */
  readonly queued: number;
}

const key = "resends";
/** Whoever repeats a command later than this means a new one. */
const keptMs = dayMs;

async function read(db: Reader): Promise<readonly ResendUnderWay[]> {
  return (await readNote<readonly ResendUnderWay[]>(db, key)) ?? [];
}

/** The one of that filter that has not ended; undefined when there is none, or it began more than a day ago. */
export async function findResend(
  db: Reader,
  { filter, now }: { readonly filter: string; readonly now: number },
): Promise<ResendUnderWay | undefined> {
  return (await read(db)).find((one) => one.filter === filter && one.begunAt > now - keptMs);
}

async function replace(tx: Transaction, filter: string, by: readonly ResendUnderWay[], now: number) {
  const others = (await read(tx)).filter((one) => one.filter !== filter && one.begunAt > now - keptMs);
  const all = [...others, ...by];
  if (all.length === 0) await forgetMeta(tx, key);
  else await writeMeta(tx, key, JSON.stringify(all));
}

/** Notes how far it has come, in the transaction that queues the batch. */
export async function noteResend(tx: Transaction, resend: ResendUnderWay, now: number): Promise<void> {
  await replace(tx, resend.filter, [resend], now);
}

/** It has ended, or begins anew. */
export async function forgetResend(tx: Transaction, filter: string, now: number): Promise<void> {
  await replace(tx, filter, [], now);
}
