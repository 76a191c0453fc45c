/** What page 1 asks the store, besides how companies stand: figures over time, and the newest refusals. */
import type { Refusal, RefusalGroup, RefusalKey } from "../../live/standing.ts";

/** Four hours and a day by minutes, two weeks by hours. */
export const rateSpans = ["4h", "24h", "14d"] as const;
export type RateSpan = (typeof rateSpans)[number];

export interface RatesAsked {
  readonly span: RateSpan;
}

/** Files of some minutes or of an hour. */
export interface RatePoint {
  /** When they began, milliseconds UTC. */
  readonly at: number;
  readonly applied: number;
  readonly refused: number;
  readonly others: number;
  /** From the arrival to the receipt, milliseconds; undefined without a file. */
  readonly medianMs: number | undefined;
  readonly p99Ms: number | undefined;
}

export interface RatesFound {
  /** Length of what a point stands for. */
  readonly stepMinutes: number;
  /** One for each step of the span, the oldest first, those without a file too. */
  readonly points: readonly RatePoint[];
  /** Of the whole span. */
  readonly medianMs: number | undefined;
  readonly p99Ms: number | undefined;
}

export interface RefusalsAsked {
  readonly limit: number;
}

export interface RefusalsFound {
  /** The newest first; those of a group are not among them. */
  readonly refusals: readonly Refusal[];
  /** The newest first, by their last ones. */
  readonly groups: readonly RefusalGroup[];
}

export interface GroupsAsked {
  readonly keys: readonly RefusalKey[];
}
