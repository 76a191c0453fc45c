/**
 * The parser threads of a pool: those for small documents, of which there are always as many, and the spare ones.
 *
 * A spare one is made when a large document waits and there is none, and when all threads that may serve what waits stand
 * still. It takes large documents, and small ones of lines that no other thread serves. A minute after one was needed last
 * the spare ones end.
 */
import type { JobQueue } from "../../lib/threads/job-queue.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { DocumentJob as Job } from "./document-job.ts";
import { isLargeLine, isSameLine } from "./document-line.ts";
import { ParserThread, type ThreadEnd, type ThreadEvents, type ThreadOptions } from "./parser-thread.ts";

export interface FleetOptions {
  readonly log: Logger;
  /** For small documents. */
  readonly threads: number;
  /** How long a thread may be at one document before it counts as standing still. */
  readonly stillMs: number;
  readonly threadOptions: Omit<ThreadOptions, "isSpare">;
}

export interface FleetEvents extends Pick<ThreadEvents, "results"> {
  /** A thread may take jobs. */
  ready(): void;
  /** The thread is gone, and another takes its place when it is needed. */
  ended(thread: ParserThread, end: ThreadEnd): void;
}

const restartDelayMs = 1_000;
const maxSpares = 3;
const spareIdleMs = 60_000;

export class ParserFleet {
  readonly #options: FleetOptions;
  readonly #events: FleetEvents;
  #threadOptions: Omit<ThreadOptions, "isSpare">;
  readonly #threads = new Set<ParserThread>();
  readonly #started = Promise.withResolvers<void>();
  #state: "starting" | "running" | "ended" = "starting";
  #restart: NodeJS.Timeout | undefined;
  /** Runs while jobs wait that have no thread. */
  #stillWatch: NodeJS.Timeout | undefined;
  #spareIdle: NodeJS.Timeout | undefined;

  constructor(options: FleetOptions, events: FleetEvents) {
    this.#options = options;
    this.#events = events;
    this.#threadOptions = options.threadOptions;
  }

  get size(): number {
    return this.#threads.size;
  }

  /** The spare ones come last: they get less of the processors. */
  inOrder(): readonly ParserThread[] {
    return [...this.#threads].toSorted((one, other) => Number(one.isSpare) - Number(other.isSpare));
  }

  /** Resolves when all threads for small documents are ready; rejects when one of them does not start. */
  async start(signal: AbortSignal): Promise<void> {
    const abort = () => this.#started.reject(new Error("the start was aborted", { cause: signal.reason }));
    signal.addEventListener("abort", abort, { once: true });
    while (this.#threads.size < this.#options.threads) this.#add();
    try {
      await this.#started.promise;
      this.#state = "running";
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  configure(options: Pick<ThreadOptions, "limits" | "deadlineMs">): void {
    this.#threadOptions = { ...this.#threadOptions, ...options };
    for (const thread of this.#threads) thread.configure(options);
  }

  /** Whether a free thread may begin with the job. */
  mayHave(thread: ParserThread, job: Job): boolean {
    return thread.isSpare ? this.#needsSpare(job) : !isLargeLine(job.line);
  }

  /** A spare one is made when what waits needs one; to be asked whenever the queue or the threads have changed. */
  watch(queue: JobQueue<Job>): void {
    const isNeeded = this.#state === "running" && queue.has((job) => this.#needsSpare(job));
    if (!isNeeded) {
      clearInterval(this.#stillWatch);
      this.#stillWatch = undefined;
      return;
    }
    const { stillMs } = this.#options;
    this.#stillWatch ??= setInterval(() => this.#addSpareIfStanding(queue), stillMs).unref();
    const isFirst = ![...this.#threads].some((thread) => thread.isSpare);
    if (isFirst && queue.has((job) => isLargeLine(job.line))) this.#add(true);
  }

  /** The thread has been given jobs. */
  noteUse(thread: ParserThread): void {
    if (!thread.isSpare) return;
    this.#spareIdle ??= setTimeout(() => this.#endSpares(), spareIdleMs).unref();
    this.#spareIdle.refresh();
  }

  async endAll(): Promise<void> {
    this.#state = "ended";
    clearTimeout(this.#restart);
    clearTimeout(this.#spareIdle);
    clearInterval(this.#stillWatch);
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  #add(isSpare = false): void {
    const thread = new ParserThread(
      { ...this.#threadOptions, isSpare },
      {
        ready: () => this.#becameReady(),
        results: (results) => this.#events.results(results),
        ended: (ended, end) => this.#ended(ended, end),
      },
    );
    this.#threads.add(thread);
  }

  #becameReady(): void {
    if ([...this.#threads].every((thread) => thread.isReady)) this.#started.resolve();
    this.#events.ready();
  }

  #ended(thread: ParserThread, end: ThreadEnd): void {
    this.#threads.delete(thread);
    if (!end.wasReady)
      this.#started.reject(new Error(`a parser thread did not start: ${end.detail ?? end.reason}`));
    // Another spare is made when it is needed.
    if (!thread.isSpare && this.#state === "running") this.#replace(end);
    this.#events.ended(thread, end);
  }

  #replace(end: ThreadEnd): void {
    if (end.wasReady) this.#add();
    // A thread that cannot even start would otherwise be made anew without end.
    else this.#restart = setTimeout(() => this.#add(), restartDelayMs);
  }

  /** No thread works for its line, and no spare one for its company. */
  #needsSpare(job: Job): boolean {
    return ![...this.#threads].some(
      ({ openBatches, line, isSpare }) =>
        openBatches > 0 && (isSameLine(job, line) || (isSpare && line.companyCode === job.companyCode)),
    );
  }

  #addSpareIfStanding(queue: JobQueue<Job>): void {
    // Each is asked, so that each remembers what it was at.
    const standing = new Set([...this.#threads].filter((thread) => thread.standsStill()));
    const isStuck = (job: Job) =>
      [...this.#threads].every(
        (thread) => standing.has(thread) || (isLargeLine(job.line) && !thread.isSpare),
      );
    if (!queue.has((job) => this.#needsSpare(job) && isStuck(job))) return;
    if (this.#threads.size >= this.#options.threads + maxSpares) return;
    if ([...this.#threads].some((thread) => thread.isSpare && !thread.isReady)) return;
    this.#add(true);
    this.#options.log.info(
      { threads: this.#threads.size },
      "parser threads stand still; one more serves what waits",
    );
  }

  /** None of them was needed for a while, but for a document that one may still be at. */
  #endSpares(): void {
    this.#spareIdle = undefined;
    for (const thread of this.#threads) {
      if (!thread.isSpare) continue;
      thread.isRetiring = true;
      if (thread.openBatches === 0) void thread.end();
    }
  }
}
