/** A document that waits for a parser thread, or is in one. */
import type { Fault } from "../lib/errors.ts";
import type { ServedLine } from "./document-line.ts";
import type { EndReason, ParserThread } from "./parser-thread.ts";
import type { PreparedDocument } from "./prepared-document.ts";
import type { WorkerJob } from "./worker-messages.ts";

export interface DocumentJob extends ServedLine {
  readonly id: number;
  readonly path?: string;
  readonly bytes?: Uint8Array;
  readonly charset?: string | undefined;
  thread: ParserThread | undefined;
  /** How often a thread ended with this job in hand. */
  blamed: number;
  /** How often a thread ended while it held this job, in hand or not. */
  witnessed: number;
  refuseWith?: Fault;
  settle(answer: PreparedDocument | { readonly error: unknown }): void;
}

/** Why a document is refused that ended its threads. */
export const endings: Readonly<Record<EndReason, string>> = {
  memory: "The document took the parser over its memory. Send it in smaller parts.",
  time: "The document took the parser over its time. Send it in smaller parts.",
  crash: "The document made the parser fail. Send it in smaller parts or correct it.",
  stopped: "The parser was stopped.",
};

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
