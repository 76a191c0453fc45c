/**
 * Get stop detail: the Stop retrieval document (interface "Stop retrieval document", "Stop execution info").
 *
 * The stop is kept as JSON text and goes out as that text. It is parsed only when something in it must not go out as it
 * is: an assignment, whose truth is in columns, and the content of documents, which is never given back (decisions 7).
 */
import type { DocumentObject } from "../domain/document-object.ts";
import { DropgateError } from "../lib/errors.ts";
import type { Reader } from "../store/database.ts";
import { findStoredStop, type StoredStop } from "../store/stop-queries.ts";

export interface StopDetailDeps {
  readonly store: { readonly read: Reader };
}

export interface StopDetailQuery {
  readonly companyId: number;
  readonly stopNbr: string;
}

interface PartyExecution {
  readonly plannedEtaDTTM?: string;
  readonly arrivalDTTM?: string;
  readonly confirmedDTTM?: string;
  readonly departureDTTM?: string;
  readonly duration?: number;
}

interface Cancellation {
  readonly reasonCode?: string;
  readonly reasonDesc?: string;
  readonly cancelDTTM?: string;
  readonly cancelTimeZone?: string;
}

/** What is kept of the execution of a stop beside its columns. */
export interface StopExecution {
  readonly cancellation?: Cancellation;
  readonly exceptions?: readonly { readonly exceptionCode?: string; readonly exceptionDesc?: string }[];
  readonly from?: PartyExecution;
  readonly to?: PartyExecution;
}

const noLoad = JSON.stringify({ loadNbr: null, driverName: null, vehicleNbr: null });

function partyExecution(party: PartyExecution | undefined): Record<string, unknown> {
  return {
    plannedEtaDTTM: party?.plannedEtaDTTM ?? null,
    arrivalDTTM: party?.arrivalDTTM ?? null,
    confirmedDTTM: party?.confirmedDTTM ?? null,
    departureDTTM: party?.departureDTTM ?? null,
    duration: party?.duration ?? null,
  };
}

/** The part of the execution info that does not come from columns, as members of an object; unknown values are null. */
function executionMembers(execution: StopExecution): string {
  const exceptions = execution.exceptions ?? [];
  const members = {
    from: partyExecution(execution.from),
    to: partyExecution(execution.to),
    exceptionPresent: exceptions.length > 0,
    exceptions,
    cancellation: execution.cancellation ?? null,
  };
  return JSON.stringify(members).slice(1);
}

const nothingExecuted = executionMembers({});

function executionInfoOf(stop: StoredStop): string {
  const columns = {
    stopStatus: stop.status,
    receiveStatus: stop.receiveStatus,
    receiveDTTM: stop.receiveDttm,
  };
  const members =
    stop.execution === "{}" ? nothingExecuted : executionMembers(JSON.parse(stop.execution) as StopExecution);
  return `${JSON.stringify(columns).slice(0, -1)},${members}`;
}

/** The documents of a stop as they are given back: everything but the content. */
export function documentsWithoutContent(
  documents: readonly DocumentObject[],
): Omit<DocumentObject, "documentData">[] {
  return documents.map(({ documentData: _content, ...rest }) => rest);
}

interface KeptStop {
  stopAssignment?: unknown;
  documents?: readonly DocumentObject[];
}

/** A key of a JSON text stands between plain quotes; inside a string they would be escaped. */
function mustBeParsed(body: string): boolean {
  return body.includes('"documentData":') || body.includes('"stopAssignment":');
}

function withoutWhatStaysHere(body: string): string {
  if (!mustBeParsed(body)) return body;
  const { stopAssignment: _assignment, documents, ...stop } = JSON.parse(body) as KeptStop;
  return JSON.stringify(
    documents === undefined ? stop : { ...stop, documents: documentsWithoutContent(documents) },
  );
}

function stopText(stop: StoredStop): string {
  const body = withoutWhatStaysHere(stop.body);
  if (stop.carrierCode === null) return body;
  const assignment = {
    carrierCode: stop.carrierCode,
    ...(stop.assignmentCriteria === null ? {} : { assignmentCriteria: stop.assignmentCriteria }),
  };
  return `${body.slice(0, -1)},"stopAssignment":${JSON.stringify(assignment)}}`;
}

/** The retrieval document of the stop as JSON text. Throws 921 when the company has no stop of exactly that number. */
export async function readStopDetail(deps: StopDetailDeps, query: StopDetailQuery): Promise<string> {
  const stop = await findStoredStop(deps.store.read, query.companyId, query.stopNbr);
  if (stop === undefined) {
    throw new DropgateError(
      "stopNotFound",
      `there is no stop ${query.stopNbr}. Check the number; it is matched exactly.`,
    );
  }
  return `{"Stop":{"stop":${stopText(stop)},"load":${noLoad},"stopExecutionInfo":${executionInfoOf(stop)}}}`;
}
