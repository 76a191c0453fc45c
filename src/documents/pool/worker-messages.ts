/** The messages between the document pool and its parser threads. */
import type { Fault } from "../../lib/errors.ts";
import type { PreparedDocument } from "./prepared-document.ts";
import type { StopDocumentLimits } from "../reading/stop-document.ts";

/** One document to prepare: a file by its path, or bytes. */
export interface WorkerJob {
  readonly id: number;
  readonly path?: string;
  readonly bytes?: Uint8Array;
  /** The parameter of the Content-Type that the bytes came under. */
  readonly charset?: string;
  /** The document is not to be parsed (again): only hashed, and refused with this fault. */
  readonly refuseWith?: Fault;
}

/** The limits of the jobs that are sent from now on. */
export interface NewLimits {
  readonly limits: StopDocumentLimits;
}

/** A batch of jobs, as JSON text unless one of them has bytes; or other limits. */
export type WorkerMessage = string | readonly WorkerJob[] | NewLimits;

export interface WorkerResult {
  readonly id: number;
  readonly document: PreparedDocument;
}

/** A message of a thread; it travels as JSON text. */
export interface WorkerReport {
  readonly results: readonly WorkerResult[];
  readonly isBatchDone: boolean;
  /** The parser's memory has grown and will not shrink: the pool should replace the thread. */
  readonly isWornOut: boolean;
}

export interface WorkerSettings {
  readonly limits: StopDocumentLimits;
  /** Where the contents of documents are stored; without it they are only taken out. */
  readonly documentsDir: string | undefined;
  readonly maxParserBytes: number;
  readonly wornOutBytes: number;
  /** Whether the thread runs at a lower priority. */
  readonly stepsBack: boolean;
  /** Int32 values at the places of `progressAt`. */
  readonly progress: SharedArrayBuffer;
}

/**
 * The progress of a thread: the number of the job in hand, 0 for none; parts read so far; whether all of it is read.
 */
export const progressAt = { jobId: 0, reads: 1, isParsing: 2 } as const;
export const progressBytes = 12;
