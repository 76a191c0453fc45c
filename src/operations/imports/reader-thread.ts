/**
 * One reader thread as the pool sees it: starting → free ⇄ busy → ended. It ends because it was stopped, or because a body
 * took it over its memory or its time, or crashed it; the pool makes another when there is work again.
 */
import { setImmediate } from "node:timers/promises";
import { DropgateError } from "../../lib/errors.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { type WorkerEnd, WorkerHost } from "../../lib/threads/worker-host.ts";
import { ownBytes, type ReaderJob, type ReaderReport } from "./import-worker-messages.ts";
import type { SentEvent } from "../execution/read-route-event.ts";

export interface ReaderThreadOptions {
  readonly maxHeapMb: number;
  readonly deadlineMs: number;
}

/** The result of a job: the entries of an import, the bytes of a body that was checked, or a route event. */
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
}

export class ReaderThread {
  readonly #host: WorkerHost<ReaderReport>;
  readonly #deadlineMs: number;
  #open: Open | undefined;
  #ending: Error | undefined;

  constructor({ maxHeapMb, deadlineMs }: ReaderThreadOptions, onEnd: (thread: ReaderThread) => void) {
    this.#deadlineMs = deadlineMs;
    const file = siblingModule("./import-worker", import.meta.url);
    this.#host = new WorkerHost<ReaderReport>(
      { file, name: "JSON reader", maxHeapMb },
      {
        message: (report) => void this.#receive(report),
        ended: (end) => {
          onEnd(this);
          this.#close()?.reject(this.#errorOf(end));
        },
      },
    );
  }

  /** Only when it is free. Rejects with a `DropgateError` for what is wrong with the body. */
  run(job: ReaderJob): Promise<ReaderResult> {
    return new Promise((resolve, reject) => {
      this.#open = { entries: [], resolve, reject };
      this.#host.within(this.#deadlineMs);
      const bytes = ownBytes(job.bytes);
      this.#host.post({ ...job, bytes }, [bytes.buffer]);
    });
  }

  /** Ends the thread as soon as it has loaded. */
  async end(reason: Error): Promise<void> {
    this.#ending ??= reason;
    await this.#host.end();
  }

  #errorOf({ reason, detail, error }: WorkerEnd): Error {
    const seconds = Math.round(this.#deadlineMs / 1_000);
    if (reason === "memory")
      return new DropgateError("tooLarge", `the body needs more memory than it may have. ${smaller}`);
    if (reason === "time")
      return new DropgateError(
        "tooLarge",
        `the body could not be read within ${seconds} seconds. ${smaller}`,
      );
    if (reason === "stopped" && this.#ending !== undefined) return this.#ending;
    return new Error(`a reader thread failed: ${detail ?? "it ended"}`, { cause: error });
  }

  #close(): Open | undefined {
    const open = this.#open;
    this.#open = undefined;
    this.#host.inTime();
    return open;
  }

  async #receive(report: ReaderReport): Promise<void> {
    if (report.kind === "checked") this.#close()?.resolve(report.bytes);
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
      this.#host.post({ kind: "next" });
    }
  }
}
