/**
 * A thread of this program as its owner sees it, in one way for all of them:
 *
 *   loading ──tellLoaded──> loaded ──────────────────────────────> ended, and the owner hears why
 *      │    <──loadsAgain──   │ end, over its time or memory, crash
 *      └── end: as soon as it is loaded
 *
 * A thread is never ended while it loads: V8 takes the whole process down when a thread is ended amid modules that wait for
 * another's top-level await. Whether there is to be another thread is the owner's business.
 */
import { type TransferListItem, Worker } from "node:worker_threads";
import { messageOf, systemCodeOf } from "../errors.ts";
import { loadedMessage, memoryExitCode } from "./hosted-worker.ts";

/** Why a thread, or a process, is gone: by its owner's will, over its memory or its time, or by itself. */
export type EndReason = "stopped" | "memory" | "time" | "crash";

export interface WorkerEnd {
  readonly reason: EndReason;
  readonly wasLoaded: boolean;
  /** What it died of, when something was thrown. */
  readonly error: unknown;
  readonly detail: string | undefined;
}

export interface WorkerHostOptions {
  /** Its module (`siblingModule`), which has to call `tellLoaded`. */
  readonly file: URL;
  readonly name: string;
  readonly data?: unknown;
  /** Most memory of its objects; bounded by the machine unless given. */
  readonly maxHeapMb?: number;
  readonly maxYoungMb?: number;
}

export interface WorkerEvents<Message> {
  loaded?(): void;
  message(message: Message): void;
  /** It has ended, for whatever reason; nothing comes from it afterwards. */
  ended(end: WorkerEnd): void;
}

/** What has died young in most threads of this program when it is collected. */
const defaultYoungMb = 6;

export class WorkerHost<Message> {
  readonly #worker: Worker;
  readonly #events: WorkerEvents<Message>;
  /** How many reports that it is loaded are still to come. */
  #loads = 1;
  #loaded = Promise.withResolvers<void>();
  #wasLoaded = false;
  #reason: EndReason | undefined;
  #error: unknown;
  #deadline: NodeJS.Timeout | undefined;

  constructor(options: WorkerHostOptions, events: WorkerEvents<Message>) {
    const { file, name, data, maxHeapMb, maxYoungMb = defaultYoungMb } = options;
    this.#events = events;
    this.#worker = new Worker(file, {
      ...{ name, workerData: data },
      resourceLimits: {
        maxYoungGenerationSizeMb: maxYoungMb,
        ...(maxHeapMb === undefined ? {} : { maxOldGenerationSizeMb: maxHeapMb }),
      },
    });
    this.#worker.on("message", (message: Message | typeof loadedMessage) => this.#receive(message));
    this.#worker.on("error", (error) => this.#failed(error));
    this.#worker.on("exit", (code) => this.#exited(code));
  }

  get isLoaded(): boolean {
    return this.#loads === 0;
  }

  /** The memory of `given` is given away. */
  post(message: unknown, given: readonly TransferListItem[] = []): void {
    this.#worker.postMessage(message, given);
  }

  /** It was asked to load further modules, and reports again when it has. */
  loadsAgain(): void {
    if (this.#loads === 0) this.#loaded = Promise.withResolvers<void>();
    this.#loads += 1;
  }

  /** Resolves when it is loaded, or gone. */
  async untilLoaded(): Promise<void> {
    await this.#loaded.promise;
  }

  /** It is ended for its time unless it is `inTime` within so many milliseconds. */
  within(deadlineMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => void this.end("time"), deadlineMs);
  }

  inTime(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }

  /** Ends it, as soon as it is loaded. Its owner hears the first reason. */
  async end(reason: EndReason = "stopped"): Promise<void> {
    this.#reason ??= reason;
    await this.untilLoaded();
    await this.#worker.terminate();
  }

  /** Ends one that was told to load again and is stuck in what it had loaded before: it has not begun, and never will. */
  async endStuck(): Promise<void> {
    this.#reason ??= "stopped";
    await this.#worker.terminate();
  }

  #receive(message: Message | typeof loadedMessage): void {
    if (message !== loadedMessage) {
      this.#events.message(message);
      return;
    }
    this.#wasLoaded = true;
    this.#loads -= 1;
    if (this.#loads > 0) return;
    this.#loaded.resolve();
    this.#events.loaded?.();
  }

  #failed(error: unknown): void {
    if (systemCodeOf(error) === "ERR_WORKER_OUT_OF_MEMORY") this.#reason ??= "memory";
    this.#error = error;
  }

  #exited(code: number): void {
    this.inTime();
    this.#loaded.resolve();
    const reason = this.#reason ?? (code === memoryExitCode ? "memory" : "crash");
    const detail = this.#error === undefined ? undefined : messageOf(this.#error);
    this.#events.ended({ reason, wasLoaded: this.#wasLoaded, error: this.#error, detail });
  }
}
