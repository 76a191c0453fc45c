/**
 * The queries of the console, in a thread of their own, so that none holds up a file or a request of a host:
 *
 *   asked ──> waiting ──> in hand ──> begun ──> late ──> answered
 *                └─────── time ────────┘          └── time, or the thread is stuck ──> refused as overloaded
 *
 * The time of a query counts from when the thread begins it: what it waited for others before is not its own. When that time
 * is over, it is late, and the thread has to show that it still listens. One that does waits for files, or for a processor,
 * and the query goes on for a while. One that does not is stuck in a call: it is ended as soon as the call returns, what was
 * late is refused, and the rest is asked once more in a new thread, as queries only read. After a crash, or too much memory,
 * all in hand is refused. Nothing survives, and nothing needs to.
 *
 * The thread starts with the first query.
 */
import { Secret } from "../../config/reader/secret.ts";
import type { Config } from "../../config/schema.ts";
import type { Asked, Found, QueryName, Scope } from "../../endpoints/http/console/console-services.ts";
import { aborted } from "../../lib/aborted.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Service } from "../../lib/service.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { type WorkerEnd, WorkerHost } from "../../lib/threads/worker-host.ts";
import type { StatePlace } from "../../store/database/state-place.ts";
import { longestQueryMs, type QueryOrder, type QueryReport, type QuerySetup } from "./query-messages.ts";

export interface QueryLimits {
  /** How many queries wait at most while others are in hand. */
  readonly maxWaiting: number;
  /** How many are in hand: what waits for files lets others go on. */
  readonly maxInHand: number;
  /** How long a query waits at most until it is begun, also for the thread to load. */
  readonly waitMs: number;
  /** The time of a query that is begun: what takes longer is late. */
  readonly deadlineMs: number;
  /** How long the thread may be silent when a query is late. */
  readonly pongMs: number;
  /** How long a query takes at most in a thread that listens. */
  readonly longestMs: number;
  readonly maxHeapMb: number;
}

const limitsOfConsole: QueryLimits = {
  maxWaiting: 64,
  maxInHand: 4,
  waitMs: 10_000,
  deadlineMs: 2_000,
  pongMs: 1_000,
  longestMs: longestQueryMs,
  maxHeapMb: 128,
};

export interface QueryHostOptions extends StatePlace {
  /** Seals the references of ledger entries. */
  readonly numberKey: string;
  readonly config: Config;
  readonly limits?: Partial<QueryLimits>;
  /** The module of the thread; that of the console unless given. */
  readonly file?: URL;
}

type Ask = Extract<QueryOrder, { kind: "ask" }>;

interface Call {
  readonly order: Omit<Ask, "timeMs">;
  readonly resolve: (found: unknown) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
  isLate: boolean;
  /** It was in hand of a thread that got stuck in the call of another one. */
  wasLost: boolean;
}

function overloaded(why: string, cause?: unknown): DropgateError {
  return new DropgateError("overloaded", why, { cause });
}

const tooLong =
  "this took too long: try again in a moment; narrow a search by a company, a day or a longer beginning of the name";
const tooMany = "too much is looked up at the same time: try again in a moment";
const stopping = "dropgate is stopping: try again soon";
const tooLarge = "the search needed too much memory: narrow the search, by a company or a day";

/** Secrets stay in the thread that uses them. */
function withoutSecrets(value: unknown): unknown {
  if (value instanceof Secret) return undefined;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutSecrets(part)]));
}

function errorOf(report: Extract<QueryReport, { kind: "refused" | "failed" }>): Error {
  if (report.kind === "refused")
    return new DropgateError(report.code, report.message, { faults: report.faults });
  const error = new Error(report.message);
  if (report.stack !== undefined) error.stack = report.stack;
  return error;
}

/** Why the queries in hand of a thread that has ended have no answer. */
function lossOf({ reason, detail, error }: WorkerEnd): Error {
  if (reason === "memory") return overloaded(tooLarge, error);
  if (reason === "time") return overloaded(tooLong);
  if (reason === "stopped") return overloaded(stopping);
  return new Error(`the thread of the console's queries failed: ${detail ?? "it ended"}`, { cause: error });
}

export class QueryHost implements Service {
  readonly name = "queries of the console";
  readonly #options: QueryHostOptions & { readonly limits: QueryLimits };
  #config: Config;
  #host: WorkerHost<QueryReport> | undefined;
  /** Whether the thread was asked to show that it listens, and has not yet: it gets nothing until then. */
  #isDoubted = false;
  #isStopped = false;
  readonly #waiting: Call[] = [];
  readonly #inHand = new Map<number, Call>();
  #lastId = 0;

  constructor(options: QueryHostOptions) {
    this.#options = { ...options, limits: { ...limitsOfConsole, ...options.limits } };
    this.#config = withoutSecrets(options.config) as Config;
  }

