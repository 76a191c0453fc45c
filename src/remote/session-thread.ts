/**
 * A thread in which clients of servers run, one after the other, as its users see it: idle → serving → (ending) → ended. It is
 * never terminated while it loads: V8 takes the whole process down when a thread is ended amid modules that wait for
 * another's top-level await.
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "../lib/errors.ts";
import { siblingModule } from "../lib/sibling-module.ts";
import type { EndThread, ServeClient } from "./thread-messages.ts";

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
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

export class SessionThread {
  readonly #worker: Worker;
  readonly #exited: (thread: SessionThread) => void;
  /** Whether the client is loaded, or the thread is gone. */
  #loaded: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  /** Whether it has heard of its new user, and so is not stuck with the one before. */
  #heard: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  readonly #goodbye = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #isGone = false;
  #user: ThreadUser | undefined;
  #detail = "it was ended";

  constructor(exited: (thread: SessionThread) => void) {
    this.#exited = exited;
    const name = "client of a server";
    this.#worker = new Worker(siblingModule("./client-thread", import.meta.url), {
      name,
      resourceLimits,
    });
    this.#worker.on("message", (message: { readonly kind: string }) => this.#receive(message));
    this.#worker.on("error", (error) => {
      this.#detail = messageOf(error);
    });
    this.#worker.on("exit", () => this.#exit());
    this.#loaded.resolve();
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
    this.#loaded = Promise.withResolvers<void>();
    this.#heard = Promise.withResolvers<void>();
    const { module, data } = user;
    this.#worker.postMessage({ kind: "serve", module: module.href, data } satisfies ServeClient);
    return { isHeard: this.#heard.promise, isLoaded: this.#loaded.promise };
  }

  /** To the client. The memory of `given` is given away. */
  post(message: unknown, given: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, given);
  }

  /** Ends the thread when its connections are closed, or after a second. */
  async end(): Promise<void> {
    await this.#loaded.promise;
    this.#worker.postMessage({ kind: "end" } satisfies EndThread);
    const timer = setTimeout(() => this.#goodbye.resolve(), goodbyeMs);
    await Promise.race([this.#goodbye.promise, this.#gone.promise]);
    clearTimeout(timer);
    await this.#worker.terminate();
  }

  /** Ends the thread now, whatever it does. */
  async kill(reason: string): Promise<void> {
    this.#detail = reason;
    await this.#loaded.promise;
    await this.#worker.terminate();
  }

  /** Ends the thread now; its user has another already, and hears no more of it. */
  async abandon(reason: string): Promise<void> {
    this.#user = undefined;
    this.#loaded.resolve();
    await this.kill(reason);
  }

  #receive(message: { readonly kind: string }): void {
    if (message.kind === "changing") this.#heard.resolve();
    else if (message.kind === "ready") this.#loaded.resolve();
    else if (message.kind === "ended") this.#goodbye.resolve();
    else this.#user?.message(message);
  }

  #exit(): void {
    this.#isGone = true;
    this.#heard.resolve();
    this.#loaded.resolve();
    this.#gone.resolve();
    this.#exited(this);
    this.#user?.ended(this, this.#detail);
  }
}
