/**
 * Parses stop documents in threads, because parsing blocks its thread (specification/stop-document.md#guards).
 *
 * A job waits in the queue, is sent to a thread in a batch, and is answered. Companies take turns, and so do the lines of a
 * company: its files, its bodies of the web service, and the large ones of each. A thread works for one line at a time.
 * Large documents have spare threads, which are made when one comes and step back behind all others: what takes seconds
 * keeps nothing waiting but its own line. When all threads stand still, a spare one serves small documents as well; it
 * ends when nothing has needed it for a minute. When a thread ends on a document (memory,
 * time, crash), that document goes back to the queue once; the second time it is refused with 909, after a thread has
 * hashed it without parsing. The other jobs of the thread go back to the front of the queue without blame. Nothing here
 * survives a crash of the process: the files do, and are prepared again.
 */
import { DropgateError } from "../lib/errors.ts";
import { JobQueue } from "../lib/job-queue.ts";
import type { Logger } from "../lib/log.ts";
import type { Service } from "../lib/service.ts";
import type { WorkerResult } from "./worker-messages.ts";
import { type DocumentJob as Job, endings, messageOfJob } from "./document-job.ts";
import { isLargeLine, isSameLine, lineFor } from "./document-line.ts";
import { ParserThread, type ThreadEnd, type ThreadOptions } from "./parser-thread.ts";
import type { PreparedDocument } from "./prepared-document.ts";
import { defaultStopDocumentLimits, type StopDocumentLimits } from "./stop-document.ts";

export interface DocumentOrigin {
  /** Whose document it is; without it, it is one of our own. */
  readonly companyCode?: string;
  /** Of a file, when it is known: large ones wait for each other. */
  readonly size?: number;
  /** The parameter of the Content-Type that bytes came under. */
  readonly charset?: string | undefined;
}

