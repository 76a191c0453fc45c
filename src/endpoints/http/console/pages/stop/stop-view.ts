/** What the page of a stop asks, and what it is told. Plain data; times are milliseconds UTC. */
import type { StopVisits } from "../../../../../domain/execution/route-event-rules.ts";
import type { StopException } from "../../../../../domain/execution/stop-execution.ts";
import type { Address } from "../../../../../domain/stop/party.ts";
import type { DeliveryLink, FileLink } from "../file/file-view.ts";

export interface StopAsked {
  readonly companyCode: string;
  readonly stopNbr: string;
}

/** One visit of a stop: what was asked for, what is expected, what was. */
export interface VisitView {
  readonly party: "from" | "to";
  readonly address: Address;
  /** Of its times; UTC where none is known. */
  readonly zone: string;
  /** The window that was asked for. */
  readonly timeFrom?: number;
  readonly timeTo?: number;
  readonly expectedAt?: number;
  readonly geofenceAt?: number;
  readonly arrivedAt?: number;
  readonly confirmedAt?: number;
  readonly departedAt?: number;
}

export interface StopEventView {
  readonly code: number;
  readonly name: string;
  readonly recordedAt: number;
  readonly happenedAt: number;
}

/** A file of the stop, with why it was refused. */
export interface StopFileView extends FileLink {
  readonly decidedAt: number | null;
  readonly reasons: readonly { readonly reasonCode: number; readonly message: string }[];
  readonly remedies: readonly string[];
}

export interface DocumentView {
  readonly name: string | null;
  readonly type: string | null;
  /** Bytes; null where the content never came, or went by its age. */
  readonly size: number | null;
}

export interface StopAppointment {
  readonly region: string;
  readonly begin: number | undefined;
  readonly end: number | undefined;
  readonly zone: string;
}

export interface StopFound {
  readonly company: string;
  readonly stopNbr: string;
  readonly status: string;
  readonly isReceived: boolean;
  readonly carrierCode: string | null;
  readonly visitKind: StopVisits;
  readonly visits: readonly VisitView[];
  readonly load:
    | { readonly loadNbr: string; readonly status: number; readonly driver: string | null }
    | undefined;
  readonly references: readonly (readonly [string, string])[];
  readonly exceptions: readonly StopException[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Oldest first, the newest 100. */
  readonly events: readonly StopEventView[];
  /** The newest first, the newest 50. */
  readonly files: readonly StopFileView[];
  /** Completions and messages, the newest first, the newest 50. */
  readonly deliveries: readonly DeliveryLink[];
  readonly appointment: StopAppointment | undefined;
  readonly documents: readonly DocumentView[];
}
