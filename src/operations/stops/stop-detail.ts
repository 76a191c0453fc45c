/**
 * Get stop detail: the Stop retrieval document (specification/resources.md#retrieval-documents).
 *
 * The stop is kept as JSON text and goes out as that text. It is parsed only when something in it must not go out as it
 * is: an assignment, whose truth is in columns, and the content of documents, which is never given back
 * (specification/legacy-services.md#documents); or when events have brought documents or confirmed details, which are
 * kept beside it.
 */
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import type { LoadAssignment, LoadHeader } from "../../domain/load/load.ts";
import type { PartyExecution, StopExecution } from "../../domain/execution/stop-execution.ts";
import type { StopDetail } from "../../domain/stop/stop-detail.ts";
import type { StopAssignment } from "../../domain/stop/stop.ts";
import { findAppointment, type StoredAppointment } from "../../store/appointments/appointments.ts";
import { findStopOnLoad, type StopOnLoad } from "../../store/stops/shown-stops.ts";
import type { StoredStop } from "../../store/stops/stop-queries.ts";
import type { StopKey } from "../../store/stops/stops.ts";
import { shownAppointment } from "./kept-appointment.ts";
import { stopNotFound } from "../not-found.ts";
import type { ReadDeps } from "../operation-deps.ts";

const noLoad = JSON.stringify({ loadNbr: null, driverName: null, vehicleNbr: null });

/** The load that the stop is on, in short. The vehicle is the tractor, else the trailer. */
function loadText({ load }: StopOnLoad): string {
  if (load === undefined) return noLoad;
  const { tractorNbr, trailerNbr } = JSON.parse(load.body) as LoadHeader;
  const { driverName = null } = JSON.parse(load.driver) as LoadAssignment;
  return JSON.stringify({ loadNbr: load.loadNbr, driverName, vehicleNbr: tractorNbr ?? trailerNbr ?? null });
}

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

function infoText(stop: StoredStop, members: string): string {
  const columns = {
    stopStatus: stop.status,
    receiveStatus: stop.receiveStatus,
    receiveDTTM: stop.receiveDttm,
  };
  return `${JSON.stringify(columns).slice(0, -1)},${members}`;
}

/** Of stops that nothing has happened to, by their states: most stops are asked for before anything happens. */
const nothingYet = new Map<string, string>();

/** Its execution info as JSON text. */
export function executionInfoText(stop: StoredStop): string {
  if (stop.execution !== "{}")
    return infoText(stop, executionMembers(JSON.parse(stop.execution) as StopExecution));
  if (stop.receiveDttm !== null) return infoText(stop, nothingExecuted);
  const states = `${stop.status} ${stop.receiveStatus}`;
  let text = nothingYet.get(states);
  if (text === undefined) {
    text = infoText(stop, nothingExecuted);
    nothingYet.set(states, text);
  }
  return text;
}

/** The documents of a stop as they are returned: everything but the content. */
export function documentsWithoutContent(
  documents: readonly DocumentObject[],
): Omit<DocumentObject, "documentData">[] {
  return documents.map(({ documentData: _content, ...rest }) => rest);
}

/** A value that is stored as text, in the form in which it was sent. */
export function asItCame(kept: string | null, sent: string | number | undefined): string | number | null {
  return sent !== undefined && String(sent) === kept ? sent : kept;
}

/** Whether events have brought documents or confirmed details. */
function hasBrought(execution: string): boolean {
  return execution !== "{}" && (execution.includes('"confirmed":') || execution.includes('"documents":'));
}

interface SentStop {
  readonly stopAssignment?: StopAssignment;
  readonly stopDetails?: readonly StopDetail[];
  readonly documents?: readonly DocumentObject[];
}

/** The stop with the data of its events: confirmed quantities in its details, and further documents. */
export function withExecution<Sent extends SentStop>(stop: Sent, execution: string): Sent {
  if (!hasBrought(execution)) return stop;
  const { confirmed = {}, documents = [] } = JSON.parse(execution) as StopExecution;
  const stopDetails = stop.stopDetails?.map((detail, place) => {
    const found = confirmed[String(place)];
    return found === undefined ? detail : { ...detail, confirmed: { ...detail.confirmed, ...found } };
  });
  return {
    ...stop,
    ...(stopDetails === undefined ? {} : { stopDetails }),
    ...(documents.length === 0 ? {} : { documents: [...(stop.documents ?? []), ...documents] }),
  };
}

/**
 * Whether there may be an assignment in the text of a stop. The key is looked for without its beginning: the search is for
 * the first character, and quotes and small letters are everywhere in four kilobytes, capitals hardly anywhere.
 */
function mayHaveAssignment(body: string): boolean {
  return body.includes('Assignment":');
}

/**
 * The stop as it is given back, as JSON text. What the host sent goes out as it was kept, without the content of documents,
 * which is taken out before; only an assignment has its truth in columns. A key of a JSON text stands between plain
 * quotes; inside a string they would be escaped.
 */
export function stopText(stop: StoredStop): string {
  const { body, carrierCode, assignmentCriteria, execution } = stop;
  const isParsed = mayHaveAssignment(body) || hasBrought(execution);
  if (carrierCode === null && !isParsed) return body;
  const { stopAssignment: sent = {}, ...rest } = isParsed
    ? withExecution(JSON.parse(body) as SentStop, execution)
    : {};
  const text = isParsed ? JSON.stringify(rest) : body;
  if (carrierCode === null) return text;
  const criteria = asItCame(assignmentCriteria, sent.assignmentCriteria);
  const { assignmentCriteria: _, ...others } = sent;
  const assignment = {
    ...others,
    carrierCode,
    ...(criteria === null ? {} : { assignmentCriteria: criteria }),
  };
  return `${text.slice(0, -1)},"stopAssignment":${JSON.stringify(assignment)}}`;
}

/** The appointment of a stop as a further member of an object, beside what was sent; nothing without one. */
export function appointmentMember(appointment: StoredAppointment | undefined): string {
  return appointment === undefined ? "" : `,"appointment":${JSON.stringify(shownAppointment(appointment))}`;
}

/** The retrieval document of the stop as JSON text. Throws 921 when the company has no stop of exactly that number. */
export async function readStopDetail(deps: ReadDeps, query: StopKey): Promise<string> {
  const { read } = deps.store;
  const { companyId, stopNbr } = query;
  const stop = await findStopOnLoad(read, query);
  if (stop === undefined) throw stopNotFound(stopNbr);
  const appointment = stop.hasAppointment ? await findAppointment(read, companyId, stopNbr) : undefined;
  const further = `"load":${loadText(stop)},"stopExecutionInfo":${executionInfoText(stop)}${appointmentMember(appointment)}`;
  return `{"Stop":{"stop":${stopText(stop)},${further}}}`;
}
