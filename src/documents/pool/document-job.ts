/** A document that waits for a parser thread, or is in one. */
import type { Fault } from "../../lib/errors.ts";
import type { EndReason } from "../../lib/threads/worker-host.ts";
import type { ServedLine } from "./document-line.ts";
import type { ParserThread, ThreadEnd } from "./parser-thread.ts";
import type { PreparedDocument } from "./prepared-document.ts";
import type { WorkerJob } from "./worker-messages.ts";

export interface DocumentOrigin {
  /** Whose document it is; without it, it is one of our own. */
  readonly companyCode?: string;
  /** Of a file, when it is known: large ones wait for each other. */
  readonly size?: number;
  /** The parameter of the Content-Type that bytes came under. */
  readonly charset?: string | undefined;
}

export interface DocumentJob extends ServedLine {
  readonly id: number;
  readonly path?: string;
  readonly bytes?: Uint8Array;
  readonly charset?: string | undefined;
  /** Bytes, as far as they are known; 0 otherwise. */
  readonly size: number;
  thread: ParserThread | undefined;
  /** How often a thread ended with this job in hand. */
  blamed: number;
  /** How often a thread ended while it held this job, in hand or not. */
  witnessed: number;
  refuseWith?: Fault;
  settle(answer: PreparedDocument | { readonly error: unknown }): void;
}

/** Why a document is refused that ended its threads. */
const endings: Readonly<Record<EndReason, string>> = {
  memory: "The document took the parser over its memory. Send it in smaller parts.",
  time: "The document took the parser over its time. Send it in smaller parts.",
  crash: "The document made the parser fail. Send it in smaller parts or correct it.",
  stopped: "The parser was stopped.",
};

/** A job that has seen this many threads die unexplained is the likely cause. */
const maxWitnessed = 5;

/** Whether a thread has ended while it held the job. Such a job goes alone: no other is there when the next one ends. */
export function isSuspect({ witnessed, blamed }: DocumentJob): boolean {
  return witnessed > 0 || blamed > 0;
}

/**
 * Notes that a thread ended while it held the job. The second time that a thread ends on it, the job is to be refused,
 * after a thread has hashed it without parsing. Settles it when even that ends threads, or the disk is at fault.
 */
export function noteEnd(job: DocumentJob, end: ThreadEnd): void {
  job.thread = undefined;
  if (end.reason === "stopped") return;
  if (job.id === end.jobId && end.isReading && end.reason === "time") {
    const message = "its bytes cannot be read from the disk";
    job.settle({ kind: "unreadable", systemCode: "ETIMEDOUT", message });
    return;
  }
  job.witnessed++;
  if (job.id === end.jobId) job.blamed++;
  const isRefused = job.blamed >= 2 || job.witnessed >= maxWitnessed;
  if (!isRefused) return;
  if (job.refuseWith !== undefined) {
    // It ends threads even when it is only hashed: then the disk below it is at fault, not the document.
    job.settle({ kind: "unreadable", systemCode: "EIO", message: "it cannot be read to its end" });
    return;
  }
  job.refuseWith = { code: "tooLarge", message: endings[end.reason] };
  job.blamed = 1;
  job.witnessed = 0;
}

/** What the thread is sent of it. */
export function messageOfJob(job: DocumentJob): WorkerJob {
  return {
    id: job.id,
    ...(job.path === undefined ? {} : { path: job.path }),
    // A copy of exactly these bytes: a view would take the whole memory it is a view of with it.
    ...(job.bytes === undefined ? {} : { bytes: new Uint8Array(job.bytes) }),
    ...(job.charset === undefined ? {} : { charset: job.charset }),
    ...(job.refuseWith === undefined ? {} : { refuseWith: job.refuseWith }),
  };
}
