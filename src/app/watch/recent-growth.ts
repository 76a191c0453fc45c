/** How much a count, which only grows while the process runs, has grown lately. */

/** By how much within so many milliseconds before now; what was counted before the first call counts from that on. */
export type RecentGrowth = (now: number, withinMs: number) => number;

/** Compares what it sees at its calls: the more often it is asked, the finer. */
export function watchGrowth(count: () => number): RecentGrowth {
  let seen: readonly { readonly at: number; readonly total: number }[] = [
    { at: Number.NEGATIVE_INFINITY, total: 0 },
  ];
  return (now, withinMs) => {
    const total = count();
    // Times from after now were seen by a clock that was ahead.
    const known = [...seen.filter(({ at }) => at <= now), { at: now, total }];
    // The last one before the window, and those in it.
    const first = known.findLastIndex(({ at }) => at <= now - withinMs);
    seen = known.slice(Math.max(first, 0));
    return total - (seen[0]?.total ?? 0);
  };
}
