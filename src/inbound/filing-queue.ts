/**
 * Takes decided files to the thread that files them away, in order, and notes in the ledger what is done.
 *
 *   queued --group--> in the thread --filed--> marked in the ledger
 *                                   \--failed--> queued again after a pause (the ledger still says: not filed)
 *
 * A crash anywhere leaves the entry marked as not filed: start-up queues it again.
 */
import { Worker } from "node:worker_threads";
import { killPoint } from "../lib/kill-point.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/database.ts";
import { markFiled, recordLocation } from "../store/files.ts";
import type { FilingResult, FilingTask } from "./file-away.ts";

const groupSize = 256;
const pauseMs = 5_000;

export interface FilingQueue {
  add(task: FilingTask, done: () => void): void;
  readonly length: number;
  /** Resolves when all that was queued is filed or has failed once. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

interface Queued {
  readonly task: FilingTask;
  done(): void;
}

export interface FilingQueueDependencies {
  readonly store: Pick<Store, "write">;
  readonly toLedger: (path: string) => string;
  readonly log: Logger;
}

function startWorker(): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const resourceLimits = { maxYoungGenerationSizeMb: 6 };
  return new Worker(new URL(`./file-away-worker.${extension}`, import.meta.url), { resourceLimits });
}

/** One exchange of messages with the thread; a thread that dies fails the group, and the next group gets a new one. */
class FilingThread {
  #worker: Worker | undefined;

  run(tasks: readonly FilingTask[]): Promise<FilingResult[]> {
    this.#worker ??= startWorker();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      const settle = () => {
        worker.off("message", onMessage).off("error", onFailure).off("exit", onFailure);
      };
      const onMessage = (results: string) => {
        settle();
        resolve(JSON.parse(results) as FilingResult[]);
      };
      const onFailure = (cause: unknown) => {
        settle();
        this.#worker = undefined;
        reject(new Error("the filing thread ended", { cause }));
      };
      worker.on("message", onMessage).on("error", onFailure).on("exit", onFailure);
      worker.postMessage(JSON.stringify(tasks));
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = undefined;
  }
}

class ThreadedFilingQueue implements FilingQueue {
  readonly #deps: FilingQueueDependencies;
  readonly #thread = new FilingThread();
  readonly #timers = new Set<NodeJS.Timeout>();
  #queue: Queued[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: FilingQueueDependencies) {
    this.#deps = deps;
  }

  get length(): number {
    return this.#queue.length;
  }

  add(task: FilingTask, done: () => void): void {
    if (this.#isClosed) return;
    this.#queue.push({ task, done });
    this.#running ??= this.#run();
  }

  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.drain();
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#thread.close();
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.slice(0, groupSize);
      this.#queue = this.#queue.slice(groupSize);
      await this.#fileGroup(group);
    }
    this.#running = undefined;
  }

  async #fileGroup(group: readonly Queued[]): Promise<void> {
    try {
      killPoint("filing.sent");
      const results = await this.#thread.run(group.map(({ task }) => task));
      killPoint("filing.done");
      await this.#note(group, results);
      killPoint("filing.noted");
    } catch (error) {
      this.#deps.log.error({ err: error, files: group.map(({ task }) => task.id) }, "filing away failed");
      this.#again(group);
    }
  }

  async #note(group: readonly Queued[], results: readonly FilingResult[]): Promise<void> {
    const settled = results.filter((result) => result.kind !== "failed");
    await this.#deps.store.write(async (tx) => {
      for (const result of settled) {
        if (result.kind === "filed" && result.actual !== undefined) {
          await recordLocation(tx, result.id, this.#deps.toLedger(result.actual));
        }
      }
      if (settled.length > 0)
        await markFiled(
          tx,
          settled.map(({ id }) => id),
        );
    });
    for (const [index, result] of results.entries()) this.#report(group[index], result);
  }

  #report(queued: Queued | undefined, result: FilingResult): void {
    if (queued === undefined) return;
    if (result.kind === "failed") {
      const { systemCode, message } = result;
      this.#deps.log.error({ fileId: result.id, systemCode, message }, "the file cannot be filed away yet");
      this.#again([queued]);
      return;
    }
    if (result.kind === "lost") {
      this.#deps.log.error(
        { fileId: result.id, path: queued.task.from },
        "the bytes of a decided file are gone",
      );
    }
    queued.done();
  }

  #again(group: readonly Queued[]): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      for (const queued of group) this.add(queued.task, queued.done);
    }, pauseMs);
    this.#timers.add(timer);
  }
}

/** Makes the queue; its thread starts with the first file. */
export function createFilingQueue(deps: FilingQueueDependencies): FilingQueue {
  return new ThreadedFilingQueue(deps);
}
