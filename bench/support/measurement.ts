/** What the benchmarks measure, and how it is shown. */

export interface Sample {
  /** The figures of one kind, one a round. */
  readonly values: readonly number[];
  readonly unit: string;
}

/** One line of the table. */
export interface Measurement {
  readonly suite: string;
  readonly what: string;
  readonly figure: Sample;
  /** What it is compared with, from the same rounds. */
  readonly floor?: Sample;
  /** Ratios round by round, so that a noisy machine disturbs both sides alike. Left out when there is nothing to compare. */
  readonly ratios?: readonly number[];
  /** Undefined: told for information. */
  readonly wanted?: Wanted;
  readonly note?: string;
}

export interface Wanted {
  readonly of: "ratio" | "figure";
  readonly is: "at least" | "below";
  readonly limit: number;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The value at a share (0 to 1) of the sorted values, by the nearest rank. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.min(Math.max(Math.ceil(sorted.length * share) - 1, 0), sorted.length - 1);
  return sorted[rank] ?? Number.NaN;
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: medianOf(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Ratios round by round. */
export function ratiosOf(figure: readonly number[], floor: readonly number[]): number[] {
  return figure.map((value, round) => value / (floor[round] ?? Number.NaN));
}

/** Undefined when nothing is wanted. */
export function isMet({ wanted, ratios, figure }: Measurement): boolean | undefined {
  if (wanted === undefined) return undefined;
  const value = medianOf(wanted.of === "ratio" ? (ratios ?? []) : figure.values);
  return wanted.is === "at least" ? value >= wanted.limit : value < wanted.limit;
}
