/**
 * A thread that answers one message with one message, one after the other: for synchronous work that would hold up the
 * main thread. Messages are JSON text: a tenth of the time of a structured clone. Bytes that belong to a request are given
 * away beside it. It is started by the first request; one that dies fails the request in hand, and the next request gets a
 * new one.
 */
import { siblingModule } from "./sibling-module.ts";
import { type WorkerEnd, WorkerHost } from "./worker-host.ts";

export interface JsonThreadOptions {
  /** Path of the module without its extension, beside the module of `base`; it has to call `serveJson`. */
  readonly module: string;
  /** `import.meta.url` of the module that asks. */
  readonly base: string;
  /** For the message when it dies. */
  readonly name: string;
  /** How long it is kept without requests; for ever unless given. */
  readonly idleMs?: number;
}

interface Open {
  /** The thread that was asked. */
  readonly host: WorkerHost<string>;
  readonly resolve: (text: string) => void;
  readonly reject: (error: Error) => void;
}

export class JsonThread<Request, Answer> {
  readonly #options: JsonThreadOptions;
  #host: WorkerHost<string> | undefined;
  /** The request in hand. */
  #open: Open | undefined;
  #serial: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: JsonThreadOptions) {
    this.#options = options;
  }

  /** Rejects when the thread dies before it has answered. The memory of `bytes` is given away. */
  run(request: Request, bytes?: Uint8Array<ArrayBuffer>): Promise<Answer> {
    return this.#inTurn(() => this.#exchange(request, bytes));
  }

  /**
   * The same with a request that is made when its turn has come, so that it tells what is so then. Without one nothing is asked,
   * and the answer is undefined; rejects with what `makeRequest` throws.
   */
  runInTurn(makeRequest: () => Request | undefined): Promise<Answer | undefined> {
    return this.#inTurn(async () => {
      const request = makeRequest();
      return request === undefined ? undefined : await this.#exchange(request, undefined);
    });
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    this.#waiting += 1;
    const answer = this.#serial.then(ask);
    this.#serial = answer.catch(() => undefined).then(() => this.#done());
    return answer;
  }

  /** Ends the thread. What is asked from now on, or waits for its turn, is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endHost();
  }

  async #endHost(): Promise<void> {
    clearTimeout(this.#idle);
    const host = this.#host;
    this.#host = undefined;
    await host?.end();
  }

  #done(): void {
    this.#waiting -= 1;
    const { idleMs } = this.#options;
    if (this.#waiting > 0 || idleMs === undefined) return;
    this.#idle = setTimeout(() => void this.#endHost(), idleMs);
    this.#idle.unref();
  }

  async #exchange(request: Request, bytes: Uint8Array<ArrayBuffer> | undefined): Promise<Answer> {
    if (this.#isClosed) throw new Error(`the ${this.#options.name} thread is closed`);
    this.#host ??= this.#start();
    const host = this.#host;
    const answer = await new Promise<string>((resolve, reject) => {
      this.#open = { host, resolve, reject };
      const text = JSON.stringify(request);
      if (bytes === undefined) host.post(text);
      else host.post({ text, bytes }, [bytes.buffer]);
    });
    return JSON.parse(answer) as Answer;
  }

  #start(): WorkerHost<string> {
    const { module, base, name } = this.#options;
    const host: WorkerHost<string> = new WorkerHost<string>(
      { file: siblingModule(module, base), name },
      {
        message: (text) => this.#settle(host)?.resolve(text),
        ended: (end) => this.#ended(host, end),
      },
    );
    return host;
  }

  /** A thread that ends when it was idle may still be there when the next one has been asked: its end is no answer. */
  #settle(host: WorkerHost<string>): Open | undefined {
    const open = this.#open;
    if (open?.host !== host) return undefined;
    this.#open = undefined;
    return open;
  }

  #ended(host: WorkerHost<string>, { error }: WorkerEnd): void {
    if (this.#host === host) this.#host = undefined;
    this.#settle(host)?.reject(new Error(`the ${this.#options.name} thread ended`, { cause: error }));
  }
}
