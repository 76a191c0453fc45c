/**
 * Jobs of a client of a server, in a thread that it has for itself meanwhile, so that nothing a server does blocks anything
 * else.
 *
 *   no thread   until there is a job; it may have to wait for one (`client-threads.ts`)
 *   working     jobs under way; each has its total deadline, from when it begins
 *   idle        the thread may go to the client of another server, or is ended after a while
 *
 * The thread gets a message to give up a job that is over its time or aborted. When it does not do so within a second,
 * because a library is stuck, the thread is killed, and the next job gets another.
 */
import type { FailedOutcome } from "../domain/outbound/delivery-fault.ts";
import { type ClientThreads, clientThreads } from "./client-threads.ts";
import type { SessionThread, ThreadUser } from "./session-thread.ts";
import { failedBy } from "./transfer-fault.ts";

/** To give a job up, and to cut its connection. */
interface CancelJob {
  readonly kind: "cancel";
  readonly id: number;
}

/** Said once for each job. */
interface JobDone<Outcome> {
  readonly kind: "done";
  readonly id: number;
  readonly outcome: Outcome;
}

/** All messages to the client, of which `To` are its own. */
export type ToJobThread<To> = To | CancelJob;
/** All messages of the client, of which `News` are its own. */
export type FromJobThread<News, Outcome> = News | JobDone<Outcome>;

interface OfJob {
  readonly kind: string;
  readonly id: number;
}

export interface ThreadJobsOptions {
  /** The file of the client's module, and its settings. */
  readonly client: Pick<ThreadUser, "module" | "data">;
  /** The server, as messages begin with it. */
  readonly where: string;
  /** Of each job. */
  readonly timeoutMs: number;
  /** How long the thread is kept without jobs. */
  readonly idleMs: number;
  /** Default those that all clients of the process share. */
  readonly threads?: ClientThreads;
}

export interface ThreadJob<To, News> {
  /** What begins it. */
  begin(id: number): To;
  /** What the thread says before it is done. */
  hear?(news: News): void;
  /** For the message when it is over its time. */
  late(): string;
}

export interface JobEnd<Outcome> {
  /** How it ended, whatever it was asked. */
  readonly outcome: Outcome | FailedOutcome;
  /** Why it had to give up: then its own message about that is of no interest. */
  readonly verdict: FailedOutcome | undefined;
}

interface Pending<To, News extends OfJob, Outcome> {
  readonly id: number;
  /** Undefined until there is one for it. */
  thread: SessionThread | undefined;
  readonly job: ThreadJob<To, News>;
  readonly timers: Set<NodeJS.Timeout>;
  verdict: FailedOutcome | undefined;
  readonly settle: (outcome: Outcome | FailedOutcome) => void;
}

/** How long a thread may take to give a job up. */
const graceMs = 1_000;

/** Of all clients, so that what a thread says late of a job of one is never taken for a job of another. */
let lastId = 0;

/** `To` and `News` are the own messages of its client. */
export class ThreadJobs<To extends OfJob, News extends OfJob, Outcome> {
  readonly #options: ThreadJobsOptions;
  readonly #threads: ClientThreads;
  readonly #user: ThreadUser;
  readonly #pending = new Map<number, Pending<To, News, Outcome>>();
  #thread: SessionThread | undefined;
  #isTaking = false;

