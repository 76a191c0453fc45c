/**
 * The content of a completion file, derived from the stop and its execution: the object that the table of
 * `stop-completion-elements.ts` is written from.
 */
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import { minutesBetweenLocal } from "../../domain/time/local-duration.ts";
import { isLocalDateTime } from "../../domain/time/local-time.ts";
import { endsStop, recordedEventName } from "../../domain/outbound/recorded-events.ts";
import { signatureOf } from "../../domain/documents/signature.ts";
import type { CompletionEvent, StopCompletion } from "../../domain/outbound/stop-completion.ts";
import type { Confirmed, StopDetail } from "../../domain/stop/stop-detail.ts";
import type { PartyExecution } from "../../domain/execution/stop-execution.ts";
import { isDoneStopStatus } from "../../domain/stop/stop-status.ts";
import { visitsOf } from "../../domain/execution/stop-visits.ts";
import { localTimeOf } from "../../domain/time/zoned-time.ts";
import { createContentPlacer, type DocumentContents } from "./document-contents.ts";

interface LocalTime {
  readonly local: string;
  readonly zone: string | undefined;
}

/** XML Schema has no year 0, which reports may have. */
function isSayable(local: string): boolean {
  return isLocalDateTime(local) && !local.startsWith("0000");
}

/** An event always has a time. The service itself knows no zone but UTC. */
function reportedTime(event: CompletionEvent): LocalTime {
  const { reportedDTTM, timeZone, recordedAt } = event;
  if (reportedDTTM !== undefined && isSayable(reportedDTTM)) return { local: reportedDTTM, zone: timeZone };
  return { local: localTimeOf(recordedAt, "UTC"), zone: "UTC" };
}

/**
 * When a finished stop was finished: the last confirmation or closing, and for one that was completed by hand without
 * either the event that the file was written for.
 */
function endOf({ stopStatus, events, triggeredBy }: StopCompletion): LocalTime | undefined {
  if (!isDoneStopStatus(stopStatus)) return undefined;
  const last =
    events.findLast(({ eventId }) => endsStop(eventId)) ??
    events.findLast(({ eventId }) => eventId === triggeredBy);
  return last === undefined ? undefined : reportedTime(last);
}

/** Minutes at the stop: to the departure, or to its end while no departure is known. */
function durationOf(visit: PartyExecution, end: LocalTime | undefined): number | undefined {
  const { arrivalDTTM, arrivalTz, departureDTTM, duration } = visit;
  if (duration !== undefined || departureDTTM !== undefined) return duration;
  const zone = arrivalTz ?? end?.zone;
  if (arrivalDTTM === undefined || zone === undefined || end?.zone === undefined) return undefined;
  return minutesBetweenLocal({ local: arrivalDTTM, zone }, { local: end.local, zone: end.zone });
}

function executionView(completion: StopCompletion) {
  const { stop, stopStatus, execution, load } = completion;
  const isPickupOnly = visitsOf(stop, {}) === "pickupOnly";
  const visit = (isPickupOnly ? execution.from : execution.to) ?? {};
  const end = endOf(completion);
  return {
    stopStatus,
    actualStartDTTM: execution.from?.arrivalDTTM ?? execution.to?.arrivalDTTM,
    actualEndDTTM: end?.local,
    arrivalDTTM: visit.arrivalDTTM,
    departureDTTM: visit.departureDTTM,
    actualDuration: durationOf(visit, end),
    driver: { fullName: load?.driverName, userName: load?.driverUserName },
    loadNbr: load?.loadNbr,
    pickup: execution.from,
    dropOff: execution.to,
    cancellation: execution.cancellation,
    exceptions: execution.exceptions,
  };
}

function given<Value>(value: Value | undefined): Value | undefined {
  return value === "" ? undefined : value;
}

/** Of a pickup only, the quantities of the pickup are those that count. */
function reportedView(reported: Confirmed, isPickupOnly: boolean) {
  const { confirmedQty, scannedQty, puConfirmedQty, puScannedQty } = reported;
  return {
    ...reported,
    confirmedQty: isPickupOnly ? (given(puConfirmedQty) ?? confirmedQty) : confirmedQty,
    scannedQty: isPickupOnly ? (given(puScannedQty) ?? scannedQty) : scannedQty,
  };
}

function detailViews({ stop, execution }: StopCompletion) {
  const isPickupOnly = visitsOf(stop, {}) === "pickupOnly";
  return stop.stopDetails?.map((detail: StopDetail, place) => {
    const reported = execution.confirmed?.[String(place)];
    // Set also when there is nothing: hosts may have a field of that name of their own.
    if (reported === undefined) return { ...detail, reported };
    const confirmed = { ...detail.confirmed, ...reported };
    return { ...detail, confirmed, reported: reportedView(reported, isPickupOnly) };
  });
}

function withoutContent({ documentData: _content, ...document }: DocumentObject): DocumentObject {
  return document;
}

export interface CompletionViewOptions {
  readonly companyCode: string | undefined;
  /** Contents to be embedded. */
  readonly contents: DocumentContents;
}

/** Everything that is worked out stands under keys that are set in any case: no field of a host's own comes through. */
export function completionView(completion: StopCompletion, options: CompletionViewOptions) {
  const { stop, execution, events, triggeredBy } = completion;
  const placed = createContentPlacer(options.contents);
  const signature = signatureOf(execution.documents ?? []);
  return {
    ...stop,
    documents: stop.documents?.map(withoutContent),
    stopDetails: detailViews(completion),
    completion: {
      ...executionView(completion),
      companyCode: options.companyCode,
      signature: signature && { ...placed(signature.document), ...signature },
      events: events.map((event) => {
        const { local, zone } = reportedTime(event);
        return {
          eventId: event.eventId,
          eventName: recordedEventName(event.eventId),
          reportedDTTM: local,
          timeZone: zone,
          latitude: event.latitude,
          longitude: event.longitude,
          documents: event.documents.map(placed),
        };
      }),
      triggeredBy,
    },
  };
}
