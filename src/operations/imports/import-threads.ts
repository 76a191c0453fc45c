/**
 * The reader threads: large JSON bodies are parsed, checked and made ready in them, company by company in turn. While several
 * companies send such bodies, none of them holds all threads.
 *
 *   waiting ─> in hand ─ entries, part by part ─> done
 *                      └ over its memory or its time: refused (909), the thread is ended
 *
 * A thread is made when there is work for it, and ended when there was none for a minute. Nothing here survives a crash: the
 * client has no answer then and sends again.
 */
import { aborted } from "../../lib/aborted.ts";
import { DropgateError } from "../../lib/errors.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { FairQueue } from "../../lib/threads/fair-queue.ts";
import type { JsonLimits } from "../../lib/json-text.ts";
import type { Service } from "../../lib/service.ts";
import type { ImportReaders, LargeImport, Prepared, PreparedKind } from "./import-preparation.ts";
import type { LoadLines } from "./load-text.ts";
import type { ReaderJob } from "./import-worker-messages.ts";
import type { EventReaders, LargeEvent, SentEvent } from "../execution/read-route-event.ts";
import { type ReaderResult, ReaderThread, type ReaderThreadOptions } from "./reader-thread.ts";
import { minuteMs } from "../../lib/durations.ts";

export interface BodyToCheck {
  /** Transferred: empty afterwards. */
  readonly bytes: Uint8Array;
  readonly limits: JsonLimits;
  readonly companyCode: string;
}

export interface ImportThreads extends Service, ImportReaders, LoadLines, EventReaders {
  /**
   * The bytes themselves, once they are known to be JSON within the limits, so that a plain parse is all that is left to do.
   * Throws 900, 902 and 909 as `parseJsonBytes` does.
   */
  check(body: BodyToCheck): Promise<Uint8Array>;
}

export interface ImportThreadsOptions {
  /** At most so many at the same time. Default 2. */
  readonly threads?: number;
  /** The memory of a thread grows with the largest body. */
  readonly maxBodyBytes: () => number;
  /** For one body. Default a minute. */
  readonly deadlineMs?: number;
  readonly idleMs?: number;
  readonly clock?: Clock;
}

interface Waiting {
  readonly companyCode: string;
  readonly job: ReaderJob;
  readonly resolve: (result: ReaderResult) => void;
  readonly reject: (error: unknown) => void;
}

const megabyte = 1_048_576;

/** The forms of a body while it is read: its text, the values, and the rows made of them. */
function heapFor(bodyBytes: number): number {
  return 256 + Math.ceil((12 * bodyBytes) / megabyte);
}

function stopping(): DropgateError {
  return new DropgateError("overloaded", "dropgate is stopping. Send the same request again later.");
}

class ReaderPool implements ImportThreads {
  readonly name = "reader threads";
  readonly #options: Required<ImportThreadsOptions>;
  readonly #queue: FairQueue<Waiting>;
  readonly #free: ReaderThread[] = [];
  readonly #threads = new Set<ReaderThread>();
  readonly #busy = new Set<ReaderThread>();
  #idle: NodeJS.Timeout | undefined;
  #isStopping = false;
  #onIdle: (() => void) | undefined;

  constructor(options: ImportThreadsOptions) {
    this.#options = {
      ...{ threads: 2, deadlineMs: minuteMs, idleMs: minuteMs, clock: systemClock },
      ...options,
    };
    this.#queue = new FairQueue(this.#options.clock, this.#options.threads);
  }

  async start(): Promise<void> {
    this.#isStopping = false;
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#idle);
    const idle = Promise.withResolvers<void>();
    this.#onIdle = idle.resolve;
    if (!this.#isIdle) await Promise.race([idle.promise, aborted(deadline)]);
    this.#queue.rejectAll((one) => one.reject(stopping()));
    await Promise.all([...this.#threads].map((thread) => thread.end(stopping())));
  }

  async prepare<Kind extends PreparedKind>(
    prepared: Kind,
    { bytes, limits, ...input }: LargeImport,
  ): Promise<Prepared<Kind>> {
    const job = { kind: "prepare", prepared, bytes, limits, input } as const;
    // What the thread makes is what `Preparations` says of the kind.
    return (await this.#run(job, input.companyCode)) as Prepared<Kind>;
  }

  async check({ bytes, limits, companyCode }: BodyToCheck): Promise<Uint8Array> {
    const checked = await this.#run({ kind: "check", bytes, limits }, companyCode);
    if (!(checked instanceof Uint8Array)) throw new Error("a reader thread gave entries for a check");
    return checked;
  }

  async loadLines(text: string, companyCode: string): Promise<string> {
    // It was within the limits of its time when it was taken.
    const limits = { maxDepth: Number.MAX_SAFE_INTEGER, maxValues: Number.MAX_SAFE_INTEGER };
    const job = { kind: "lines", bytes: new TextEncoder().encode(text), limits } as const;
    const lines = await this.#run(job, companyCode);
    if (!(lines instanceof Uint8Array)) throw new Error("a reader thread gave entries for a load");
    return new TextDecoder().decode(lines);
  }

  async readEvent({ bytes, limits, ...input }: LargeEvent): Promise<SentEvent> {
    const event = await this.#run({ kind: "event", bytes, limits, input }, input.companyCode);
    if (!("contents" in event)) throw new Error("a reader thread gave something else for an event");
    return event;
  }

  #run(job: ReaderJob, companyCode: string): Promise<ReaderResult> {
    if (this.#isStopping) return Promise.reject(stopping());
    return new Promise((resolve, reject) => {
      this.#queue.add({ companyCode, job, resolve, reject });
      this.#dispatch();
    });
  }

  get #isIdle(): boolean {
    return this.#busy.size === 0 && this.#queue.size === 0;
  }

  #dispatch(): void {
    clearTimeout(this.#idle);
    while (this.#queue.isReady) {
      const thread = this.#free.pop() ?? this.#added();
      if (thread === undefined) return;
      const waiting = this.#queue.take();
      if (waiting !== undefined) this.#send(thread, waiting);
    }
    if (!this.#isIdle) return;
    this.#onIdle?.();
    this.#idle = setTimeout(() => this.#endFree(), this.#options.idleMs).unref();
  }

  #added(): ReaderThread | undefined {
    const { threads, maxBodyBytes, deadlineMs } = this.#options;
    if (this.#threads.size >= threads) return undefined;
    const options: ReaderThreadOptions = { maxHeapMb: heapFor(maxBodyBytes()), deadlineMs };
    const thread = new ReaderThread(options, (ended) => this.#ended(ended));
    this.#threads.add(thread);
    return thread;
  }

  #send(thread: ReaderThread, waiting: Waiting): void {
    this.#busy.add(thread);
    const settle = () => {
      this.#busy.delete(thread);
      this.#queue.done(waiting);
      if (this.#threads.has(thread)) this.#free.push(thread);
      this.#dispatch();
    };
    void thread.run(waiting.job).then(waiting.resolve, waiting.reject).finally(settle);
  }

  #ended(thread: ReaderThread): void {
    this.#threads.delete(thread);
    const at = this.#free.indexOf(thread);
    if (at !== -1) this.#free.splice(at, 1);
    // While it was ending it held the place of another.
    this.#dispatch();
  }

  #endFree(): void {
    for (const thread of this.#free.splice(0)) void thread.end(stopping());
  }
}

/** Makes the pool. It takes jobs at once. */
export function createImportThreads(options: ImportThreadsOptions): ImportThreads {
  return new ReaderPool(options);
}
