/**
 * One parser thread as the pool sees it: starting → ready → (retiring) → ended. A thread ends because it was stopped,
 * because a document took it over its memory or its time, or because it crashed; the pool then makes another.
 */
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { type EndReason, type WorkerEnd, WorkerHost } from "../../lib/threads/worker-host.ts";
import { isLargeLine, type ServedLine } from "./document-line.ts";
import {
  type NewLimits,
  progressAt,
  progressBytes,
  type WorkerJob,
  type WorkerReport,
  type WorkerResult,
  type WorkerSettings,
} from "./worker-messages.ts";
import type { StopDocumentLimits } from "../reading/stop-document.ts";

export interface ThreadEnd {
  readonly reason: EndReason;
  /** The job that was in hand, when it is known. */
  readonly jobId: number | undefined;
  /** It was still reading the file of that job. */
  readonly isReading: boolean;
  readonly wasReady: boolean;
  readonly detail: string | undefined;
}

export interface ThreadOptions {
  readonly limits: StopDocumentLimits;
  readonly documentsDir: string | undefined;
  readonly deadlineMs: number;
  readonly maxHeapMb: number;
  readonly maxParserMb: number;
  readonly isSpare: boolean;
}

export interface ThreadEvents {
  ready(thread: ParserThread): void;
  results(results: readonly WorkerResult[]): void;
  ended(thread: ParserThread, end: ThreadEnd): void;
}

/** Beyond this the parser's memory, which never shrinks, is given back by replacing the thread. */
const wornOutBytes = 48 * 1024 * 1024;

export class ParserThread {
  /** Batches sent and not yet answered. */
  openBatches = 0;
  /** Takes no more jobs, and ends when it has answered those it has. */
  isRetiring = false;
  /** Whose batches it has, and of which line; that of the last one while it has none. */
  line: ServedLine = { companyCode: "", line: "files" };
  /** The batch that it was sent last is one job that has been in a thread that ended. */
  hasSuspect = false;
  /**
   * Made for large documents, or because the others are blocked. It runs at a lower priority, serves lines that have no
   * thread, and ends when it is not needed.
   */
  readonly isSpare: boolean;
  readonly #events: ThreadEvents;
  #deadlineMs: number;
  readonly #host: WorkerHost<string>;
  readonly #progress = new Int32Array(new SharedArrayBuffer(progressBytes));
  #inHand = { jobId: 0, reads: 0, since: 0 };
  #lastSeenJobId = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: ThreadOptions, events: ThreadEvents) {
    this.#events = events;
    this.#deadlineMs = options.deadlineMs;
    this.isSpare = options.isSpare;
    const settings: WorkerSettings = {
      limits: options.limits,
      documentsDir: options.documentsDir,
      maxParserBytes: options.maxParserMb * 1024 * 1024,
      wornOutBytes,
      stepsBack: options.isSpare,
      progress: this.#progress.buffer,
    };
    const file = siblingModule("./document-worker", import.meta.url);
    this.#host = new WorkerHost<string>(
      { file, name: "stop document parser", data: settings, maxHeapMb: options.maxHeapMb },
      {
        loaded: () => this.#events.ready(this),
        message: (text) => this.#receive(JSON.parse(text) as WorkerReport),
        ended: (end) => this.#ended(end),
      },
    );
  }

  get isReady(): boolean {
    return this.#host.isLoaded;
  }

  get isAtLarge(): boolean {
    return this.openBatches > 0 && isLargeLine(this.line.line);
  }

  /** Whether it has worked on the same document since the last call, or has not begun to work yet. */
  standsStill(): boolean {
    if (!this.isReady) return true;
    const jobId = Atomics.load(this.#progress, progressAt.jobId);
    const isSame = jobId !== 0 && jobId === this.#lastSeenJobId;
    this.#lastSeenJobId = jobId;
    return isSame;
  }

  /** Sends one batch, of one line. The bytes of its jobs are given away. */
  send(line: ServedLine, jobs: readonly WorkerJob[]): void {
    this.openBatches++;
    this.line = line;
    const owned = jobs.flatMap((job) => (job.bytes === undefined ? [] : [job.bytes.buffer as ArrayBuffer]));
    // Text is a tenth of the time of a structured clone, for jobs as for reports; most jobs are paths.
    this.#host.post(owned.length === 0 ? JSON.stringify(jobs) : jobs, owned);
    this.#watch ??= setInterval(() => this.#checkDeadline(), Math.max(10, this.#deadlineMs / 10)).unref();
  }

  /** Holds the jobs that are sent from now on to other limits, and all to another deadline. */
  configure({ limits, deadlineMs }: Pick<ThreadOptions, "limits" | "deadlineMs">): void {
    this.#deadlineMs = deadlineMs;
    const message: NewLimits = { limits };
    this.#host.post(message);
  }

  /** Ends the thread as soon as it has loaded; `ended` follows with the reason "stopped". */
  async end(): Promise<void> {
    await this.#host.end();
  }

  #receive(report: WorkerReport): void {
    if (report.isBatchDone) this.openBatches--;
    if (report.isWornOut) this.isRetiring = true;
    if (this.openBatches === 0) this.#stopWatch();
    this.#events.results(report.results);
    if (this.isRetiring && this.openBatches === 0) void this.end();
  }

  /**
   * A document's time is what passes while this thread has it in hand, seen from outside: a stuck thread cannot tell. It
   * begins anew with each part of the file that is read: a slow disk is no fault of the document.
   */
  #checkDeadline(): void {
    const jobId = Atomics.load(this.#progress, progressAt.jobId);
    const reads = Atomics.load(this.#progress, progressAt.reads);
    const now = performance.now();
    if (jobId !== this.#inHand.jobId || reads !== this.#inHand.reads)
      this.#inHand = { jobId, reads, since: now };
    if (jobId === 0 || now - this.#inHand.since < this.#deadlineMs) return;
    this.#stopWatch();
    void this.#host.end("time");
  }

  #stopWatch(): void {
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  #ended({ reason, wasLoaded, detail }: WorkerEnd): void {
    this.#stopWatch();
    const jobId = Atomics.load(this.#progress, progressAt.jobId);
    const isParsing = Atomics.load(this.#progress, progressAt.isParsing) === 1;
    this.#events.ended(this, {
      reason,
      isReading: jobId !== 0 && !isParsing,
      jobId: jobId === 0 ? undefined : jobId,
      wasReady: wasLoaded,
      detail,
    });
  }
}
