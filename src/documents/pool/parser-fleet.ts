/**
 * The parser threads of a pool: those for small documents, of which there are always as many, and the spare ones
 * (`spare-threads.ts`).
 */
import type { JobQueue } from "../../lib/threads/job-queue.ts";
import type { DocumentJob as Job } from "./document-job.ts";
import { isLargeLine } from "./document-line.ts";
import { ParserThread, type ThreadEnd, type ThreadEvents, type ThreadOptions } from "./parser-thread.ts";
import { type SpareOptions, SpareThreads } from "./spare-threads.ts";

export interface FleetOptions extends SpareOptions {
  readonly threadOptions: Omit<ThreadOptions, "isSpare">;
}

export interface FleetEvents extends Pick<ThreadEvents, "results"> {
  /** A thread may take jobs. */
  ready(): void;
  /** The thread has ended, and is replaced when one is needed. */
  ended(thread: ParserThread, end: ThreadEnd): void;
}

const restartDelayMs = 1_000;

export class ParserFleet {
  readonly #options: FleetOptions;
  readonly #events: FleetEvents;
  #threadOptions: Omit<ThreadOptions, "isSpare">;
  readonly #threads = new Set<ParserThread>();
  readonly #spares: SpareThreads;
  readonly #started = Promise.withResolvers<void>();
  #state: "starting" | "running" | "ended" = "starting";
  #restart: NodeJS.Timeout | undefined;

  constructor(options: FleetOptions, events: FleetEvents) {
    this.#options = options;
    this.#events = events;
    this.#threadOptions = options.threadOptions;
    this.#spares = new SpareThreads(options, this.#threads, () => this.#add(true));
  }

  get size(): number {
    return this.#threads.size;
  }

  /** The spare ones come last: they run at a lower priority. */
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
    return thread.isSpare ? this.#spares.areNeededFor(job) : !isLargeLine(job.line);
  }

  /** To be told whenever the queue or the threads have changed: what waits may need a spare one. */
  watch(queue: JobQueue<Job>): void {
    if (this.#state === "running") this.#spares.watch(queue);
  }

  /** The thread has been given jobs. */
  noteUse(thread: ParserThread): void {
    if (thread.isSpare) this.#spares.noteUse();
  }

  async endAll(): Promise<void> {
    this.#state = "ended";
    clearTimeout(this.#restart);
    this.#spares.end();
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
}
