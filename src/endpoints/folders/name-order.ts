/**
 * The order in which the files of one look are handed over: by the time in their names, so that the pipeline can begin with
 * the first portion while the rest is being copied, and for one stop the order holds.
 */

/** `CCYYMMDD_HHMMSS.xml`. */
const timeLength = 19;

function timeOf(name: string): string {
  return name.slice(-timeLength);
}

/** Names in the order of their times; those without a time stand anywhere. */
export function byTime(names: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const time = timeOf(name);
    const group = groups.get(time);
    if (group === undefined) groups.set(time, [name]);
    else group.push(name);
  }
  return [...groups.keys()].sort().flatMap((time) => groups.get(time) ?? []);
}

/** Holds the pipeline while the files of one second are handed over in several portions: their order stands inside of them. */
export class PortionHold {
  readonly #hold: () => Promise<() => void>;
  #release: (() => void) | undefined;
  #goesOn = false;

  constructor(hold: () => Promise<() => void>) {
    this.#hold = hold;
  }

  /** Before a portion is handed over that ends with `last`, and after which comes `next`. */
  async before(last: string | undefined, next: string | undefined): Promise<void> {
    this.#goesOn = last !== undefined && next !== undefined && timeOf(last) === timeOf(next);
    if (this.#goesOn) this.#release ??= await this.#hold();
  }

  /** The portion has been handed over. */
  after(): void {
    if (!this.#goesOn) this.end();
  }

  end(): void {
    this.#release?.();
    this.#release = undefined;
  }
}
