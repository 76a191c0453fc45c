/** Looks into a running daemon: /proc, the size of its write-ahead log, and its heap by the inspector of Node.js. */
import { createWriteStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Site } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";
import type { Sample } from "./soak-samples.ts";

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly method?: string;
  readonly params?: { readonly chunk?: string };
}

/** What the daemon is started with, so that the inspector listens on a free port. */
export const inspected = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

const mb = (bytes: number) => bytes / 1_048_576;

export class SoakProbe {
  readonly #site: Site;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #chunk: ((text: string) => void) | undefined;
  #lastId = 0;

  private constructor(site: Site, socket: WebSocket) {
    this.#site = site;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(String(data)) as Answer));
    socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the daemon has ended"));
    });
  }

  /** The daemon of the site was started with `inspected`. */
  static async open(site: Site): Promise<SoakProbe> {
    const url = await waitFor("the inspector", () => /ws:\/\/127\S+/.exec(site.daemon.text)?.[0]);
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", () => reject(new Error(`the inspector at ${url} does not answer`)));
    });
    return new SoakProbe(site, socket);
  }

  close(): void {
    this.#socket.close();
  }

  async sample(minute: number, filesDone: number): Promise<Sample> {
    const { pid } = this.#site.daemon;
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const numberOf = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
    const memory = await this.#evaluate<{ heapUsed: number; arrayBuffers: number }>("process.memoryUsage()");
    return {
      minute,
      residentMb: numberOf("VmRSS") / 1024,
      heapMb: mb(memory.heapUsed),
      buffersMb: mb(memory.arrayBuffers),
      descriptors: (await readdir(`/proc/${pid}/fd`)).length,
      threads: numberOf("Threads"),
      walMb: mb((await stat(join(this.#site.stateDir, "dropgate.db-wal"))).size),
      filesDone,
    };
  }

  /** Of the main thread. */
  async collectGarbage(): Promise<void> {
    // Twice: finalisers of the first let go of more.
    for (let turn = 0; turn < 2; turn += 1) await this.#ask("HeapProfiler.collectGarbage");
  }

  /** Stops the daemon's main thread while it lasts. */
  async writeHeapSnapshot(path: string): Promise<void> {
    const file = createWriteStream(path);
    this.#chunk = (text) => file.write(text);
    await this.#ask("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
    this.#chunk = undefined;
    await new Promise<void>((resolve) => file.end(resolve));
  }

  async #evaluate<T>(expression: string): Promise<T> {
    const answer = await this.#ask("Runtime.evaluate", { expression, returnByValue: true });
    return (answer as { result: { value: T } }).result.value;
  }

  #ask(method: string, params: object = {}): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  #take({ id, result, params }: Answer): void {
    if (id === undefined) {
      if (params?.chunk !== undefined) this.#chunk?.(params.chunk);
      return;
    }
    this.#waiting.get(id)?.resolve(result);
    this.#waiting.delete(id);
  }
}