  async start(): Promise<void> {
    // The thread starts with the first query: most daemons run for days without one.
  }

  /** The configuration of all queries that are put in hand from now on. */
  configure(config: Config): void {
    this.#config = withoutSecrets(config) as Config;
    this.#host?.post({ kind: "configure", config: this.#config } satisfies QueryOrder);
  }

  /** See `ConsoleServices`. */
  ask<Name extends QueryName>(name: Name, scope: Scope, asked: Asked<Name>): Promise<Found<Name>> {
    return this.askFor({ name, scope, asked }) as Promise<Found<Name>>;
  }

  /** The same without the types of the table of queries. */
  askFor(question: Pick<Ask, "name" | "scope" | "asked">): Promise<unknown> {
    const { maxWaiting } = this.#options.limits;
    if (this.#isStopped) return Promise.reject(overloaded(stopping));
    if (this.#waiting.length >= maxWaiting) return Promise.reject(overloaded(tooMany));
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      const order = { kind: "ask" as const, id: this.#lastId, ...question };
      const call: Call = { order, resolve, reject, timer: undefined, isLate: false, wasLost: false };
      this.#waiting.push(call);
      this.#refuseAfter(call, this.#options.limits.waitMs, tooMany);
      this.#putInHand();
    });
  }

  /** Refuses what is under way, and ends the thread as soon as its call returns; waits no longer than the deadline. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    for (const call of [...this.#waiting, ...this.#inHand.values()])
      this.#take(call)?.reject(overloaded(stopping));
    await Promise.race([this.#host?.end(), aborted(deadline)]);
  }

  #putInHand(): void {
    const { maxInHand, deadlineMs } = this.#options.limits;
    while (!this.#isDoubted && this.#inHand.size < maxInHand) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      this.#host ??= this.#begin();
      this.#inHand.set(call.order.id, call);
      this.#host.post({ ...call.order, timeMs: deadlineMs } satisfies QueryOrder);
    }
  }

  #begin(): WorkerHost<QueryReport> {
    const { stateDir, url, numberKey, file, limits } = this.#options;
    const data: QuerySetup = { stateDir, url, numberKey, config: this.#config };
    return new WorkerHost<QueryReport>(
      {
        ...{ name: this.name, data, maxHeapMb: limits.maxHeapMb },
        file: file ?? siblingModule("./query-worker", import.meta.url),
      },
      {
        message: (report) => this.#receive(report),
        ended: (end) => this.#ended(end),
      },
    );
  }

  #refuseAfter(call: Call, timeMs: number, why: string): void {
    clearTimeout(call.timer);
    call.timer = setTimeout(() => {
      this.#take(call)?.reject(overloaded(why));
      this.#putInHand();
    }, timeMs);
  }

  /** The query goes on if the thread shows that it listens. */
  #timeOver(call: Call): void {
    const { deadlineMs, longestMs, pongMs } = this.#options.limits;
    call.isLate = true;
    this.#refuseAfter(call, Math.max(0, longestMs - deadlineMs), tooLong);
    if (this.#isDoubted || this.#host === undefined) return;
    this.#isDoubted = true;
    this.#host.post({ kind: "ping" } satisfies QueryOrder);
    this.#host.within(pongMs);
  }

  /** Whoever gets the call answers it; undefined when somebody has. */
  #take(call: Call): Call | undefined {
    clearTimeout(call.timer);
    const place = this.#waiting.indexOf(call);
    if (place >= 0) this.#waiting.splice(place, 1);
    return this.#inHand.delete(call.order.id) || place >= 0 ? call : undefined;
  }

  #receive(report: QueryReport): void {
    if (report.kind === "pong") {
      this.#isDoubted = false;
      this.#host?.inTime();
      this.#putInHand();
      return;
    }
    const call = this.#inHand.get(report.id);
    if (call === undefined) return;
    if (report.kind === "begun") {
      clearTimeout(call.timer);
      call.timer = setTimeout(() => this.#timeOver(call), this.#options.limits.deadlineMs);
      return;
    }
    this.#take(call);
    if (report.kind === "found") call.resolve(report.found);
    else call.reject(errorOf(report));
    this.#putInHand();
  }

  #ended(end: WorkerEnd): void {
    this.#host = undefined;
    this.#isDoubted = false;
    for (const call of [...this.#inHand.values()].toReversed()) {
      this.#take(call);
      if (end.reason !== "time" || call.isLate || call.wasLost) call.reject(lossOf(end));
      else {
        call.wasLost = true;
        this.#waiting.unshift(call);
        this.#refuseAfter(call, this.#options.limits.waitMs, tooMany);
      }
    }
    this.#putInHand();
  }
}
