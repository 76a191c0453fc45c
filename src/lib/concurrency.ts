/** Limits on how much runs at the same time: over a list that is known, and for calls that come one by one. */

/** Runs `work` over all items, at most `limit` at once; results are in the order of the items. Begins no more when one rejects. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  // One iterator for all runners: each takes the next item, so that a long list makes no queue of promises.
  const rest = items.entries();
  let hasFailed = false;
  const runner = async () => {
    try {
      for (const [index, item] of rest) {
        if (hasFailed) return;
        results[index] = await work(item);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner));
  return results;
}

/** Lets a few in at a time, the others in their order. */
export class ConcurrencyLimit {
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
