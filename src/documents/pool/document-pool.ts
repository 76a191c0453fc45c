/**
 * Parses stop documents in threads, because parsing blocks its thread (specification/stop-document.md#guards).
 *
 * A job waits in the queue, is sent to a thread in a batch, and is answered. Companies take turns, and so do the lines of a
 * company: its files, its bodies of the web service, and the large ones of each. A thread works for one line at a time.
 * Large documents have spare threads, which are made when one comes and step back behind all others: what takes seconds
 * keeps nothing waiting but its own line. When a thread ends on a document (memory, time, crash), that document goes back to
 * the queue once; the second time it is refused with 909, after a thread has hashed it without parsing. The other jobs of
 * the thread go back to the front of the queue without blame, and each goes to a thread alone from then on. Nothing here
 * survives a crash of the process: the files do, and are prepared again.
 */
import { DropgateError } from "../../lib/errors.ts";
import { JobQueue } from "../../lib/threads/job-queue.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Service } from "../../lib/service.ts";
import type { WorkerResult } from "./worker-messages.ts";
import {
  type DocumentJob as Job,
  type DocumentOrigin,
  isSuspect,
  messageOfJob,
  noteEnd,
} from "./document-job.ts";
import { isSameLine } from "./document-line.ts";
import { ParserFleet } from "./parser-fleet.ts";
import type { ParserThread, ThreadEnd } from "./parser-thread.ts";
import type { PreparedDocument } from "./prepared-document.ts";
import { defaultStopDocumentLimits, type StopDocumentLimits } from "../reading/stop-document.ts";
import { type DocumentSource, UnansweredJobs } from "./unanswered-jobs.ts";

export interface DocumentPool extends Service {
  /** Opens, hashes and reads a file. Rejects only when aborted or stopped; what is wrong with the file is a value. */
  prepareFile(path: string, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument>;
  /** Hashes and reads bytes; they must not change until the promise settles. */
  prepareBytes(bytes: Uint8Array, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument>;
  /** New limits and a new deadline; documents that a thread has already keep the old ones. */
  configure(options: Pick<DocumentPoolOptions, "limits" | "deadlineMs">): void;
}

export interface DocumentPoolOptions {
  readonly log: Logger;
  /** For small documents; default 1. Up to three more are made for large ones, and while all are blocked. */
  readonly threads?: number;
  readonly limits?: Partial<StopDocumentLimits>;
  /**
   * The document store: where what the documents of a stop contain is stored before the stop is handed on. Without it
   * nothing is written, for dry runs.
   */
  readonly documentsDir?: string;
  /** How long one document may take. Default 20,000. */
  readonly deadlineMs?: number;
  /** JavaScript heap of a thread. Default 256. */
  readonly maxHeapMb?: number;
  /** The XML parser's own memory in a thread. Default 320. */
  readonly maxParserMb?: number;
  /** How long a thread may work on one document before it counts as blocked. Default 50. */
  readonly stillMs?: number;
}

/** Small documents pay for the way to a thread and back together. */
const maxBatch = 64;
/** A batch holds its thread for some hundredths of a second, whatever the documents are like. */
const maxBatchBytes = 512 * 1024;
/** Two: while a thread works on one batch, the next is ready. */
const maxOpenBatches = 2;
const defaultDeadlineMs = 20_000;

class ThreadedDocumentPool implements DocumentPool {
  readonly name = "document pool";
  readonly #log: Logger;
  readonly #fleet: ParserFleet;
  readonly #jobs = new UnansweredJobs();
  readonly #queue = new JobQueue<Job>();
  #state: "open" | "stopping" | "stopped" = "open";
  #isDispatchDue = false;

  constructor(options: DocumentPoolOptions) {
    this.#log = options.log;
    const threadOptions = {
      limits: { ...defaultStopDocumentLimits, ...options.limits },
      documentsDir: options.documentsDir,
      deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
      maxHeapMb: options.maxHeapMb ?? 256,
      maxParserMb: options.maxParserMb ?? 320,
    };
    const { threads = 1, stillMs = 50, log } = options;
    this.#fleet = new ParserFleet(
      { log, threads, stillMs, threadOptions },
      {
        ready: () => this.#scheduleDispatch(),
        results: (results) => this.#takeResults(results),
        ended: (thread, end) => this.#threadEnded(thread, end),
      },
    );
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    try {
      await this.#fleet.start(signal);
    } catch (error) {
      await this.#endAll();
      throw error;
    }
    this.#scheduleDispatch();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    if (this.#state === "stopped") return;
    this.#state = "stopping";
    await this.#jobs.untilNone(deadline);
    await this.#endAll();
  }

  configure(options: Pick<DocumentPoolOptions, "limits" | "deadlineMs">): void {
    const limits = { ...defaultStopDocumentLimits, ...options.limits };
    this.#fleet.configure({ limits, deadlineMs: options.deadlineMs ?? defaultDeadlineMs });
  }

  prepareFile(path: string, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument> {
    return this.#prepare({ path }, origin, signal);
  }

  prepareBytes(bytes: Uint8Array, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument> {
    return this.#prepare({ bytes }, origin, signal);
  }

  #prepare(
    source: DocumentSource,
    origin: DocumentOrigin = {},
    signal?: AbortSignal,
  ): Promise<PreparedDocument> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#state !== "open") return Promise.reject(stoppingError());
    const { job, answer } = this.#jobs.add(source, origin, signal);
    this.#queue.add(job);
    this.#scheduleDispatch();
    return answer;
  }

  #takeResults(results: readonly WorkerResult[]): void {
    for (const { id, document } of results) this.#jobs.get(id)?.settle(document);
    this.#scheduleDispatch();
  }

