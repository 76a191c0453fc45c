/**
 * The custom integrations in force, and the processes that map bodies with them
 * (specification/integrations.md#isolation).
 *
 * A body waits in the queue, goes to a free process, and is answered. A body that takes its process over its time or memory
 * is refused with 909 at once: only one is in hand, so it is the cause. Processes are made when they are first needed and
 * again when one has ended. Nothing here survives a crash; the client has no answer then and sends again.
 */
import { isSameCompanyCode } from "../domain/users/company-code.ts";
import { DropgateError } from "../lib/errors.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { CompanyShares } from "../lib/company-shares.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Service } from "../lib/service.ts";
import type { Integration, MappingRequest } from "./integration.ts";
import { JobQueue } from "../lib/threads/job-queue.ts";
import type { MappingJob, MappingOutcome } from "./map-body.ts";
import { outOfTimeMessage } from "./out-of-time.ts";
import type { EndReason } from "../lib/threads/worker-host.ts";
import { MappingProcess, type ProcessLimits } from "./mapping-process.ts";

export interface Integrations extends Service {
  /** The integration of that name, if the company may use it. */
  find(serviceName: string, companyCode: string): Integration | undefined;
  /**
   * The document that the integration makes of a body. Throws `DropgateError`: 908 for an unknown name, what is wrong with
   * the body, 902 when the expression fails on it, 909 over a limit, 999 while stopping; and whatever the signal's reason is.
   */
  map(request: MappingRequest, signal?: AbortSignal): Promise<unknown>;
  /** The same as JSON text. */
  mapToText(request: MappingRequest, signal?: AbortSignal): Promise<string>;
  /** Others from now on; what is in hand goes on with what it began with. */
  configure(integrations: ReadonlyMap<string, Integration>): void;
}

export interface IntegrationsOptions {
  readonly integrations: ReadonlyMap<string, Integration>;
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

class MappingPool implements Integrations {
  readonly name = "integrations";
  readonly #log: Logger;
  readonly #limits: ProcessLimits;
  readonly #maxProcesses: number;
  #integrations: ReadonlyMap<string, Integration>;
  readonly #queue = new JobQueue<Job>();
  readonly #processes = new Set<MappingProcess>();
  readonly #free: MappingProcess[] = [];
  readonly #inHand = new Map<MappingProcess, Job>();
  readonly #shares: CompanyShares;
  readonly #maxWaitMs: number;
  #isStopping = false;
  #onIdle: (() => void) | undefined;

  constructor({ integrations, log, processes = 2, limits, clock, maxWaitMs }: IntegrationsOptions) {
    this.#shares = new CompanyShares(clock ?? systemClock, processes);
    this.#maxWaitMs = maxWaitMs ?? defaultMaxWaitMs;
    this.#integrations = integrations;
    this.#log = log;
    this.#maxProcesses = processes;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** One process is made ready ahead, so that the first import does not wait for it. */
  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#integrations.size > 0) this.#addProcess();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopping = true;
    const idle = () => this.#onIdle?.();
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      deadline.addEventListener("abort", idle, { once: true });
      if (deadline.aborted || this.#isIdle) resolve();
    });
    deadline.removeEventListener("abort", idle);
    for (let job = this.#queue.take(); job !== undefined; job = this.#queue.take())
      job.reject(stoppingError());
    await Promise.all([...this.#processes].map((one) => one.end()));
  }

  configure(integrations: ReadonlyMap<string, Integration>): void {
    this.#integrations = integrations;
    if (integrations.size > 0 && this.#processes.size === 0 && !this.#isStopping) this.#addProcess();
  }

  find(serviceName: string, companyCode: string): Integration | undefined {
    const found = this.#integrations.get(serviceName);
    const { companies } = found ?? {};
    const isOpen = companies?.some((code) => isSameCompanyCode(code, companyCode)) ?? true;
    return isOpen ? found : undefined;
  }

  async map(request: MappingRequest, signal?: AbortSignal): Promise<unknown> {
    return JSON.parse(await this.mapToText(request, signal));
  }

  async mapToText(request: MappingRequest, signal?: AbortSignal): Promise<string> {
    const { serviceName, companyCode } = request;
    const integration = this.find(serviceName, companyCode);
    if (integration === undefined)
      throw new DropgateError("unknownService", `there is no integration ${serviceName.slice(0, 40)}.`);
    if (this.#isStopping) throw stoppingError();
    signal?.throwIfAborted();
    const outcome = await this.#run({ ...request, integration: forProcess(integration) }, signal);
    if (outcome.kind === "mapped") return outcome.text;
    const [first] = outcome.faults;
    if (first === undefined) throw new Error("a body was refused without a fault");
    throw new DropgateError(first.code, first.message, { faults: outcome.faults });
  }

  #run(mapping: MappingJob, signal: AbortSignal | undefined): Promise<MappingOutcome> {
    return new Promise((resolve, reject) => {
      // Only one that waits is taken back: one in hand is soon done, and ending its process would cost more.
      const abort = () => {
        this.#queue.remove(job);
        job.reject(signal?.reason);
      };
      const giveUp = () => {
        this.#queue.remove(job);
        job.reject(busyError());
      };
      const deadline = setTimeout(giveUp, this.#maxWaitMs);
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
      this.#shares.came(job.companyCode);
      this.#queue.add(job);
      this.#dispatch();
    });
  }

  get #isIdle(): boolean {
    return this.#inHand.size === 0 && this.#queue.size === 0;
  }

  #dispatch(): void {
    const mayHave = ({ companyCode }: Job) => this.#shares.mayHaveAnother(companyCode);
    while (this.#free.length > 0) {
      const job = this.#queue.take(mayHave);
      if (job === undefined) break;
      const process = this.#free.pop();
      if (process === undefined) break;
      this.#inHand.set(process, job);
      this.#shares.took(job.companyCode);
      job.begin();
      process.send(job.mapping);
    }
    const starting = this.#processes.size - this.#inHand.size - this.#free.length;
    const isWanted = this.#queue.size > starting && this.#queue.has(mayHave);
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
    if (job !== undefined) this.#shares.gaveBack(job.companyCode);
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
    if (!process.isStarted && reason !== "stopped") this.#rejectWaiting(detail);
    // The next body is not to wait for the start; one that could not start is tried again when a body comes.
    else if (this.#processes.size === 0 && !this.#isStopping) this.#addProcess();
    this.#dispatch();
  }

  /** Processes that do not even start would be made anew without end, so what waits for them is told. */
  #rejectWaiting(detail: string): void {
    const cause = new Error(detail);
    for (let job = this.#queue.take(); job !== undefined; job = this.#queue.take())
      job.reject(new DropgateError("internal", "the integrations cannot be run", { cause }));
  }
}

function forProcess({
  expression,
  input,
  timeoutMs,
  maxOutputBytes,
}: Integration): MappingJob["integration"] {
  return { expression, input, timeoutMs, maxOutputBytes };
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

/** Makes the integrations; they map from their start on. */
export function createIntegrations(options: IntegrationsOptions): Integrations {
  return new MappingPool(options);
}