export interface DocumentPool extends Service {
  /** Opens, hashes and reads a file. Rejects only when aborted or stopped; what is wrong with the file is a value. */
  prepareFile(path: string, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument>;
  /** Hashes and reads bytes; they must not change until the promise settles. */
  prepareBytes(bytes: Uint8Array, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument>;
  /** Other limits and another deadline from now on; what has been sent to a thread is held to the limits of before. */
  configure(options: Pick<DocumentPoolOptions, "limits" | "deadlineMs">): void;
}

export interface DocumentPoolOptions {
  readonly log: Logger;
  /** For small documents; default 2. Up to three more are made for large ones, and while all stand still. */
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
  /** How long a thread may be at one document before it counts as standing still. Default 50. */
  readonly stillMs?: number;
}

const maxBatch = 16;
/** Two: while a thread works on one batch, the next lies ready. */
const maxOpenBatches = 2;
/** A job that has seen this many threads die unexplained is the likely cause. */
const maxWitnessed = 5;
const restartDelayMs = 1_000;
const defaultDeadlineMs = 20_000;
const maxSpares = 3;
const spareIdleMs = 60_000;

class ThreadedDocumentPool implements DocumentPool {
  readonly name = "document pool";
  readonly #log: Logger;
  readonly #threadCount: number;
  #threadOptions: Omit<ThreadOptions, "isSpare">;
  readonly #stillMs: number;
  readonly #threads = new Set<ParserThread>();
  /** Every job that is not answered, by its number. */
  readonly #jobs = new Map<number, Job>();
  readonly #queue = new JobQueue<Job>();
  #state: "new" | "running" | "stopping" | "stopped" = "new";
  #nextId = 1;
  #isDispatchDue = false;
  #restart: NodeJS.Timeout | undefined;
  /** Runs while a company waits that has no thread. */
  #stillWatch: NodeJS.Timeout | undefined;
  #spareIdle: NodeJS.Timeout | undefined;
  #onReady: (() => void) | undefined;
  #onStartFailure: ((error: Error) => void) | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: DocumentPoolOptions) {
    this.#log = options.log;
    this.#threadCount = options.threads ?? 2;
    this.#stillMs = options.stillMs ?? 50;
    this.#threadOptions = {
      limits: { ...defaultStopDocumentLimits, ...options.limits },
      documentsDir: options.documentsDir,
      deadlineMs: options.deadlineMs ?? defaultDeadlineMs,
      maxHeapMb: options.maxHeapMb ?? 256,
      maxParserMb: options.maxParserMb ?? 320,
    };
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#state = "running";
    const abort = () => this.#onStartFailure?.(new Error("the start was aborted", { cause: signal.reason }));
    try {
      await new Promise<void>((resolve, reject) => {
        this.#onReady = resolve;
        this.#onStartFailure = reject;
        signal.addEventListener("abort", abort, { once: true });
        while (this.#threads.size < this.#threadCount) this.#addThread();
      });
    } catch (error) {
      await this.#endAll();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#onReady = undefined;
      this.#onStartFailure = undefined;
    }
  }

  async stop(deadline: AbortSignal): Promise<void> {
    if (this.#state === "stopped") return;
    this.#state = "stopping";
    const idle = () => this.#onIdle?.();
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      deadline.addEventListener("abort", idle, { once: true });
      if (this.#jobs.size === 0 || deadline.aborted) resolve();
    });
    deadline.removeEventListener("abort", idle);
    await this.#endAll();
  }

  configure(options: Pick<DocumentPoolOptions, "limits" | "deadlineMs">): void {
    const limits = { ...defaultStopDocumentLimits, ...options.limits };
    const deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
    this.#threadOptions = { ...this.#threadOptions, limits, deadlineMs };
    for (const thread of this.#threads) thread.configure({ limits, deadlineMs });
  }

  prepareFile(path: string, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument> {
    return this.#prepare({ path }, origin, signal);
  }

  prepareBytes(bytes: Uint8Array, origin?: DocumentOrigin, signal?: AbortSignal): Promise<PreparedDocument> {
    return this.#prepare({ bytes }, origin, signal);
  }

  #prepare(
    source: Pick<Job, "path" | "bytes">,
    { companyCode = "", size = 0, charset }: DocumentOrigin = {},
    signal: AbortSignal | undefined,
  ): Promise<PreparedDocument> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    if (this.#state === "stopping" || this.#state === "stopped") return Promise.reject(stoppingError());
    return new Promise((resolve, reject) => {
      const id = this.#takeId();
      const abort = () => job.settle({ error: signal?.reason });
      const job: Job = {
        ...source,
        ...{ id, companyCode, charset, line: lineFor(source.path, source.bytes?.byteLength ?? size) },
        thread: undefined,
        blamed: 0,
        witnessed: 0,
        settle: (answer) => {
          // Answers of aborted jobs still come from the thread; they find no job any more.
          if (!this.#jobs.delete(id)) return;
          signal?.removeEventListener("abort", abort);
          if ("error" in answer) reject(answer.error);
          else resolve(answer);
          if (this.#jobs.size === 0) this.#onIdle?.();
        },
      };
      this.#jobs.set(id, job);
      signal?.addEventListener("abort", abort, { once: true });
      this.#queue.add(job);
      this.#scheduleDispatch();
    });
  }

  /** Job numbers fit the shared Int32 and start again; 0 means none. A number still in use is passed over. */
  #takeId(): number {
    do {
      this.#nextId = this.#nextId >= 0x7fff_ffff ? 1 : this.#nextId + 1;
    } while (this.#jobs.has(this.#nextId));
    return this.#nextId;
  }

  #addThread(isSpare = false): void {
    const thread = new ParserThread(
      { ...this.#threadOptions, isSpare },
      {
        ready: () => this.#threadReady(),
        results: (_thread, results) => this.#takeResults(results),
        ended: (ended, end) => this.#threadEnded(ended, end),
      },
    );
    this.#threads.add(thread);
  }

  #threadReady(): void {
    if ([...this.#threads].every((thread) => thread.isReady)) this.#onReady?.();
    this.#scheduleDispatch();
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
    // Spare ones come last: they get less of the processors.
    const threads = [...this.#threads].toSorted((one, other) => Number(one.isSpare) - Number(other.isSpare));
    // While a thread works on one batch the next lies ready, unless that would keep another company waiting.
    for (let open = 0; open < maxOpenBatches; open += 1) {
      for (const thread of threads) if (thread.openBatches === open) this.#give(thread);
    }
    this.#watchStanding();
  }

  #give(thread: ParserThread): void {
    if (!thread.isReady || thread.isRetiring) return;
    const isFree = thread.openBatches === 0;
    const isOwn = (job: Job) => isSameLine(job, thread.line);
    if (!isFree && (thread.isAtLarge || this.#queue.has((job) => !isOwn(job)))) return;
    const isOpen = isFree ? (job: Job) => this.#mayHave(thread, job) : isOwn;
    const share = (waiting: number) => Math.min(Math.ceil(waiting / this.#threads.size), maxBatch);
    const batch = this.#queue.takeSome(share, isOpen);
    if (batch.length > 0) this.#send(thread, batch);
  }

  /** Whether a free thread may begin with the job. */
  #mayHave(thread: ParserThread, job: Job): boolean {
    return thread.isSpare ? this.#needsSpare(job) : !isLargeLine(job.line);
  }

  /** No thread works for its line, and no spare one for its company. */
  #needsSpare(job: Job): boolean {
    return ![...this.#threads].some(
      ({ openBatches, line, isSpare }) =>
        openBatches > 0 && (isSameLine(job, line) || (isSpare && line.companyCode === job.companyCode)),
    );
  }

  #watchStanding(): void {
    const isNeeded = this.#state === "running" && this.#queue.has((job) => this.#needsSpare(job));
    if (!isNeeded) {
      clearInterval(this.#stillWatch);
      this.#stillWatch = undefined;
      return;
    }
    this.#stillWatch ??= setInterval(() => this.#addSpareIfStanding(), this.#stillMs).unref();
    const isFirst = ![...this.#threads].some((thread) => thread.isSpare);
    if (isFirst && this.#queue.has((job) => isLargeLine(job.line))) this.#addThread(true);
  }

  #addSpareIfStanding(): void {
    // Each is asked, so that each remembers what it was at.
    const standing = new Set([...this.#threads].filter((thread) => thread.standsStill()));
    const isStuck = (job: Job) =>
      [...this.#threads].every((thread) => standing.has(thread) || !this.#serves(thread, job));
    if (!this.#queue.has((job) => this.#needsSpare(job) && isStuck(job))) return;
    if (this.#threads.size >= this.#threadCount + maxSpares) return;
    if ([...this.#threads].some((thread) => thread.isSpare && !thread.isReady)) return;
    this.#addThread(true);
    this.#log.info({ threads: this.#threads.size }, "parser threads stand still; one more serves what waits");
  }

  /** Whether the thread is one for documents like this, when it is free. */
  #serves(thread: ParserThread, job: Job): boolean {
    return thread.isSpare || !isLargeLine(job.line);
  }

  #send(thread: ParserThread, batch: readonly Job[]): void {
    const waiting = batch.filter((job) => this.#jobs.has(job.id)); // aborted ones have gone
    const [first] = waiting;
    if (first === undefined) return;
    for (const job of waiting) job.thread = thread;
    thread.send(first, waiting.map(messageOfJob));
    if (!thread.isSpare) return;
    this.#spareIdle ??= setTimeout(() => this.#endSpares(), spareIdleMs).unref();
    this.#spareIdle.refresh();
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

  #threadEnded(thread: ParserThread, end: ThreadEnd): void {
    this.#threads.delete(thread);
    const held = [...this.#jobs.values()].filter((job) => job.thread === thread);
    for (const job of held) this.#afterEnd(job, end);
    this.#queue.putBack(held.filter((job) => this.#jobs.has(job.id)));
    if (end.reason !== "stopped") {
      const { reason, detail } = end;
      this.#log.warn(
        { reason, detail, jobs: held.length },
        "a parser thread ended; its documents are taken up again",
      );
    }
    if (!end.wasReady)
      this.#onStartFailure?.(new Error(`a parser thread did not start: ${end.detail ?? end.reason}`));
    // Another spare is made when it is needed.
    if (!thread.isSpare) this.#replaceThread(end);
    this.#scheduleDispatch();
  }

  #afterEnd(job: Job, end: ThreadEnd): void {
    job.thread = undefined;
    if (end.reason === "stopped") return;
    if (job.id === end.jobId && end.isReading && end.reason === "time") {
      const message = "the disk does not give its bytes";
      job.settle({ kind: "unreadable", systemCode: "ETIMEDOUT", message });
      return;
    }
    job.witnessed++;
    if (job.id === end.jobId) job.blamed++;
    const isRefused = job.blamed >= 2 || job.witnessed >= maxWitnessed;
    if (!isRefused) return;
    if (job.refuseWith !== undefined) {
      // It ends threads even when it is only hashed: then it is not the document, but the disk below it.
      job.settle({ kind: "unreadable", systemCode: "EIO", message: "it cannot be read to its end" });
      return;
    }
    job.refuseWith = { code: "tooLarge", message: endings[end.reason] };
    job.blamed = 1;
    job.witnessed = 0;
  }

  #replaceThread(end: ThreadEnd): void {
    if (this.#state === "new" || this.#state === "stopped" || this.#onStartFailure !== undefined) return;
    if (end.wasReady) this.#addThread();
    else {
      // A thread that cannot even start would otherwise be made anew without end.
      this.#restart = setTimeout(() => this.#addThread(), restartDelayMs);
    }
  }

  async #endAll(): Promise<void> {
    this.#state = "stopped";
    clearTimeout(this.#restart);
    clearTimeout(this.#spareIdle);
    clearInterval(this.#stillWatch);
    for (const job of [...this.#jobs.values()]) job.settle({ error: stoppingError() });
    while (this.#queue.take() !== undefined);
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }
}

function stoppingError(): DropgateError {
  return new DropgateError("overloaded", "The service is stopping. Send the document again later.");
}

/** Makes a pool of parser threads. It takes jobs at once, and works on them when it has been started. */
export function createDocumentPool(options: DocumentPoolOptions): DocumentPool {
  return new ThreadedDocumentPool(options);
}
