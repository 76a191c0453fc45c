/**
 * A change to one stop on its way from a document to the store: the canonical stop as JSON text, beside the few values
 * that transitions and indexes need, so that passing it between threads costs little.
 */

/** What the document asks for (interface 4.9): 01 create or update, 02 delete, 03 as 01 with an assignment. */
export type StopFunction = "01" | "02" | "03";

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
  /** Whether `from` or `to` has a `timeFrom`. */
  readonly hasTimeWindow: boolean;
}

export interface StopChange {
  readonly function: StopFunction;
  readonly stopNbr: string;
  readonly stopJson: string;
  readonly index: StopIndex;
}
