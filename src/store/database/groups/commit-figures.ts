/** Commits since the start, for monitoring. */
import { Histogram } from "../../../lib/histogram.ts";

/** Seconds of a transaction, from its begin to the end of its sync. */
export const commitBounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export class CommitFigures {
  readonly durations = new Histogram(commitBounds);
  #units = 0;

  /** Units of work in all commits. */
  get units(): number {
    return this.#units;
  }

  count(units: number, durationMs: number): void {
    this.#units += units;
    this.durations.observe(durationMs / 1000);
  }
}
