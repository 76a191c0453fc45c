/** How many files of each company are in the pipeline: came ──> decided ──> left. */
export class FileCounts {
  readonly #waiting = new Map<number, number>();
  readonly #undecided = new Map<number, number>();

  came(companyId: number): void {
    add(this.#waiting, companyId, 1);
    add(this.#undecided, companyId, 1);
  }

  /** It is decided about, or nothing is left to decide about. */
  decided(companyId: number): void {
    add(this.#undecided, companyId, -1);
  }

  /** It is filed away too, or gone. */
  left(companyId: number): void {
    add(this.#waiting, companyId, -1);
  }

  waiting(companyId: number): number {
    return this.#waiting.get(companyId) ?? 0;
  }

  undecided(companyId: number): number {
    return this.#undecided.get(companyId) ?? 0;
  }

  /** Those that wait, over all companies. */
  get total(): number {
    return [...this.#waiting.values()].reduce((total, count) => total + count, 0);
  }
}

function add(counts: Map<number, number>, companyId: number, by: 1 | -1): void {
  counts.set(companyId, (counts.get(companyId) ?? 0) + by);
}
