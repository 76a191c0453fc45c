/**
 * Retention does not trust the clock: one that is ten years ahead makes everything too old.
 *
 *   right ──more than a day ahead of the newest time that it has shown──> jumped
 *   jumped ──the clock is set back, or somebody says that it is right──> right
 *   right ──more than a day behind that time──> behind
 *   behind ──it shows that time again, or somebody says that it is right──> right, what was written meanwhile is spared
 *
 * The newest time is kept in the database, and noted at each look. While the clock has jumped, nothing is removed by its age,
 * and all else goes on. What was written by a clock that was behind looks old as soon as the clock is right again: whatever
 * has a date from that time on stays until its age has passed since the clock was right again.
 */

import type { Clock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { Store } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import {
  countWritten,
  findPruneClock,
  type Misdated,
  notePruneClock,
  type PruneClock,
} from "../../store/database/prune-clock.ts";
import { forgetMarks } from "../../store/ledger/file-retention.ts";
import { dayMs } from "../../lib/durations.ts";

export type ClockLook =
  | { readonly kind: "right"; readonly now: number; readonly misdated?: Misdated | undefined }
  | { readonly kind: "jumped"; readonly from: number; readonly to: number };

interface GuardDeps {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
}

/** Nothing is older than dropgate: a state that begins before was made by a clock that was behind. */
const noStateBefore = Date.UTC(2026, 0, 1);

function isBehind({ latest }: PruneClock, now: number): boolean {
  return latest - now > dayMs;
}

/** The earliest date that a row has which the clock of this moment writes, or wrote since the last look. */
function earliestFrom({ behind }: PruneClock, now: number): number {
  return Math.min(now - dayMs, behind?.from ?? now);
}

function misdatedOf(known: PruneClock, now: number): Misdated | undefined {
  const { behind, misdated } = known;
  if (!isBehind(known, now) && behind === undefined) return misdated;
  const from = Math.min(behind?.from ?? earliestFrom(known, now), misdated?.from ?? now);
  return { from, until: isBehind(known, now) ? undefined : now };
}

/** The same without a note, for who only wants to know. */
export function judgeClock(known: PruneClock | undefined, now: number): ClockLook {
  if (known === undefined) return { kind: "right", now };
  if (now - known.latest > dayMs) return { kind: "jumped", from: known.latest, to: now };
  const misdated = misdatedOf(known, now);
  return { kind: "right", now, ...(misdated && { misdated }) };
}

/** The clock is right: what was written while it was behind is misdated from now on. */
async function noteRight(tx: Transaction, known: PruneClock | undefined, now: number): Promise<void> {
  const written = await countWritten(tx);
  const wasBehind = known?.behind !== undefined && known.behind.written !== written;
  const misdated = wasBehind ? misdatedOf(known, now) : known?.misdated;
  // Their dates are before the marks.
  if (wasBehind) await forgetMarks(tx);
  await notePruneClock(tx, { latest: Math.max(known?.latest ?? now, now), written, misdated });
}

async function noteLook(tx: Transaction, known: PruneClock | undefined, now: number): Promise<void> {
  if (known === undefined || judgeClock(known, now).kind === "right") {
    if (known === undefined || !isBehind(known, now)) return await noteRight(tx, known, now);
    const behind = {
      from: earliestFrom(known, now),
      written: known.behind === undefined ? known.written : known.behind.written,
    };
    return await notePruneClock(tx, { ...known, jumpedTo: undefined, behind });
  }
  await notePruneClock(tx, { ...known, jumpedTo: known.jumpedTo ?? now });
}

/** Looks at the clock, and notes what it shows, in one unit: between the two nobody says that the clock is right. */
export async function lookAtClock({ store, clock }: GuardDeps): Promise<ClockLook> {
  return await store.write("site", async (tx) => {
    const now = clock.now();
    const known = await findPruneClock(tx);
    await noteLook(tx, known, now);
    return judgeClock(await findPruneClock(tx), now);
  });
}

/** Somebody says that the clock is right. Gives what was noted before. */
export async function confirmClock({ store, clock }: GuardDeps): Promise<PruneClock | undefined> {
  return await store.write("site", async (tx) => {
    const now = clock.now();
    const known = await findPruneClock(tx);
    const early =
      known !== undefined && known.latest < noStateBefore ? { from: 0, written: undefined } : undefined;
    // A clock that is behind and right was ahead before: nothing looks older than it is.
    const behind = known !== undefined && isBehind(known, now) ? undefined : (early ?? known?.behind);
    await noteRight(tx, known && { ...known, latest: now, behind }, now);
    return known;
  });
}

/** The moment before which something is old, so that nothing goes that only looks old. */
export function sparing(before: number, misdated: Misdated | undefined): number {
  if (misdated === undefined || before >= (misdated.until ?? Infinity)) return before;
  return Math.min(before, misdated.from);
}

/** For the log. */
export function misdatedText({ from, until }: Misdated): string {
  return until === undefined
    ? "the clock is more than a day behind the newest time before: what is written now is kept for its whole age after " +
        "the clock is right again"
    : `the clock was behind until ${isoTime(until)}: what is dated ${isoTime(from)} or later stays until its age has ` +
        "passed since then";
}

/** For the log, `check` and the commands. */
export function jumpText({ from, to }: Extract<ClockLook, { kind: "jumped" }>): string {
  return (
    `the clock shows ${isoTime(to)}, and the newest time before was ${isoTime(from)}: nothing is removed by its age ` +
    "until the clock is set right, or `dropgate prune --clock-is-right` says that it is"
  );
}