  /** Once for all jobs that arrive in the same turn, so that they travel together. */
  #scheduleDispatch(): void {
    if (this.#isDispatchDue || this.#queue.size === 0) return;
    this.#isDispatchDue = true;
    queueMicrotask(() => {
      this.#isDispatchDue = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    const threads = this.#fleet.inOrder();
    // While a thread works on one batch the next lies ready, unless that would keep another company waiting.
    for (let open = 0; open < maxOpenBatches; open += 1) {
      for (const thread of threads) if (thread.openBatches === open) this.#give(thread);
    }
    this.#fleet.watch(this.#queue);
  }

  #give(thread: ParserThread): void {
    if (!thread.isReady || thread.isRetiring) return;
    const isFree = thread.openBatches === 0;
    const isOwn = (job: Job) => isSameLine(job, thread.line);
    if (!isFree && (thread.isAtLarge || thread.hasSuspect || this.#queue.has((job) => !isOwn(job)))) return;
    const mayFollow = (job: Job) => isOwn(job) && !isSuspect(job);
    const isOpen = isFree ? (job: Job) => this.#fleet.mayHave(thread, job) : mayFollow;
    const batch = this.#queue.takeSome((waiting) => shareOf(waiting, this.#fleet.size), isOpen);
    if (batch.length > 0) this.#send(thread, batch);
  }

  #send(thread: ParserThread, batch: readonly Job[]): void {
    const waiting = batch.filter((job) => this.#jobs.has(job)); // aborted ones have gone
    const [first] = waiting;
    if (first === undefined) return;
    for (const job of waiting) job.thread = thread;
    thread.hasSuspect = isSuspect(first);
    thread.send(first, waiting.map(messageOfJob));
    this.#fleet.noteUse(thread);
  }

  #threadEnded(thread: ParserThread, end: ThreadEnd): void {
    const held = this.#jobs.ofThread(thread);
    for (const job of held) noteEnd(job, end);
    this.#queue.putBack(held.filter((job) => this.#jobs.has(job)));
    if (end.reason !== "stopped") {
      const { reason, detail } = end;
      this.#log.warn(
        { reason, detail, jobs: held.length },
        "a parser thread ended; its documents are parsed again",
      );
    }
    this.#scheduleDispatch();
  }

  async #endAll(): Promise<void> {
    this.#state = "stopped";
    this.#jobs.rejectAll(stoppingError());
    while (this.#queue.take() !== undefined);
    await this.#fleet.endAll();
  }
}

/** How many of the waiting jobs one of so many threads takes. */
function shareOf(waiting: readonly Job[], threads: number): number {
  const most = Math.min(Math.ceil(waiting.length / threads), maxBatch);
  const [first] = waiting;
  if (first !== undefined && isSuspect(first)) return 1;
  let bytes = 0;
  let share = 0;
  for (const job of waiting.slice(0, most)) {
    bytes += job.size;
    if (share > 0 && (isSuspect(job) || bytes > maxBatchBytes)) break;
    share += 1;
  }
  return share;
}

function stoppingError(): DropgateError {
  return new DropgateError("overloaded", "The service is stopping. Send the document again later.");
}

/** Makes a pool of parser threads. It takes jobs at once, and works on them when it has been started. */
export function createDocumentPool(options: DocumentPoolOptions): DocumentPool {
  return new ThreadedDocumentPool(options);
}
