/**
 * Jobs of a client of a server, in a thread of its own, so that nothing a server does holds up anything else.
 *
 *   no thread   until there is a job
 *   working     jobs under way; each has its total deadline
 *   idle        ended after a while
 *
 * A job that is over its time or aborted is told to give up. Where the thread does not do so within a second, because a
 * library is stuck, the thread is terminated, and the next job gets another.
 */
import type { FailedOutcome } from "../domain/delivery-fault.ts";
import {
  type EndThread,
  SessionThread,
  type SessionThreadOptions,
  type ThreadState,
} from "./session-thread.ts";
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

/** All that the thread is told, of which `To` are its own messages. */
export type ToJobThread<To> = To | CancelJob | EndThread;
/** All that the thread says, of which `News` are its own messages. */
export type FromJobThread<News, Outcome> = News | JobDone<Outcome> | ThreadState;

interface OfJob {
  readonly kind: string;
  readonly id: number;
}

export interface ThreadJobsOptions {
  readonly thread: SessionThreadOptions;
  /** The server, as messages begin with it. */
  readonly where: string;
  /** Of each job. */
  readonly timeoutMs: number;
  /** How long the thread is kept without jobs. */
  readonly idleMs: number;
}

export interface ThreadJob<To, News> {
  /** What begins it. */
  begin(id: number): To;
  /** What the thread says before it is done. */
  hear?(news: News): void;
  /** What is said when it is over its time. */
  late(): string;
}

export interface JobEnd<Outcome> {
  /** How it ended, whatever it was told. */
  readonly outcome: Outcome | FailedOutcome;
  /** Why it was told to give up: then its own words about that are not of interest. */
  readonly verdict: FailedOutcome | undefined;
}

type JobThread<To, News extends OfJob, Outcome> = SessionThread<To | CancelJob, News | JobDone<Outcome>>;

interface Pending<To, News extends OfJob, Outcome> {
  readonly id: number;
  readonly thread: JobThread<To, News, Outcome>;
  readonly job: ThreadJob<To, News>;
  readonly timers: Set<NodeJS.Timeout>;
  verdict: FailedOutcome | undefined;
  readonly settle: (outcome: Outcome | FailedOutcome) => void;
}

/** How long a thread may take to give a job up. */
const graceMs = 1_000;

/** `To` and `News` are the own messages of its thread. */
export class ThreadJobs<To extends OfJob, News extends OfJob, Outcome> {
  readonly #options: ThreadJobsOptions;
  readonly #pending = new Map<number, Pending<To, News, Outcome>>();
  #thread: JobThread<To, News, Outcome> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(options: ThreadJobsOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Does a job. Aborted, it ends when the thread has given it up. Never rejects. */
  run(job: ThreadJob<To, News>, signal: AbortSignal): Promise<JobEnd<Outcome>> {
    clearTimeout(this.#idle);
    this.#thread ??= this.#newThread();
    const thread = this.#thread;
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const abort = () => this.#giveUp(pending, this.#lost("aborted"));
      const settle = (outcome: Outcome | FailedOutcome) => {
        signal.removeEventListener("abort", abort);
        resolve({ outcome, verdict: pending.verdict });
      };
      const pending: Pending<To, News, Outcome> = {
        ...{ id, thread, job, timers: new Set(), verdict: undefined, settle },
      };
      signal.addEventListener("abort", abort, { once: true });
      const late = () => this.#giveUp(pending, failedBy("timeout", `${this.#options.where}: ${job.late()}.`));
      pending.timers.add(setTimeout(late, this.#options.timeoutMs));
      this.#pending.set(id, pending);
      thread.post(job.begin(id));
    });
  }

  /** To the thread of the job that the message names; nowhere when the job is over. The memory of `given` is given away. */
  post(message: To, given: readonly ArrayBuffer[] = []): void {
    this.#pending.get(message.id)?.thread.post(message, given);
  }

  /** Whether there is a reason already why the job fails. */
  isGivenUp(id: number): boolean {
    return this.#pending.get(id)?.verdict !== undefined;
  }

  /** The job fails for a reason that its thread does not know; it still has to end. */
  fail(id: number, verdict: FailedOutcome): void {
    const pending = this.#pending.get(id);
    if (pending !== undefined) pending.verdict ??= verdict;
  }

  /** Gives up what is under way and ends the thread. A later job gets another. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    for (const pending of this.#pendingOf(thread)) this.#giveUp(pending, this.#lost("closed"));
    await thread?.end();
  }

  #lost(why: string): FailedOutcome {
    return failedBy("connectionLost", `${this.#options.where}: ${why}.`);
  }

  #pendingOf(of: unknown): readonly Pending<To, News, Outcome>[] {
    return [...this.#pending.values()].filter(({ thread }) => thread === of);
  }

  #newThread(): JobThread<To, News, Outcome> {
    const thread: JobThread<To, News, Outcome> = new SessionThread(this.#options.thread, {
      message: (message) => this.#receive(message),
      ended: (detail) => this.#ended(thread, detail),
    });
    return thread;
  }

  #receive(message: News | JobDone<Outcome>): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    if (isDone(message)) this.#settle(pending, message.outcome);
    else pending.job.hear?.(message);
  }

  /** Tells the thread to give the job up, and ends the thread when it does not. */
  #giveUp(pending: Pending<To, News, Outcome>, verdict: FailedOutcome): void {
    const { id, thread } = pending;
    if (!this.#pending.has(id)) return;
    pending.verdict ??= verdict;
    thread.post({ kind: "cancel", id });
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
    this.#endWhenIdle();
  }

  #endWhenIdle(): void {
    if (this.isBusy) return;
    clearTimeout(this.#idle);
    const end = () => {
      const thread = this.#thread;
      this.#thread = undefined;
      void thread?.end();
    };
    this.#idle = setTimeout(end, this.#options.idleMs).unref();
  }

  #ended(thread: unknown, detail: string): void {
    if (this.#thread === thread) this.#thread = undefined;
    const message = `${this.#options.where}: the client ended: ${detail}.`;
    for (const pending of this.#pendingOf(thread))
      this.#settle(pending, failedBy("protocol", message, { scope: "target" }));
  }
}

function isDone<News extends OfJob, Outcome>(message: News | JobDone<Outcome>): message is JobDone<Outcome> {
  return message.kind === "done";
}
