/**
 * The thread of an upload target as the target sees it: loading → ready → (ending) → ended. It is never terminated while
 * it loads: V8 takes the whole process down when a thread is ended amid modules that wait for another's top-level await.
 */
import { Worker } from "node:worker_threads";
import { messageOf } from "../lib/errors.ts";
import type { FromThread, ToThread, UploadSettings } from "./upload-messages.ts";

export interface UploadThreadEvents {
  message(message: Exclude<FromThread, { readonly kind: "ready" | "ended" }>): void;
  /** Whatever the reason; nothing comes afterwards. */
  ended(detail: string): void;
}

/** How long a thread may take to say goodbye to its servers. */
const goodbyeMs = 1_000;
/** A server that makes the client hoard takes down this thread and nothing else. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 };

/** Runs from `dist` as .js and from the sources as .ts. */
function workerUrl(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./upload-worker.${extension}`, import.meta.url);
}

export class UploadThread {
  readonly #worker: Worker;
  readonly #events: UploadThreadEvents;
  readonly #loaded = Promise.withResolvers<void>();
  readonly #goodbye = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<void>();
  #detail = "it was ended";

  constructor(settings: UploadSettings, events: UploadThreadEvents) {
    this.#events = events;
    const { kind, host } = settings.server;
    this.#worker = new Worker(workerUrl(), {
      name: `${kind} to ${host}`,
      workerData: settings,
      resourceLimits,
    });
    this.#worker.on("message", (message: FromThread) => this.#receive(message));
    this.#worker.on("error", (error) => {
      this.#detail = messageOf(error);
    });
    this.#worker.on("exit", () => this.#exited());
  }

  post(message: ToThread): void {
    const owned = message.kind === "bytes" ? [message.bytes.buffer as ArrayBuffer] : [];
    this.#worker.postMessage(message, owned);
  }

  /** Ends the thread when its connections are closed, or after a second. */
  async end(): Promise<void> {
    await this.#loaded.promise;
    this.post({ kind: "end" });
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

  #receive(message: FromThread): void {
    if (message.kind === "ready") this.#loaded.resolve();
    else if (message.kind === "ended") this.#goodbye.resolve();
    else this.#events.message(message);
  }

  #exited(): void {
    this.#loaded.resolve();
    this.#gone.resolve();
    this.#events.ended(this.#detail);
  }
}
