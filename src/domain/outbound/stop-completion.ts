/**
 * The content of a completion file: the stop as it was at the moment of the event, and its recorded events
 * (specification/outbound.md#content).
 */
import type { CompletionFormat } from "./completion-format.ts";
import type { DocumentObject } from "../documents/document-object.ts";
import type { StopExecution } from "../execution/stop-execution.ts";
import type { StopStatus } from "../stop/stop-status.ts";
import type { Stop } from "../stop/stop.ts";

/** A recorded event of the stop, as the completion file shows it. */
export interface CompletionEvent {
  /** The number of the event, such as 7009. */
  readonly eventId: number;
  /** Local, as it was reported; without one the service recorded the event by itself, at `recordedAt`. */
  readonly reportedDTTM?: string;
  readonly timeZone?: string;
  readonly latitude?: number;
  readonly longitude?: number;
  /** Milliseconds UTC. */
  readonly recordedAt: number;
  /** Documents without content; `reference` is their GUID. */
  readonly documents: readonly DocumentObject[];
}

/** The load that the stop is on, as it was at that moment. */
export interface CompletionLoad {
  readonly loadNbr: string;
  readonly driverName?: string;
  readonly driverUserName?: string;
}

export interface StopCompletion {
  /** The version in which it is written, now and at every later attempt. */
  readonly format: CompletionFormat;
  /** The canonical stop as the host sent it last, without content of documents. */
  readonly stop: Stop;
  readonly stopStatus: StopStatus;
  readonly execution: StopExecution;
  readonly load?: CompletionLoad;
  /** In the order in which they were recorded. */
  readonly events: readonly CompletionEvent[];
  /** The number of the event that the file was written for. */
  readonly triggeredBy: number;
}
