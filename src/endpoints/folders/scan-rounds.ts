/**
 * Rounds over everything that is to be scanned: each item has its turn once in `scanMs`, and the turns are spread over that
 * time, so that a thousand folders are no burst every ten seconds.
 */

/** Turns that lie closer together than this share one wake-up of the process. */
const closestMs = 100;

export interface ScanRoundsDeps<Item> {
  /** What is to be scanned; read at the start of each round. */
  readonly items: () => Promise<readonly Item[]>;
  readonly visit: (item: Item) => void;
  readonly scanMs: () => number;
}

export class ScanRounds<Item> {
  readonly #deps: ScanRoundsDeps<Item>;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: ScanRoundsDeps<Item>) {
    this.#deps = deps;
  }

  /** The first round begins after `scanMs`. */
  start(): void {
    this.#after(this.#deps.scanMs(), () => void this.#round());
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #round(): Promise<void> {
    const items = await this.#deps.items();
    const [startedMs, lengthMs] = [performance.now(), this.#deps.scanMs()];
    const turns = (from: number) => {
      const elapsedMs = performance.now() - startedMs;
      const until = Math.min(items.length, Math.floor((elapsedMs / lengthMs) * items.length) + 1);
      for (const item of items.slice(from, until)) this.#deps.visit(item);
      if (until >= items.length) return this.#after(lengthMs - elapsedMs, () => void this.#round());
      const nextMs = (until / items.length) * lengthMs - elapsedMs;
      this.#after(Math.max(nextMs, closestMs), () => turns(until));
    };
    turns(0);
  }

  #after(pauseMs: number, work: () => void): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(work, pauseMs);
  }
}
