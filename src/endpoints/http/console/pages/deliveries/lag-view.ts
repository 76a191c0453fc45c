/** What the lag of targets is asked by, and told. Plain data; times are milliseconds UTC. */

/** A day by quarters of an hour, two weeks by two hours. */
export const lagSpans = ["24h", "14d"] as const;
export type LagSpan = (typeof lagSpans)[number];

export interface LagsAsked {
  readonly span: LagSpan;
  /** The code of a company. */
  readonly company?: string;
  readonly target?: string;
  /** So many targets at most: those that lag most. */
  readonly limit: number;
}

/** How it stood at one moment, and in the step before it. */
export interface LagPoint {
  readonly at: number;
  /** How many waited at that moment. */
  readonly waiting: number;
  /** For how long the oldest of them had waited by then; undefined when none did. */
  readonly oldestMs: number | undefined;
  /** The longest time that a delivery had taken which was delivered in the step; undefined when none was. */
  readonly longestMs: number | undefined;
}

export interface TargetLag {
  readonly company: string;
  readonly name: string;
  /** The oldest first; the last one is of this moment. */
  readonly points: readonly LagPoint[];
}

export interface LagsFound {
  /** Those that lag most first; none of which nothing was made. */
  readonly targets: readonly TargetLag[];
  /** How many are left out. */
  readonly more: number;
  /** For how many deliveries each stands that was read: 1 when all were. */
  readonly each: number;
}
