/**
 * What a parser thread hands to the main thread: no deep objects, but each stop as JSON text beside the few values that
 * the store indexes, so that passing it on costs little.
 */
import type { Stop } from "../domain/stop.ts";
import type { StopChange, StopIndex } from "../domain/stop-change.ts";
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

type IndexedTexts = Omit<StopIndex, "hasStopAssignment" | "markAsReceived" | "hasTimeWindow">;

const indexedFields = ["shipmentNbr", "sealNbr", "bol", "reference1", "reference2"] as const;
const assignmentFields = ["carrierCode", "assignmentCriteria"] as const;

/** The values of a stop that the store keeps in columns of their own. */
export function stopIndexOf(stop: Stop): StopIndex {
  const texts: { -readonly [field in keyof IndexedTexts]: IndexedTexts[field] } = {};
  for (const field of indexedFields) {
    const value = stop[field];
    if (value !== undefined) texts[field] = String(value);
  }
  for (const field of assignmentFields) {
    const value = stop.stopAssignment?.[field];
    if (value !== undefined) texts[field] = String(value);
  }
  if (stop.receivedDttm !== undefined) texts.receivedDttm = stop.receivedDttm;
  return {
    ...texts,
    hasStopAssignment: stop.stopAssignment !== undefined,
    markAsReceived: stop.markAsReceived === true,
    hasTimeWindow: Boolean(stop.from?.schedule?.timeFrom ?? stop.to?.schedule?.timeFrom),
  };
}

/** One instruction in the form that leaves the parser thread. */
export function prepareInstruction(instruction: StopInstruction): StopChange {
  const { stop } = instruction;
  return {
    function: instruction.function,
    stopNbr: instruction.stopNbr,
    stopJson: JSON.stringify(stop),
    index: stopIndexOf(stop),
  };
}
