/**
 * One reader thread as the pool sees it: starting → free ⇄ busy → ended. It ends because it was stopped, or because a body
 * took it over its memory or its time, or crashed it; the pool makes another when there is work again.
 */
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { DropgateError, messageOf, systemCodeOf } from "../../lib/errors.ts";
import { siblingModule } from "../../lib/sibling-module.ts";
import type { ReaderJob, ReaderReport } from "./import-worker-messages.ts";
import { ownBytes } from "./own-bytes.ts";
import type { SentEvent } from "../execution/read-route-event.ts";

export interface ReaderThreadOptions {
  readonly maxHeapMb: number;
  readonly deadlineMs: number;
}

/** What a job gives: the entries of an import, the bytes of a body that was checked, or a route event. */
export type ReaderResult = readonly unknown[] | Uint8Array | SentEvent;

const smaller = "Send it in several requests.";

function failureOf(report: Extract<ReaderReport, { kind: "refused" | "failed" }>): Error {
  if (report.kind === "refused")
    return new DropgateError(report.code, report.message, { faults: report.faults });
  const { message, systemCode } = report;
  return Object.assign(new Error(message), systemCode === undefined ? {} : { code: systemCode });
}

interface Open {
  readonly entries: unknown[];
  readonly resolve: (result: ReaderResult) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

export class ReaderThread {
  readonly #worker: Worker;
  readonly #deadlineMs: number;
  readonly #loaded = Promise.withResolvers<void>();
  #open: Open | undefined;
  #ending: Error | undefined;

  constructor({ maxHeapMb, deadlineMs }: ReaderThreadOptions, onEnd: (thread: ReaderThread) => void) {
    this.#deadlineMs = deadlineMs;
    this.#worker = new Worker(siblingModule("./import-worker", import.meta.url), {
      name: "JSON reader",
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    this.#worker.on("message", (report: ReaderReport) => void this.#receive(report));
    this.#worker.on("error", (error) => {
      const isMemory = systemCodeOf(error) === "ERR_WORKER_OUT_OF_MEMORY";
      const message = `the body needs more memory than it may have. ${smaller}`;
      this.#ending ??= isMemory
        ? new DropgateError("tooLarge", message)
        : new Error(`a reader thread failed: ${messageOf(error)}`, { cause: error });
    });
    this.#worker.on("exit", () => {
      this.#loaded.resolve();
      onEnd(this);
      this.#close()?.reject(this.#ending ?? new Error("a reader thread ended"));
    });
  }

  /** Only when it is free. Rejects with a `DropgateError` for what is wrong with the body. */
  run(job: ReaderJob): Promise<ReaderResult> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#endLate(), this.#deadlineMs);
      this.#open = { entries: [], resolve, reject, timer };
      const bytes = ownBytes(job.bytes);
      this.#worker.postMessage({ ...job, bytes }, [bytes.buffer]);
    });
  }

  /** Ends the thread now. One that still loads is ended when it has loaded: V8 would take the whole process down. */
  async end(reason: Error): Promise<void> {
    this.#ending ??= reason;
    await this.#loaded.promise;
    await this.#worker.terminate();
  }

  #endLate(): void {
    const seconds = Math.round(this.#deadlineMs / 1_000);
    void this.end(
      new DropgateError("tooLarge", `the body could not be read within ${seconds} seconds. ${smaller}`),
    );
  }

  #close(): Open | undefined {
    const open = this.#open;
    this.#open = undefined;
    clearTimeout(open?.timer);
    return open;
  }

  async #receive(report: ReaderReport): Promise<void> {
    if (report.kind === "ready") this.#loaded.resolve();
    else if (report.kind === "checked") this.#close()?.resolve(report.bytes);
    else if (report.kind === "event") this.#close()?.resolve(report.event);
    else if (report.kind === "refused" || report.kind === "failed") this.#close()?.reject(failureOf(report));
    else {
      this.#open?.entries.push(...report.entries);
      if (report.isLast) {
        const open = this.#close();
        open?.resolve(open.entries);
        return;
      }
      // Others get their turn between two parts.
      await setImmediate();
      this.#worker.postMessage({ kind: "next" });
    }
  }
}
