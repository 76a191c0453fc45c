/**
 * What a parser thread hands to the main thread: no deep objects, but each stop as JSON text beside the few values that
 * the store indexes, so that passing it on costs little.
 */
import { type StopChange, stopChangeOf } from "../domain/stop-change.ts";
import type { Fault } from "../lib/errors.ts";
import type { StopInstruction } from "./stop-document.ts";

export type PreparedDocument =
  | {
      readonly kind: "read";
      readonly sha256: string;
      readonly size: number;
      readonly documentId?: string;
      readonly companyCode?: string;
      readonly instructions: readonly StopChange[];
    }
  | {
      readonly kind: "refused";
      readonly sha256: string;
      readonly size: number;
      readonly faults: readonly Fault[];
      readonly documentId?: string;
      readonly isIncomplete: boolean;
      readonly firstFunction?: string;
      readonly firstStopNbr?: string;
    }
  /** The file cannot be read: `systemCode` as ENOENT, EACCES, EIO, ELOOP, or ENOTREG for what is no regular file. */
  | { readonly kind: "unreadable"; readonly systemCode: string; readonly message: string };

/** One instruction in the form that leaves the parser thread. */
export function prepareInstruction({ function: code, stop }: StopInstruction): StopChange {
  return stopChangeOf(code, stop);
}
