/** A thread in which clients of servers run, one after the other, as its users see it: idle → serving → (ending) → ended. */
import { siblingModule } from "../lib/threads/sibling-module.ts";
import { type WorkerEnd, WorkerHost } from "../lib/threads/worker-host.ts";
import type { EndThread, ServeClient } from "./client-thread.ts";

/** Whose client a thread runs. */
export interface ThreadUser {
  /** The file of the client's module. */
  readonly module: URL;
  /** Its settings. */
  readonly data: unknown;
  message(message: unknown): void;
  /** The thread is gone, whatever the reason; nothing comes from it afterwards. */
  ended(thread: SessionThread, detail: string): void;
}

/** How long a thread may take to say goodbye to its servers. */
const goodbyeMs = 1_000;
/** A server that makes the client hoard takes down this thread and nothing else. */
const limits = { maxHeapMb: 128, maxYoungMb: 8 } as const;

interface Told {
  readonly kind: string;
}

export class SessionThread {
  readonly #host: WorkerHost<Told>;
  readonly #exited: (thread: SessionThread) => void;
  /** Whether it has heard of its new user, and so is not stuck with the one before. */
  #heard: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  readonly #goodbye = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #user: ThreadUser | undefined;
  /** Why it is ended, where its owner has said so; from its end on what became of it. */
  #detail: string | undefined;
  #isGone = false;

  constructor(exited: (thread: SessionThread) => void) {
    this.#exited = exited;
    const file = siblingModule("./client-thread", import.meta.url);
    this.#host = new WorkerHost<Told>(
      { file, name: "client of a server", ...limits },
      { message: (message) => this.#receive(message), ended: (end) => this.#hostEnded(end) },
    );
  }

  get user(): ThreadUser | undefined {
    return this.#user;
  }

  /** Why it is gone; undefined while it is there. */
  get gone(): string | undefined {
    return this.#isGone ? this.#detail : undefined;
  }

  /**
   * Runs the client of another user; resolves when it is loaded, or the thread is gone. `isHeard` resolves when the thread
   * has begun with that: one that is stuck never does.
   */
  serve(user: ThreadUser): { readonly isHeard: Promise<void>; readonly isLoaded: Promise<void> } {
    this.#user = user;
    if (this.#isGone) return { isHeard: Promise.resolve(), isLoaded: Promise.resolve() };
    this.#heard = Promise.withResolvers<void>();
    const { module, data } = user;
    this.#host.loadsAgain();
    this.#host.post({ kind: "serve", module: module.href, data } satisfies ServeClient);
    return { isHeard: this.#heard.promise, isLoaded: this.#host.untilLoaded() };
  }

  /** To the client. The memory of `given` is given away. */
  post(message: unknown, given: readonly ArrayBuffer[] = []): void {
    this.#host.post(message, given);
  }

  /** Ends the thread when its connections are closed, or after a second. */
  async end(): Promise<void> {
    await this.#host.untilLoaded();
    this.#host.post({ kind: "end" } satisfies EndThread);
    const timer = setTimeout(() => this.#goodbye.resolve(), goodbyeMs);
    await Promise.race([this.#goodbye.promise, this.#ended.promise]);
    clearTimeout(timer);
    await this.#host.end();
  }

  /** Ends the thread now, whatever it does. */
  async kill(reason: string): Promise<void> {
    this.#detail ??= reason;
    await this.#host.end();
  }

  /** Ends the thread now; its user has another already, and hears no more of it. */
  async abandon(reason: string): Promise<void> {
    this.#user = undefined;
    this.#detail ??= reason;
    await this.#host.endStuck();
  }

  #receive(message: Told): void {
    if (message.kind === "changing") this.#heard.resolve();
    else if (message.kind === "ended") this.#goodbye.resolve();
    else this.#user?.message(message);
  }

  #hostEnded(end: WorkerEnd): void {
    this.#isGone = true;
    this.#detail ??= end.detail ?? "it was ended";
    this.#heard.resolve();
    this.#ended.resolve();
    this.#exited(this);
    this.#user?.ended(this, this.#detail);
  }
}
