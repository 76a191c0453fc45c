/**
 * A change to one stop on its way from a document to the store: the canonical stop as JSON text, beside the few values
 * that transitions and indexes need, so that passing it between threads costs little.
 */
import type { KeptDocument } from "../documents/document-content.ts";
import { routedStopOf } from "../execution/routed-stop.ts";
import type { Stop } from "./stop.ts";
import { stopSeqNumberOf } from "./visit-order.ts";

/**
 * What the document asks for (specification/stop-document.md#function): 01 create or update, 02 delete, 03 as 01 with
 * an assignment.
 */
export const stopFunctions = ["01", "02", "03"] as const;
export type StopFunction = (typeof stopFunctions)[number];

const functionMeanings: Readonly<Record<StopFunction, string>> = {
  "01": "create or update",
  "02": "delete",
  "03": "create or update, and assign a carrier",
};

/** A Function with what it asks for, such as `01 (create or update)`; one that is none of them as it is. */
export function stopFunctionText(code: string): string {
  const known = stopFunctions.find((one) => one === code);
  return known === undefined ? code : `${known} (${functionMeanings[known]})`;
}

export interface StopIndex {
  readonly shipmentNbr?: string;
  readonly sealNbr?: string;
  readonly bol?: string;
  readonly reference1?: string;
  readonly reference2?: string;
  readonly carrierCode?: string;
  readonly assignmentCriteria?: string;
  readonly hasStopAssignment: boolean;
  readonly markAsReceived: boolean;
  readonly receivedDttm?: string;
  /** `stopSeq` where it is a number. */
  readonly stopSeq?: number;
  /** Whether `from` or `to` has a `timeFrom`. */
  readonly hasTimeWindow: boolean;
}

export interface StopChange {
  readonly function: StopFunction;
  readonly stopNbr: string;
  readonly stopJson: string;
  /** JSON: what route events need of the stop (`routed-stop.ts`). */
  readonly routedJson?: string;
  readonly index: StopIndex;
  /** Documents whose content was taken out of the stop, to be entered with it. */
  readonly documents?: readonly KeptDocument[];
}

type IndexedTexts = Omit<StopIndex, "stopSeq" | "hasStopAssignment" | "markAsReceived" | "hasTimeWindow">;

const indexedFields = ["shipmentNbr", "sealNbr", "bol", "reference1", "reference2"] as const;
const assignmentFields = ["carrierCode", "assignmentCriteria"] as const;

/** The values of a stop that the store keeps in columns of their own. */
function stopIndexOf(stop: Stop): StopIndex {
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
  const stopSeq = stopSeqNumberOf(stop.stopSeq);
  return {
    ...texts,
    ...(stopSeq === undefined ? {} : { stopSeq }),
    hasStopAssignment: stop.stopAssignment !== undefined,
    markAsReceived: stop.markAsReceived === true,
    hasTimeWindow: Boolean(stop.from?.schedule?.timeFrom ?? stop.to?.schedule?.timeFrom),
  };
}

/** The change that a document asks for, from the canonical stop and the documents that were taken out of it. */
export function stopChangeOf(
  code: StopFunction,
  stop: Stop,
  documents: readonly KeptDocument[] = [],
): StopChange {
  return {
    function: code,
    stopNbr: stop.stopNbr,
    stopJson: JSON.stringify(stop),
    routedJson: JSON.stringify(routedStopOf(stop)),
    index: stopIndexOf(stop),
    ...(documents.length === 0 ? {} : { documents }),
  };
}
