/**
 * A client of a remote, in a thread of its own, so that nothing a server does holds up anything else.
 *
 *   no thread   until there is a call
 *   working     one call, which has its deadline
 *   idle        ended after a while
 *
 * A call that is over its time or aborted is told to give up; where the thread does not do so within a second, because a
 * library is stuck, the thread is terminated, and the next call gets another.
 */
import type { ListedEntry } from "../../remote/remote-session.ts";
import { SessionThread } from "../../remote/session-thread.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import type {
  CallOutcome,
  FetchCall,
  FetchSettings,
  FromFetchThread,
  ToFetchThread,
} from "./fetch-messages.ts";

type FetchThread = SessionThread<ToFetchThread, FromFetchThread>;
/** Takes a portion of a listing; false when no more of it is wanted. Its rejection ends the listing. */
export type TakePortion = (entries: readonly ListedEntry[]) => Promise<boolean>;

interface Pending {
  readonly id: number;
  readonly thread: FetchThread;
  readonly take: TakePortion | undefined;
  readonly timers: Set<NodeJS.Timeout>;
  /** Why it was told to give up: then its own words about that are not of interest. */
  verdict: CallOutcome | undefined;
  /** What `take` rejected with. */
  failure: { readonly reason: unknown } | undefined;
  readonly settle: (outcome: CallOutcome) => void;
}

/** How long a thread may take to give a call up. */
const graceMs = 1_000;
/** How long a thread is kept without calls. */
const idleMs = 30_000;

export interface RemoteClient {
  /** Lists the folder; `take` is given its entries. Rejects as `run` does, and with what `take` rejects with. */
  list(take: TakePortion, signal: AbortSignal): Promise<CallOutcome>;
  /** Does one thing with a file. Rejects with the signal's reason when aborted, and else only for faults of our own. */
  run(call: Exclude<FetchCall, { readonly kind: "list" }>, signal: AbortSignal): Promise<CallOutcome>;
  close(): Promise<void>;
}

class ThreadedClient implements RemoteClient {
  readonly #settings: FetchSettings;
  readonly #timeoutMs: number;
  readonly #where: string;
  #thread: FetchThread | undefined;
  #pending: Pending | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(settings: FetchSettings, timeoutMs: number) {
    this.#settings = settings;
    this.#timeoutMs = timeoutMs;
    const { kind, host, port } = settings.server;
    this.#where = `${kind} ${host}:${port}`;
  }

  list(take: TakePortion, signal: AbortSignal): Promise<CallOutcome> {
    return this.#run({ kind: "list" }, take, signal);
  }

  run(call: FetchCall, signal: AbortSignal): Promise<CallOutcome> {
    return this.#run(call, undefined, signal);
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    if (this.#pending !== undefined) this.#giveUp(this.#pending, this.#lost("closed"));
    await thread?.end();
  }

  #lost(why: string): CallOutcome {
    return failedBy("connectionLost", `${this.#where}: ${why}.`);
  }

  #run(call: FetchCall, take: TakePortion | undefined, signal: AbortSignal): Promise<CallOutcome> {
    signal.throwIfAborted();
    if (this.#pending !== undefined) throw new Error("a remote has one call at a time");
    clearTimeout(this.#idle);
    this.#thread ??= this.#newThread();
    const thread = this.#thread;
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const settle = (outcome: CallOutcome) => {
        signal.removeEventListener("abort", abort);
        if (pending.failure !== undefined) reject(pending.failure.reason);
        else if (signal.aborted) reject(signal.reason);
        else resolve(outcome);
      };
      const pending: Pending = {
        ...{ id, thread, take, settle, timers: new Set(), verdict: undefined, failure: undefined },
      };
      const abort = () => this.#giveUp(pending, this.#lost("aborted"));
      signal.addEventListener("abort", abort, { once: true });
      const late = `not done within ${this.#timeoutMs} ms (\`timeoutMs\`); it was ${doing(call)}`;
      const lateOutcome = failedBy("timeout", `${this.#where}: ${late}.`);
      pending.timers.add(setTimeout(() => this.#giveUp(pending, lateOutcome), this.#timeoutMs));
      this.#pending = pending;
      thread.post({ kind: "call", id, call });
    });
  }

  #newThread(): FetchThread {
    const { kind, host } = this.#settings.server;
    const thread: FetchThread = new SessionThread(
      {
        module: new URL("./fetch-worker", import.meta.url),
        name: `${kind} from ${host}`,
        data: this.#settings,
      },
      {
        message: (message) => this.#receive(message),
        ended: (detail) => this.#ended(thread, detail),
      },
    );
    return thread;
  }

  #receive(message: FromFetchThread): void {
    const pending = this.#pending;
    if (pending === undefined || pending.id !== message.id) return;
    if (message.kind === "done") this.#settle(pending, message.outcome);
    else void this.#take(pending, message.entries);
  }

  async #take(pending: Pending, entries: readonly ListedEntry[]): Promise<void> {
    let isWanted = false;
    try {
      isWanted = pending.verdict === undefined && (await pending.take?.(entries)) === true;
    } catch (error) {
      pending.failure = { reason: error };
    }
    if (this.#pending === pending) pending.thread.post({ kind: "more", id: pending.id, isWanted });
  }

  /** Tells the thread to give the call up, and ends the thread when it does not. */
  #giveUp(pending: Pending, verdict: CallOutcome): void {
    if (this.#pending !== pending || pending.verdict !== undefined) return;
    pending.verdict = verdict;
    pending.thread.post({ kind: "cancel", id: pending.id });
    pending.thread.post({ kind: "more", id: pending.id, isWanted: false });
    const end = () => {
      if (this.#thread === pending.thread) this.#thread = undefined;
      void pending.thread.kill("it was stuck");
      this.#settle(pending, verdict);
    };
    pending.timers.add(setTimeout(end, graceMs));
  }

  #settle(pending: Pending, outcome: CallOutcome): void {
    if (this.#pending !== pending) return;
    this.#pending = undefined;
    for (const timer of pending.timers) clearTimeout(timer);
    // Done in the last moment is done.
    const isFailure = outcome.kind === "failed" || outcome.kind === "listed";
    pending.settle(isFailure ? (pending.verdict ?? outcome) : outcome);
    this.#endWhenIdle();
  }

  #endWhenIdle(): void {
    const end = () => {
      const thread = this.#thread;
      this.#thread = undefined;
      void thread?.end();
    };
    clearTimeout(this.#idle);
    this.#idle = setTimeout(end, idleMs).unref();
  }

  #ended(thread: FetchThread, detail: string): void {
    if (this.#thread === thread) this.#thread = undefined;
    const pending = this.#pending;
    if (pending === undefined || pending.thread !== thread) return;
    const message = `${this.#where}: the client ended: ${detail}.`;
    this.#settle(pending, failedBy("protocol", message, { scope: "target" }));
  }
}

function doing(call: FetchCall): string {
  if (call.kind === "list") return "listing the folder";
  const verbs = { fetch: "fetching", remove: "removing", move: "moving" } as const;
  return `${verbs[call.kind]} ${call.file.name}`;
}

/** Makes a client; its thread is there when it is needed. `timeoutMs` is for one call. */
export function createRemoteClient(settings: FetchSettings, timeoutMs: number): RemoteClient {
  return new ThreadedClient(settings, timeoutMs);
}
