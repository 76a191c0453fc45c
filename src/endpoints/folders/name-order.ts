/**
 * The order in which settled files are handed over: by the time in their names. So the order of each stop holds, and the
 * pipeline can begin with the first portion while the taker still copies the rest.
 */

/** `CCYYMMDD_HHMMSS.xml`. */
const timeLength = 19;

function timeOf(name: string): string {
  return name.slice(-timeLength);
}

/** Names in the order of their times; those without a time stand anywhere. */
export function byTime(names: readonly string[]): string[] {
  const groups = Map.groupBy(names, timeOf);
  return [...groups.keys()].sort().flatMap((time) => groups.get(time) ?? []);
}

/** Holds the pipeline while the files of one second go over in several portions: only their content tells their order. */
export class PortionHold {
  readonly #hold: () => Promise<() => void>;
  #release: (() => void) | undefined;
  #goesOn = false;

  constructor(hold: () => Promise<() => void>) {
    this.#hold = hold;
  }

  /** To be called before the portion that ends with `last`; the next one begins with `next`. */
  async before(last: string | undefined, next: string | undefined): Promise<void> {
    this.#goesOn = last !== undefined && next !== undefined && timeOf(last) === timeOf(next);
    if (this.#goesOn) this.#release ??= await this.#hold();
  }

  /** To be called after each portion. */
  after(): void {
    if (!this.#goesOn) this.end();
  }

  end(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
