/**
 * Runs the turns of a lane: one at a time, as long as there is news.
 *
 *   idle ──wake──> turn ──news──> turn ... ──no news──> idle
 *     └── held: news is kept until every hold is given back
 *
 * A turn that fails is a fault of dropgate: it must neither end the process nor stop the lane, so there is another one after
 * a pause.
 */
import { sleep } from "../../lib/sleep.ts";

export interface LaneLoopDependencies {
  readonly turn: () => Promise<void>;
  readonly failed: (error: unknown) => void;
  readonly pauseMs: () => number;
}

export class LaneLoop {
  readonly #deps: LaneLoopDependencies;
  readonly #stopping = new AbortController();
  #holds = 0;
  #running: Promise<void> | undefined;
  #hasNews = false;

  constructor(deps: LaneLoopDependencies) {
    this.#deps = deps;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** There is no turn until the hold is given back. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.wake();
    };
  }

  /** Something changed. */
  wake(): void {
    this.#hasNews = true;
    if (this.isStopped || this.#holds > 0 || this.#running !== undefined) return;
    this.#running = this.#runSafely().finally(() => {
      this.#running = undefined;
      // News may have come since the last turn.
      if (this.#hasNews) this.wake();
    });
  }

  /** Before a retry; ends early with the process. */
  async pause(): Promise<void> {
    await sleep(this.#deps.pauseMs(), this.#stopping.signal);
  }

  /** No turn begins any more. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Resolves when the turn in hand is over. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async #runSafely(): Promise<void> {
    try {
      // Files that came in the same turn of the event loop are to be ordered before the first of them is decided.
      await Promise.resolve();
      while (this.#hasNews && !this.isStopped && this.#holds === 0) {
        this.#hasNews = false;
        await this.#deps.turn();
      }
    } catch (error) {
      this.#deps.failed(error);
      await this.pause();
      this.#hasNews = true;
    }
  }
}
