/**
 * A thread that answers one message with one message, one after the other: for synchronous work that would hold up the
 * main thread. Messages are JSON text: a tenth of the time of a structured clone. It is started by the first request; one
 * that dies fails the request in hand, and the next request gets a new one.
 */
import { Worker } from "node:worker_threads";
import { siblingModule } from "./sibling-module.ts";

export interface JsonThreadOptions {
  /** Path of the module without its extension, beside the module of `base`. */
  readonly module: string;
  /** `import.meta.url` of the module that asks. */
  readonly base: string;
  /** For the message when it dies. */
  readonly name: string;
  /** How long it is kept without requests; for ever unless given. */
  readonly idleMs?: number;
}

export class JsonThread<Request, Answer> {
  readonly #options: JsonThreadOptions;
  #worker: Worker | undefined;
  #serial: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: JsonThreadOptions) {
    this.#options = options;
  }

  /** Rejects when the thread dies before it has answered. */
  run(request: Request): Promise<Answer> {
    clearTimeout(this.#idle);
    this.#waiting += 1;
    const answer = this.#serial.then(() => this.#exchange(request));
    this.#serial = answer.catch(() => undefined).then(() => this.#done());
    return answer;
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #done(): void {
    this.#waiting -= 1;
    const { idleMs } = this.#options;
    if (this.#waiting > 0 || idleMs === undefined) return;
    this.#idle = setTimeout(() => void this.close(), idleMs);
    this.#idle.unref();
  }

  #exchange(request: Request): Promise<Answer> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const settle = () => {
        worker.off("message", onMessage).off("error", onFailure).off("exit", onFailure);
      };
      const onMessage = (answer: string) => {
        settle();
        resolve(JSON.parse(answer) as Answer);
      };
      const onFailure = (cause: unknown) => {
        settle();
        if (this.#worker === worker) this.#worker = undefined;
        reject(new Error(`the ${this.#options.name} thread ended`, { cause }));
      };
      worker.on("message", onMessage).on("error", onFailure).on("exit", onFailure);
      worker.postMessage(JSON.stringify(request));
    });
  }

  #start(): Worker {
    const { module, base } = this.#options;
    const resourceLimits = { maxYoungGenerationSizeMb: 6 };
    return new Worker(siblingModule(module, base), { resourceLimits });
  }
}
