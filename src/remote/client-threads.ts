/**
 * The threads that clients of servers share. A client has a thread for itself while it has jobs, so that a server that hangs
 * costs one thread and blocks nobody else; without jobs the thread may go to another client.
 *
 *   none ──taken──> in use ──given back──> idle ──taken by another: its client is replaced──> in use
 *                     │                      └── ended after a while, or when its client is closed
 *                     └── killed: the client is stuck
 *
 * There are a few threads for all. When all of them are in use, clients wait for one to be given back. When none is for a
 * while, slow servers block them, and there is one more.
 */
import { SessionThread, type ThreadUser } from "./session-thread.ts";

export interface ClientThreadsOptions {
  /** As many are kept for all, besides those that slow servers block. */
  readonly most: number;
  /** How long nobody gives one back until there is one more. */
  readonly patienceMs: number;
  /** How long an idle one may take to hear of another client; one that takes longer is stuck with the one before. */
  readonly changeMs: number;
}

/** Connections are kept for some seconds after a job; a thread that has none any more is taken first. */
const keptConnectionMs = 15_000;

interface Idle {
  readonly thread: SessionThread;
  readonly sinceMs: number;
  readonly timer: NodeJS.Timeout;
}

interface Waiting {
  readonly user: ThreadUser;
  readonly resolve: (thread: SessionThread | undefined) => void;
}

export class ClientThreads {
  readonly #options: ClientThreadsOptions;
  readonly #all = new Set<SessionThread>();
  /** The one that has been idle for longest is the first. */
  readonly #idle = new Map<SessionThread, Idle>();
  readonly #waiting: Waiting[] = [];
  #patience: NodeJS.Timeout | undefined;

  constructor(options: ClientThreadsOptions) {
    this.#options = options;
  }

  /** Threads that there are. */
  get size(): number {
    return this.#all.size;
  }

  /** A thread that runs the user's client, for it alone until it is given back; undefined when it has left meanwhile. */
  async take(user: ThreadUser): Promise<SessionThread | undefined> {
    const own = [...this.#idle.keys()].find((thread) => thread.user === user);
    if (own !== undefined) {
      this.#unidle(own);
      return own;
    }
    return await this.#takeAnother(user);
  }

  /** It has no jobs any more. It is ended after that time unless it is taken again. */
  give(thread: SessionThread, idleMs: number): void {
    if (!this.#all.has(thread)) return;
    this.#isPatient();
    const next = this.#waiting.shift();
    if (next !== undefined) void this.#change(thread, next.user).then(next.resolve);
    else if (this.#all.size > this.#options.most) void this.#end(thread);
    else {
      const timer = setTimeout(() => void this.#end(thread), idleMs).unref();
      this.#idle.set(thread, { thread, sinceMs: performance.now(), timer });
    }
  }

  /** The user has no client any more: what runs it idly is ended, and it waits for none. */
  async leave(user: ThreadUser): Promise<void> {
    const waiting = this.#waiting.findIndex((one) => one.user === user);
    const [left] = waiting < 0 ? [] : this.#waiting.splice(waiting, 1);
    left?.resolve(undefined);
    const own = [...this.#idle.keys()].filter((thread) => thread.user === user);
    await Promise.all(own.map((thread) => this.#end(thread)));
  }

  /** Ends it with its connections; nobody has it any more. */
  async #end(thread: SessionThread): Promise<void> {
    this.#unidle(thread);
    this.#all.delete(thread);
    await thread.end();
  }

  #unidle(thread: SessionThread): void {
    clearTimeout(this.#idle.get(thread)?.timer);
    this.#idle.delete(thread);
  }

  async #takeAnother(user: ThreadUser): Promise<SessionThread | undefined> {
    const [oldest] = this.#idle.values();
    const isFull = this.#all.size >= this.#options.most;
    if (oldest !== undefined && (isFull || performance.now() - oldest.sinceMs > keptConnectionMs)) {
      this.#unidle(oldest.thread);
      return await this.#change(oldest.thread, user);
    }
    if (!isFull) return await this.#change(this.#make(), user);
    return await new Promise((resolve) => {
      this.#waiting.push({ user, resolve });
      this.#isPatient();
    });
  }

  #make(): SessionThread {
    const thread = new SessionThread(() => {
      this.#unidle(thread);
      this.#all.delete(thread);
      this.#serveWaiting();
    });
    this.#all.add(thread);
    return thread;
  }

  /** Restarts the wait for one more, if anybody waits. */
  #isPatient(): void {
    clearTimeout(this.#patience);
    if (this.#waiting.length > 0)
      this.#patience = setTimeout(() => this.#oneMore(), this.#options.patienceMs);
  }

  #oneMore(): void {
    const next = this.#waiting.shift();
    this.#isPatient();
    if (next !== undefined) void this.#change(this.#make(), next.user).then(next.resolve);
  }

  /** A thread has gone: there may be room. */
  #serveWaiting(): void {
    if (this.#all.size < this.#options.most) this.#oneMore();
  }

  /** Makes a thread run the user's client; another one, when this is stuck with the client before. */
  async #change(thread: SessionThread, user: ThreadUser): Promise<SessionThread> {
    if (thread.user === user) return thread;
    const isNew = thread.user === undefined;
    const { isHeard, isLoaded } = thread.serve(user);
    if (!isNew && !(await this.#inTime(isHeard))) {
      this.#all.delete(thread);
      void thread.abandon("it was stuck");
      return await this.#change(this.#make(), user);
    }
    await isLoaded;
    return thread;
  }

  async #inTime(isHeard: Promise<void>): Promise<boolean> {
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(() => late.resolve(false), this.#options.changeMs);
    const isInTime = await Promise.race([isHeard.then(() => true), late.promise]);
    clearTimeout(timer);
    return isInTime;
  }
}

/** Those of this process. */
export const clientThreads: ClientThreads = new ClientThreads({
  most: 4,
  patienceMs: 1_000,
  changeMs: 2_000,
});
