/**
 * A thread in which a client of servers runs, as its owner sees it: loading → ready → (ending) → ended. It is never
 * terminated while it loads: V8 takes the whole process down when a thread is ended amid modules that wait for another's
 * top-level await.
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "../lib/errors.ts";

/** What every such thread says besides its own messages: that its modules are loaded, and that its connections are closed. */
export type ThreadState = { readonly kind: "ready" } | { readonly kind: "ended" };

/** What every such thread is told besides its own messages: to close everything; answered with `ended`. */
export interface EndThread {
  readonly kind: "end";
}

export interface SessionThreadEvents<From> {
  message(message: From): void;
  /** Whatever the reason; nothing comes afterwards. */
  ended(detail: string): void;
}

export interface SessionThreadOptions {
  /** Its module, without extension: it runs from `dist` as .js and from the sources as .ts. */
  readonly module: URL;
  readonly name: string;
  readonly data: unknown;
}

/** How long a thread may take to say goodbye to its servers. */
const goodbyeMs = 1_000;
/** A server that makes the client hoard takes down this thread and nothing else. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

function fileOf(module: URL): URL {
  return new URL(`${module.href}.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`);
}

/** `To` is what is posted to it besides its end, `From` what it says besides its states. */
export class SessionThread<To, From extends { readonly kind: string }> {
  readonly #worker: Worker;
  readonly #events: SessionThreadEvents<From>;
  readonly #loaded = Promise.withResolvers<void>();
  readonly #goodbye = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #detail = "it was ended";

  constructor({ module, name, data }: SessionThreadOptions, events: SessionThreadEvents<From>) {
    this.#events = events;
    this.#worker = new Worker(fileOf(module), { name, workerData: data, resourceLimits });
    this.#worker.on("message", (message: From | ThreadState) => this.#receive(message));
    this.#worker.on("error", (error) => {
      this.#detail = messageOf(error);
    });
    this.#worker.on("exit", () => this.#exited());
  }

  /** The memory of `given` is given away. */
  post(message: To, given: readonly ArrayBuffer[] = []): void {
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

  #receive(message: From | ThreadState): void {
    if (isState(message, "ready")) this.#loaded.resolve();
    else if (isState(message, "ended")) this.#goodbye.resolve();
    else this.#events.message(message as From);
  }

  #exited(): void {
    this.#loaded.resolve();
    this.#gone.resolve();
    this.#events.ended(this.#detail);
  }
}

function isState({ kind }: { readonly kind: string }, state: ThreadState["kind"]): boolean {
  return kind === state;
}
