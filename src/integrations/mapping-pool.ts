/**
 * The processes that map bodies, and the bodies that wait for them (specification/integrations.md#isolation).
 *
 * A body waits in the queue, goes to a free process, and is answered. A body that takes its process over its time or memory
 * is refused with 909 at once: only one is in hand, so it is the cause. Processes are made when they are first needed and
 * again when one has ended. Nothing here survives a crash; the client has no answer then and sends again.
 */
import { aborted } from "../lib/aborted.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { DropgateError } from "../lib/errors.ts";
import type { Logger } from "../lib/logs/log.ts";
import { FairQueue } from "../lib/threads/fair-queue.ts";
import type { EndReason } from "../lib/threads/worker-host.ts";
import { outOfTimeMessage } from "./integration.ts";
import type { MappingJob, MappingOutcome } from "./map-body.ts";
import { MappingProcess, type ProcessLimits } from "./mapping-process.ts";

export interface MappingPoolOptions {
  readonly log: Logger;
  /** At most so many at the same time. Default 2. */
  readonly processes?: number;
  readonly limits?: Partial<ProcessLimits>;
  readonly clock?: Clock;
  /** How long a body may wait for a process. */
  readonly maxWaitMs?: number;
}

interface Job {
  readonly mapping: MappingJob;
  readonly companyCode: string;
  /** It has a process, and waits no more. */
  begin(): void;
  readonly resolve: (outcome: MappingOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** As long as the slowest body in hand may take, and no client waits much longer. */
const defaultMaxWaitMs = 60_000;
const defaultLimits: ProcessLimits = { maxHeapMb: 384, maxMemoryMb: 800, maxParserMb: 320 };

export class MappingPool {
  readonly #log: Logger;
  readonly #limits: ProcessLimits;
  readonly #maxProcesses: number;
  readonly #maxWaitMs: number;
  readonly #queue: FairQueue<Job>;
  readonly #processes = new Set<MappingProcess>();
  readonly #free: MappingProcess[] = [];
  readonly #inHand = new Map<MappingProcess, Job>();
  #isStopping = false;
  #onIdle: (() => void) | undefined;

  constructor({ log, processes = 2, limits, clock, maxWaitMs }: MappingPoolOptions) {
    this.#log = log;
    this.#limits = { ...defaultLimits, ...limits };
    this.#maxProcesses = processes;
    this.#maxWaitMs = maxWaitMs ?? defaultMaxWaitMs;
    this.#queue = new FairQueue(clock ?? systemClock, processes);
  }

  /** Makes one process ready ahead, so that the next body does not wait for it. */
  prepare(): void {
    if (this.#processes.size === 0 && !this.#isStopping) this.#addProcess();
  }

  /** Takes no more; what is in hand or waits is done until the deadline. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopping = true;
    const idle = Promise.withResolvers<void>();
    this.#onIdle = idle.resolve;
    if (!this.#isIdle) await Promise.race([idle.promise, aborted(deadline)]);
    this.#queue.rejectAll((job) => job.reject(stoppingError()));
    await Promise.all([...this.#processes].map((one) => one.end()));
  }

  /** Maps a body. Rejects with a `DropgateError`, or with the signal's reason. */
  run(mapping: MappingJob, signal: AbortSignal | undefined): Promise<MappingOutcome> {
    if (this.#isStopping) return Promise.reject(stoppingError());
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      // Only one that waits is taken back: one in hand is soon done, and ending its process would cost more.
      const takeBack = (reason: unknown) => {
        this.#queue.remove(job);
        job.reject(reason);
      };
      const abort = () => takeBack(signal?.reason);
      const deadline = setTimeout(() => takeBack(busyError()), this.#maxWaitMs);
      const settled = () => {
        clearTimeout(deadline);
        signal?.removeEventListener("abort", abort);
      };
      const job: Job = {
        mapping,
        companyCode: mapping.companyCode,
        begin: () => clearTimeout(deadline),
        resolve: (outcome) => {
          settled();
          resolve(outcome);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#queue.add(job);
      this.#dispatch();
    });
  }

  get #isIdle(): boolean {
    return this.#inHand.size === 0 && this.#queue.size === 0;
  }

  #dispatch(): void {
    while (this.#free.length > 0) {
      const job = this.#queue.take();
      if (job === undefined) break;
      const process = this.#free.pop();
      if (process === undefined) break;
      this.#inHand.set(process, job);
      job.begin();
      process.send(job.mapping);
    }
    const starting = this.#processes.size - this.#inHand.size - this.#free.length;
    const isWanted = this.#queue.size > starting && this.#queue.isReady;
    if (isWanted && this.#processes.size < this.#maxProcesses) this.#addProcess();
    if (this.#isIdle) this.#onIdle?.();
  }

  #addProcess(): void {
    const added = new MappingProcess(this.#limits, {
      free: (process) => {
        this.#free.push(process);
        this.#dispatch();
      },
      done: (process, outcome) => this.#takeOf(process)?.resolve(outcome),
      ended: (process, end) => this.#ended(process, end),
    });
    this.#processes.add(added);
  }

  #takeOf(process: MappingProcess): Job | undefined {
    const job = this.#inHand.get(process);
    this.#inHand.delete(process);
    if (job !== undefined) this.#queue.done(job);
    return job;
  }

  #ended(process: MappingProcess, { reason, detail }: { reason: EndReason; detail: string }): void {
    this.#processes.delete(process);
    const at = this.#free.indexOf(process);
    if (at !== -1) this.#free.splice(at, 1);
    const job = this.#takeOf(process);
    const { serviceName, companyCode } = job?.mapping ?? {};
    if (reason !== "stopped") {
      this.#log.warn({ reason, detail, integration: serviceName, companyCode }, "a mapping process ended");
    }
    job?.reject(endError(reason, job.mapping));
    if (!process.isStarted && reason !== "stopped") {
      // Processes that do not even start would be made anew without end, so what waits for them is refused.
      const cause = new Error(detail);
      const fault = new DropgateError("internal", "the integrations cannot be run", { cause });
      this.#queue.rejectAll((waiting) => waiting.reject(fault));
    }
    // The next body is not to wait for the start; one that could not start is tried again when a body comes.
    else this.prepare();
    this.#dispatch();
  }
}

function stoppingError(): DropgateError {
  return new DropgateError("overloaded", "dropgate is stopping. Send the same request again later.");
}

function busyError(): DropgateError {
  return new DropgateError(
    "overloaded",
    "too many bodies wait to be mapped. Send the same request again later.",
  );
}

function endError(reason: EndReason, { serviceName, integration }: MappingJob): DropgateError {
  if (reason === "stopped") return stoppingError();
  if (reason === "time")
    return new DropgateError("tooLarge", outOfTimeMessage(serviceName, integration.timeoutMs));
  const what =
    reason === "memory" ? "needs more memory for the body than it may have" : "has failed on the body";
  const message = `the integration ${serviceName} ${what}. Send it in smaller parts, or tell the operator.`;
  return new DropgateError("tooLarge", message);
}
