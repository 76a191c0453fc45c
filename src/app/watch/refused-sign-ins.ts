/** How many sign-ins were refused lately, from the counts since the start of the process. */
import type { SignInStatistics } from "../../sign-in/create-sign-in.ts";

/** How many within so many milliseconds before now; what was refused before the first call counts from that on. */
export type RefusedSignIns = (now: number, withinMs: number) => number;

/** Counts between calls: the more often it is asked, the finer. */
export function countRefusedSignIns(statistics: () => Pick<SignInStatistics, "signIns">): RefusedSignIns {
  let seen: readonly { readonly at: number; readonly total: number }[] = [
    { at: Number.NEGATIVE_INFINITY, total: 0 },
  ];
  return (now, withinMs) => {
    const total = Object.values(statistics().signIns).reduce(
      (sum, { refused, turned_away: turnedAway }) => sum + refused + turnedAway,
      0,
    );
    // Times from after now were seen by a clock that was ahead.
    const known = [...seen.filter(({ at }) => at <= now), { at: now, total }];
    // The last one before the window, and those in it.
    const first = known.findLastIndex(({ at }) => at <= now - withinMs);
    seen = known.slice(Math.max(first, 0));
    return total - (seen[0]?.total ?? 0);
  };
}
