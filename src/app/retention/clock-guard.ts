/**
 * Retention does not trust the clock: one that is ten years ahead makes everything too old.
 *
 *   right ──more than a day ahead of the newest time that it has shown──> jumped
 *   jumped ──the clock is set back, or somebody says that it is right──> right
 *
 * The newest time is kept in the database, and noted at each look. While the clock has jumped, nothing is removed by its age,
 * and all else goes on. A clock that is behind makes nothing too old, and needs no guard.
 */
import { dayMs } from "../../domain/retention/retention.ts";
import type { Clock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { Store } from "../../store/database/database.ts";
import { findPruneClock, notePruneClock, type PruneClock } from "../../store/database/prune-clock.ts";

export type ClockLook =
  | { readonly kind: "right"; readonly now: number }
  | { readonly kind: "jumped"; readonly from: number; readonly to: number };

interface GuardDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
}

/** The same without a note, for who only wants to know. */
export function judgeClock(known: PruneClock | undefined, now: number): ClockLook {
  if (known === undefined || now - known.latest <= dayMs) return { kind: "right", now };
  return { kind: "jumped", from: known.latest, to: now };
}

/** Looks at the clock, and notes what it shows. */
export async function lookAtClock({ store, clock }: GuardDeps): Promise<ClockLook> {
  const now = clock.now();
  const known = await findPruneClock(store.read);
  const look = judgeClock(known, now);
  const latest = known?.latest ?? now;
  const next =
    look.kind === "right" ? { latest: Math.max(latest, now) } : { latest, jumpedTo: known?.jumpedTo ?? now };
  await store.write("site", (tx) => notePruneClock(tx, next));
  return look;
}

/** Somebody says that the clock is right. Gives what was noted before. */
export async function confirmClock({ store, clock }: GuardDeps): Promise<PruneClock | undefined> {
  const known = await findPruneClock(store.read);
  await store.write("site", (tx) => notePruneClock(tx, { latest: clock.now() }));
  return known;
}

/** For the log, `check` and the commands. */
export function jumpText({ from, to }: Extract<ClockLook, { kind: "jumped" }>): string {
  return (
    `the clock shows ${isoTime(to)}, and the newest time before was ${isoTime(from)}: nothing is removed by its age ` +
    "until the clock is set right, or `dropgate prune --clock-is-right` says that it is"
  );
}
