/** How often a value was at most so large, for figures that are read from outside. */

/** The rest of a histogram's definition is its use: what is observed, and in which unit. */
export class Histogram {
  /** Upper bounds, ascending; what is above the last one counts in the sum and the total only. */
  readonly bounds: readonly number[];
  /** How many values fell between a bound and the one before it; the last is above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Of all values. */
  get sum(): number {
    return this.#sum;
  }

  /** Counts a value. Allocates nothing, so that it may stand where each microsecond counts. */
  observe(value: number): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  /** How many values were at most as large as each bound, in their order, and after these how many there were in all. */
  cumulated(): readonly number[] {
    let total = 0;
    return Array.from(this.#counts, (count) => {
      total += count;
      return total;
    });
  }
}
