/** The stored execution of stops and loads, beside their states (specification/resources.md#stop-execution-info). */
import type { DocumentObject } from "../documents/document-object.ts";
import type { StopEventRule } from "./route-event-rules.ts";
import type { Confirmed } from "../stop/stop-detail.ts";
import { minutesBetween, momentOf } from "../time/zoned-time.ts";

/** A time as it was reported. */
export interface ReportedTime {
  readonly eventDTTM: string;
  readonly eventTz: string;
}

/** Times are local, as they were reported; zones are kept beside them and not given back. */
export interface PartyExecution {
  readonly plannedEtaDTTM?: string;
  readonly plannedEtaTz?: string;
  /** When the driver entered the geofence on this visit. */
  readonly geofenceDTTM?: string;
  readonly arrivalDTTM?: string;
  readonly arrivalTz?: string;
  readonly confirmedDTTM?: string;
  readonly departureDTTM?: string;
  /** Minutes from arrival to departure. */
  readonly duration?: number;
  /** What the arrival said of the departure. */
  readonly autoDepart?: boolean;
  readonly isAutoDeparture?: boolean;
}

export interface StopException {
  readonly exceptionCode?: string;
  readonly exceptionDesc?: string;
}

export interface StopCancellationInfo {
  readonly reasonCode?: string;
  readonly reasonDesc?: string;
  readonly cancelDTTM?: string;
  readonly cancelTimeZone?: string;
}

export interface StopExecution {
  readonly cancellation?: StopCancellationInfo;
  readonly exceptions?: readonly StopException[];
  readonly from?: PartyExecution;
  readonly to?: PartyExecution;
  /** What was confirmed of details, by their place in `stopDetails`. */
  readonly confirmed?: Readonly<Record<string, Confirmed>>;
  /** Documents that events brought, without content. */
  readonly documents?: readonly DocumentObject[];
}

export interface LoadExecution {
  readonly actualStartDTTM?: string;
  readonly actualStartTimeZone?: string;
  readonly actualEndDTTM?: string;
  readonly actualEndTimeZone?: string;
  readonly originArrivalDTTM?: string;
  readonly originDepartureDTTM?: string;
  readonly depotArrivalDTTM?: string;
  readonly cancellation?: unknown;
}

/** The visit with its departure at this time, and how long it took when its arrival is known. */
export function departed(
  visit: PartyExecution,
  { eventDTTM, eventTz }: ReportedTime,
  isAutoDeparture: boolean,
): PartyExecution {
  const { arrivalDTTM, arrivalTz } = visit;
  const next = { ...visit, departureDTTM: eventDTTM, ...(isAutoDeparture ? { isAutoDeparture } : {}) };
  if (arrivalDTTM === undefined) return next;
  const arrived = momentOf(arrivalDTTM, arrivalTz ?? eventTz);
  return { ...next, duration: minutesBetween(arrived, momentOf(eventDTTM, eventTz)) };
}

function arrived(visit: PartyExecution, { eventDTTM, eventTz }: ReportedTime): PartyExecution {
  return { ...visit, arrivalDTTM: eventDTTM, arrivalTz: eventTz };
}

/** The visit after the event, without an automatic departure. */
export function visitAfter(
  visit: PartyExecution,
  event: { readonly rule: StopEventRule; readonly time: ReportedTime; readonly isArrivalImplied: boolean },
): PartyExecution {
  const { rule, time, isArrivalImplied } = event;
  switch (rule.step) {
    case "arrival":
      return arrived(visit, time);
    case "confirmation":
      return { ...(isArrivalImplied ? arrived(visit, time) : visit), confirmedDTTM: time.eventDTTM };
    case "departure":
      return departed(visit, time, false);
    case "closed":
      return visit;
  }
}

/** Whether a departure from this visit can be reported: the driver was there, and has arrived nowhere else since. */
export function isDepartureDue(execution: StopExecution, party: "from" | "to"): boolean {
  const visit = execution[party];
  const hasGoneOn = party === "from" && execution.to?.arrivalDTTM !== undefined;
  return visit?.arrivalDTTM !== undefined && visit.departureDTTM === undefined && !hasGoneOn;
}