  constructor(options: ThreadJobsOptions) {
    this.#options = options;
    this.#threads = options.threads ?? clientThreads;
    this.#user = {
      ...options.client,
      message: (message) => this.#receive(message as News | JobDone<Outcome>),
      ended: (thread, detail) => this.#ended(thread, detail),
    };
  }

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Does a job. Aborted, it ends when the thread has given it up. Never rejects. */
  run(job: ThreadJob<To, News>, signal: AbortSignal): Promise<JobEnd<Outcome>> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve) => {
      const abort = () => this.#giveUp(pending, this.#lost("aborted"));
      const settle = (outcome: Outcome | FailedOutcome) => {
        signal.removeEventListener("abort", abort);
        resolve({ outcome, verdict: pending.verdict });
      };
      const pending: Pending<To, News, Outcome> = {
        ...{ id, thread: undefined, job, timers: new Set(), verdict: undefined, settle },
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#pending.set(id, pending);
      if (this.#thread === undefined) void this.#take();
      else this.#begin(pending, this.#thread);
    });
  }

  async #take(): Promise<void> {
    if (this.#isTaking) return;
    this.#isTaking = true;
    const thread = await this.#threads.take(this.#user);
    this.#isTaking = false;
    if (thread === undefined) return;
    const waiting = [...this.#pending.values()].filter((pending) => pending.thread === undefined);
    if (thread.gone !== undefined) {
      const fault = this.#fault(thread.gone);
      for (const pending of waiting) this.#settle(pending, fault);
      return;
    }
    this.#thread = thread;
    for (const pending of waiting) this.#begin(pending, thread);
    // All of them were given up meanwhile, or the client is closed.
    if (!this.isBusy) this.#giveBack(0);
  }

  #begin(pending: Pending<To, News, Outcome>, thread: SessionThread): void {
    const { job, timers, id } = pending;
    pending.thread = thread;
    const late = () => this.#giveUp(pending, failedBy("timeout", `${this.#options.where}: ${job.late()}.`));
    timers.add(setTimeout(late, this.#options.timeoutMs));
    thread.post(job.begin(id));
  }

  /** To the thread of the job that the message names; nowhere when the job is over. The memory of `given` is given away. */
  post(message: To, given: readonly ArrayBuffer[] = []): void {
    this.#pending.get(message.id)?.thread?.post(message, given);
  }

  /** Whether there is a reason already why the job fails. */
  isGivenUp(id: number): boolean {
    return this.#pending.get(id)?.verdict !== undefined;
  }

  /** The job fails for a reason outside of its thread; it still has to end. */
  fail(id: number, verdict: FailedOutcome): void {
    const pending = this.#pending.get(id);
    if (pending !== undefined) pending.verdict ??= verdict;
  }

  /** Gives up what is under way and ends the thread. A later job gets another. */
  async close(): Promise<void> {
    for (const pending of [...this.#pending.values()]) this.#giveUp(pending, this.#lost("closed"));
    const thread = this.#thread;
    this.#thread = undefined;
    await Promise.all([thread?.end(), this.#threads.leave(this.#user)]);
  }

  #lost(why: string): FailedOutcome {
    return failedBy("connectionLost", `${this.#options.where}: ${why}.`);
  }

  #receive(message: News | JobDone<Outcome>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    if (isDone(message)) this.#settle(pending, message.outcome);
    else pending.job.hear?.(message);
  }

  /** Has the thread give the job up, and ends the thread when it does not. */
  #giveUp(pending: Pending<To, News, Outcome>, verdict: FailedOutcome): void {
    const { id, thread } = pending;
    if (!this.#pending.has(id)) return;
    pending.verdict ??= verdict;
    if (thread === undefined) {
      this.#settle(pending, verdict);
      return;
    }
    thread.post({ kind: "cancel", id } satisfies CancelJob);
    const end = () => {
      if (this.#thread === thread) this.#thread = undefined;
      void thread.kill("it was stuck");
      this.#settle(pending, verdict);
    };
    pending.timers.add(setTimeout(end, graceMs));
  }

  #settle(pending: Pending<To, News, Outcome>, outcome: Outcome | FailedOutcome): void {
    if (!this.#pending.delete(pending.id)) return;
    for (const timer of pending.timers) clearTimeout(timer);
    pending.settle(outcome);
    if (!this.isBusy) this.#giveBack(this.#options.idleMs);
  }

  #giveBack(idleMs: number): void {
    const thread = this.#thread;
    this.#thread = undefined;
    if (thread !== undefined) this.#threads.give(thread, idleMs);
  }

  #fault(detail: string): FailedOutcome {
    const message = `${this.#options.where}: the client ended: ${detail}.`;
    return failedBy("protocol", message, { scope: "target" });
  }

  #ended(thread: SessionThread, detail: string): void {
    if (this.#thread === thread) this.#thread = undefined;
    const fault = this.#fault(detail);
    for (const pending of [...this.#pending.values()])
      if (pending.thread === thread) this.#settle(pending, fault);
  }
}

function isDone<News extends OfJob, Outcome>(message: News | JobDone<Outcome>): message is JobDone<Outcome> {
  return message.kind === "done";
}
