/**
 * When the parser threads get a spare one: when a large document waits and there is none, and when all threads that may
 * serve what waits stand still. It takes large documents, and small ones of lines that no other thread serves. A minute
 * after one was needed last the spare ones end.
 */
import type { Logger } from "../../lib/logs/log.ts";
import type { JobQueue } from "../../lib/threads/job-queue.ts";
import type { DocumentJob as Job } from "./document-job.ts";
import { isLargeLine, isSameLine } from "./document-line.ts";
import type { ParserThread } from "./parser-thread.ts";

export interface SpareOptions {
  readonly log: Logger;
  /** Those there always are. */
  readonly threads: number;
  /** How long a thread may be at one document before it counts as standing still. */
  readonly stillMs: number;
}

const maxSpares = 3;
const spareIdleMs = 60_000;

export class SpareThreads {
  readonly #options: SpareOptions;
  /** All of the fleet. */
  readonly #threads: ReadonlySet<ParserThread>;
  readonly #add: () => void;
  /** Runs while jobs wait that have no thread. */
  #stillWatch: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: SpareOptions, threads: ReadonlySet<ParserThread>, add: () => void) {
    this.#options = options;
    this.#threads = threads;
    this.#add = add;
  }

  /** No thread works for its line, and no spare one for its company. */
  areNeededFor(job: Job): boolean {
    return ![...this.#threads].some(
      ({ openBatches, line, isSpare }) =>
        openBatches > 0 && (isSameLine(job, line) || (isSpare && line.companyCode === job.companyCode)),
    );
  }

  /** Makes one when what waits needs it; to be asked whenever the queue or the threads have changed. */
  watch(queue: JobQueue<Job>): void {
    if (!queue.has((job) => this.areNeededFor(job))) {
      clearInterval(this.#stillWatch);
      this.#stillWatch = undefined;
      return;
    }
    const { stillMs } = this.#options;
    this.#stillWatch ??= setInterval(() => this.#addIfStanding(queue), stillMs).unref();
    const isFirst = ![...this.#threads].some((thread) => thread.isSpare);
    if (isFirst && queue.has((job) => isLargeLine(job.line))) this.#add();
  }

  /** One of them has been given jobs. */
  noteUse(): void {
    this.#idle ??= setTimeout(() => this.#endIdle(), spareIdleMs).unref();
    this.#idle.refresh();
  }

  /** Ends the timers. */
  end(): void {
    clearTimeout(this.#idle);
    clearInterval(this.#stillWatch);
  }

  #addIfStanding(queue: JobQueue<Job>): void {
    // Each is asked, so that each remembers what it was at.
    const standing = new Set([...this.#threads].filter((thread) => thread.standsStill()));
    const isStuck = (job: Job) =>
      [...this.#threads].every(
        (thread) => standing.has(thread) || (isLargeLine(job.line) && !thread.isSpare),
      );
    if (!queue.has((job) => this.areNeededFor(job) && isStuck(job))) return;
    if (this.#threads.size >= this.#options.threads + maxSpares) return;
    if ([...this.#threads].some((thread) => thread.isSpare && !thread.isReady)) return;
    this.#add();
    this.#options.log.info(
      { threads: this.#threads.size },
      "parser threads stand still; one more serves what waits",
    );
  }

  /** None of them was needed for a while, but for a document that one may still be at. */
  #endIdle(): void {
    this.#idle = undefined;
    for (const thread of this.#threads) {
      if (!thread.isSpare) continue;
      thread.isRetiring = true;
      if (thread.openBatches === 0) void thread.end();
    }
  }
}
