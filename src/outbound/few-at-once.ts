/** Lets a few in at a time, the others in their order. */
export class FewAtOnce {
  readonly #places: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(places: number) {
    this.#places = places;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#places) this.#taken += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place goes on to the next one without being free between.
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }
}
