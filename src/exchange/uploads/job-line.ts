import { exchangeErrorOf } from "../disk-fault.ts";
import type { ExchangeError } from "../exchange-session.ts";

/** Jobs on one file, one after the other. The first fault is kept, and the jobs behind it are passed over. */
export class JobLine {
  readonly #failed: (fault: ExchangeError) => void;
  #last: Promise<void> = Promise.resolve();
  #fault: ExchangeError | undefined;

  /** `failed` is told of the first fault. */
  constructor(failed: (fault: ExchangeError) => void) {
    this.#failed = failed;
  }

  throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Resolves when the job is done, has failed or was passed over. */
  add(job: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#fault !== undefined) return;
      await job().catch((error: unknown) => this.fail(error));
    });
    return this.#last;
  }

  fail(error: unknown): void {
    if (this.#fault !== undefined) return;
    this.#fault = exchangeErrorOf(error);
    this.#failed(this.#fault);
  }

  /** Resolves when all jobs added so far are over, whatever became of them. */
  idle(): Promise<void> {
    return this.#last;
  }

  /** Resolves when all jobs added so far are done; rejects with the first fault. */
  async done(): Promise<void> {
    await this.#last;
    this.throwFault();
  }
}
