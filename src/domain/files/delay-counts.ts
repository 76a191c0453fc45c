/**
 * How long files took from their arrival to their receipt, as counts by classes of length: those of any minutes and companies
 * are added up without loss, and a percentile of the sum is right to a class (a fifth of its length).
 *
 *   class 0: up to 1 ms; class n: up to 2^(n/2) ms, and more than class n - 1; the last one has no end
 */

/** Ends at some six hours. */
const lastClass = 49;

/** How many there are of each class, by its number; classes without any are left out. */
export type DelayCounts = ReadonlyMap<number, number>;

/** The class of a length in milliseconds. */
export function delayClassOf(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(lastClass, Math.ceil(2 * Math.log2(ms)));
}

/** The longest of the class, in milliseconds. */
function endOf(delayClass: number): number {
  return 2 ** (delayClass / 2);
}

/** The counts of both. */
export function addDelays(one: DelayCounts, other: DelayCounts): DelayCounts {
  const sum = new Map(one);
  for (const [delayClass, count] of other) sum.set(delayClass, (sum.get(delayClass) ?? 0) + count);
  return sum;
}

/** `4:12 5:1`: twelve of class 4, one of class 5. */
export function delaysToText(counts: DelayCounts): string {
  return [...counts]
    .toSorted(([one], [other]) => one - other)
    .map(([delayClass, count]) => `${delayClass}:${count}`)
    .join(" ");
}

/** The counts of such a text. */
export function delaysFromText(text: string): DelayCounts {
  const counts = new Map<number, number>();
  for (const part of text === "" ? [] : text.split(" ")) {
    const mark = part.indexOf(":");
    counts.set(Number(part.slice(0, mark)), Number(part.slice(mark + 1)));
  }
  return counts;
}

/**
 * The length in milliseconds that so many of all, from 0 to 1, did not exceed, spread evenly within its class; undefined
 * when there are none.
 */
export function delayQuantile(counts: DelayCounts, share: number): number | undefined {
  const classes = [...counts].toSorted(([one], [other]) => one - other);
  const total = classes.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return undefined;
  let below = 0;
  for (const [delayClass, count] of classes) {
    if (below + count >= share * total) {
      const begin = delayClass === 0 ? 0 : endOf(delayClass - 1);
      return begin + ((share * total - below) / count) * (endOf(delayClass) - begin);
    }
    below += count;
  }
  return endOf(classes.at(-1)?.[0] ?? 0);
}
