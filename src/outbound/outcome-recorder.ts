/**
 * Writes the outcomes of attempts of one company: those that wait at the same moment are one unit of work. Keeps an outcome that
 * cannot be written now and writes it later, so that nothing is sent again only because the disk was full for a while.
 */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logs/log.ts";
import { sleep } from "../lib/sleep.ts";
import { isPassingStoreError } from "../lib/store-error.ts";
import type { Store } from "../store/database/database.ts";
import { FencedError } from "../store/database/fence.ts";
import { type AttemptRecord, recordAttempts } from "./record-attempts.ts";
import type { TargetPause } from "../store/outbound/outbound-targets.ts";

export interface OutcomeToRecord {
  readonly record: AttemptRecord;
  /** How the target stands with it, when that has changed. */
  readonly pause?: TargetPause;
}

interface Entry extends OutcomeToRecord {
  resolve(): void;
  reject(error: unknown): void;
}

export interface RecorderDeps {
  /** Whose deliveries they are. */
  readonly companyId: number;
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
  readonly log: Logger;
}

const batchSize = 128;
const pauseMs = 1_000;

export class OutcomeRecorder {
  readonly #deps: RecorderDeps;
  readonly #closing = new AbortController();
  #waiting: Entry[] = [];
  #running: Promise<void> | undefined;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when it is durable; rejects when the work of the company ends here before it could be written, with a `FencedError`
   * when the company is another node's: that one sends it again.
   */
  add(outcome: OutcomeToRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...outcome, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  /** From now on gives up what cannot be written by the deadline: it is delivered again. */
  endBy(deadline: AbortSignal): void {
    const giveUp = () => this.#closing.abort(deadline.reason);
    deadline.addEventListener("abort", giveUp, { once: true });
    if (deadline.aborted) giveUp();
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Outcomes of the same turn of the event loop are written together.
      await setImmediate();
      const batch = this.#waiting.slice(0, batchSize);
      this.#waiting = this.#waiting.slice(batch.length);
      await this.#write(batch);
    }
    this.#running = undefined;
  }

  /** Tries until it is written. One that the store refuses must not block the others: then each goes alone. */
  async #write(batch: readonly Entry[]): Promise<void> {
    for (;;) {
      const error = await this.#tryToWrite(batch);
      if (error === undefined) return;
      if (error instanceof FencedError) {
        for (const entry of batch) entry.reject(error);
        return;
      }
      if (!isPassingStoreError(error) && batch.length > 1) {
        for (const entry of batch) await this.#write([entry]);
        return;
      }
      this.#deps.log.error(
        { err: error, outcomes: batch.length },
        "outcomes of deliveries cannot be recorded",
      );
      if (!isPassingStoreError(error) || this.#closing.signal.aborted) {
        for (const entry of batch) entry.reject(error);
        return;
      }
      // At the end there is one more try, at once.
      await sleep(pauseMs, this.#closing.signal);
    }
  }

  /** Gives the error, if any. */
  async #tryToWrite(batch: readonly Entry[]): Promise<unknown> {
    const records = batch.map(({ record }) => record);
    // The last word on each target.
    const pauses = new Map(batch.flatMap(({ pause }) => (pause === undefined ? [] : [[pause.id, pause]])));
    try {
      const outcomes = { records, pauses: [...pauses.values()], now: this.#deps.clock.now() };
      await this.#deps.store.write(this.#deps.companyId, (tx) => recordAttempts(tx, outcomes));
    } catch (error) {
      return error ?? new Error("the store failed without saying why");
    }
    for (const entry of batch) entry.resolve();
    return undefined;
  }
}
