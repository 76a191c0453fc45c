/** From the row of a completion to the content of its file. */
import { completionFormat, isCompletionFormat } from "../domain/outbound/completion-format.ts";
import type { DocumentObject } from "../domain/documents/document-object.ts";
import type { CompletionEvent, CompletionLoad, StopCompletion } from "../domain/outbound/stop-completion.ts";
import type { StopExecution } from "../domain/execution/stop-execution.ts";
import { isStopStatus } from "../domain/stop/stop-status.ts";
import type { Stop } from "../domain/stop/stop.ts";
import { given } from "../lib/given.ts";
import type { StoredCompletion, StoredCompletionEvent } from "../store/outbound/completions.ts";

/** `data`, as operations write it. */
interface EventData {
  readonly eventDTTM?: string;
  readonly eventTz?: string;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly documents?: readonly DocumentObject[];
}

function eventOf({ code, recordedAt, data }: StoredCompletionEvent): CompletionEvent {
  const { eventDTTM, eventTz, latitude, longitude, documents = [] } = JSON.parse(data) as EventData;
  return {
    eventId: code,
    ...given({ reportedDTTM: eventDTTM, timeZone: eventTz, latitude, longitude }),
    recordedAt,
    documents,
  };
}

/** With the carrier that was assigned last, in whatever way; the one that the host has sent may be older. */
function stopOf({ body, carrierCode, assignmentCriteria }: StoredCompletion): Stop {
  const { stopAssignment: sent, ...stop } = JSON.parse(body) as Stop;
  if (carrierCode === null) return stop;
  const { assignmentCriteria: _, ...others } = sent ?? {};
  const criteria = assignmentCriteria === null ? {} : { assignmentCriteria };
  return { ...stop, stopAssignment: { ...others, carrierCode, ...criteria } };
}

function loadOf({ loadNbr, driver }: StoredCompletion): CompletionLoad | undefined {
  if (loadNbr === null) return undefined;
  const { driverName, driverUserName } = JSON.parse(driver) as Omit<CompletionLoad, "loadNbr">;
  return { loadNbr, ...given({ driverName, driverUserName }) };
}

/** The content of the file. Throws for a completion that a newer dropgate has made, or none. */
export function stopCompletionOf(stored: StoredCompletion): StopCompletion {
  const { stopStatus, triggeredBy, format } = stored;
  if (!isCompletionFormat(format)) {
    throw new Error(
      `completion ${stored.id} has format ${format}, this dropgate knows ${completionFormat}: install the newer version again`,
    );
  }
  if (!isStopStatus(stopStatus))
    throw new Error(`completion ${stored.id} has the unknown state ${stopStatus}`);
  const load = loadOf(stored);
  return {
    format,
    stop: stopOf(stored),
    stopStatus,
    execution: JSON.parse(stored.execution) as StopExecution,
    ...(load === undefined ? {} : { load }),
    events: stored.events.map(eventOf),
    triggeredBy,
  };
}
