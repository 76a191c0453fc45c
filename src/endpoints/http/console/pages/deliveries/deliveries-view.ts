/** What the pages of deliveries ask, and what they are told. Plain data; times are milliseconds UTC. */
import type { Move } from "../../../../../domain/outbound/whose-move.ts";
import type {
  AskedDeliveryState,
  DeliveryKind,
  DeliveryState,
} from "../../../../../domain/outbound/delivery-state.ts";

export interface DeliveriesFilter {
  /** The code of a company. */
  readonly company?: string;
  readonly target?: string;
  readonly state?: AskedDeliveryState;
  readonly kind?: DeliveryKind;
  /** With `*` and `?`. */
  readonly name?: string;
  /** Its number. */
  readonly stop?: string;
  /** Made at this time or later, and before that one. */
  readonly since?: number;
  readonly until?: number;
  /** Only these. */
  readonly guids?: readonly string[];
  /** Of these ids, those whose files nobody has fetched or removed. */
  readonly uncollected?: readonly number[];
}

export interface DeliveriesAsked {
  readonly filter: DeliveriesFilter;
  readonly limit: number;
  /** A place that `DeliveriesFound` has named: what is older. */
  readonly before?: string;
  /** The search goes on from where one has ended for its time, and takes longer. */
  readonly isFurther?: boolean;
}

/** A delivery in a list. */
export interface ShownDelivery {
  readonly guid: string;
  readonly company: string;
  readonly target: string;
  readonly isTargetConfigured: boolean;
  readonly kind: DeliveryKind;
  readonly name: string;
  /** The number of its stop, or the name of its export. */
  readonly orderKey: string;
  readonly state: DeliveryState;
  readonly isGivenUp: boolean;
  readonly createdAt: number;
  readonly dueAt: number;
  readonly deliveredAt: number | null;
  readonly collectedAt: number | null;
  readonly attempts: number;
  readonly faultText: string | null;
}

/** How a target stands, and what waits for it. */
export interface ShownTarget {
  readonly company: string;
  readonly name: string;
  readonly isConfigured: boolean;
  readonly open: number;
  readonly dead: number;
  /** When the oldest that is open was made. */
  readonly oldestAt: number | null;
  /** How many were made in the last ten minutes, and how many of them are still open. */
  readonly lately: { readonly made: number; readonly open: number };
  readonly failures: number;
  /** Until when it rests after a fault; null when it does not. */
  readonly restsUntil: number | null;
  /** The fault of the last attempt at what is open, with what to do. */
  readonly fault:
    | { readonly text: string; readonly remedy: string | undefined; readonly move: Move | undefined }
    | undefined;
  /** Somebody has paused it by hand. */
  readonly pause: { readonly by: string; readonly at: number; readonly reason: string } | undefined;
}

export interface DeliveriesFound {
  /** The newest first. */
  readonly deliveries: readonly ShownDelivery[];
  /** The place from which the next page goes on. */
  readonly before: string | null;
  /** Set when the time was over before the page was full: those made since then were looked through. */
  readonly searchedTo: number | null;
  readonly targets: readonly ShownTarget[];
  /** Since a restore nothing goes out; in words. */
  readonly hold: string | undefined;
}

export interface DeliveryAsked {
  readonly guid: string;
}

export interface ShownAttempt {
  readonly at: number;
  readonly durationMs: number;
  readonly fault: string;
  readonly text: string;
}

/** What the delivery was when somebody asked for it again, or gave it up. */
export interface ShownRepeat {
  readonly askedAt: number;
  readonly action: string;
  readonly by: string | null;
  readonly reason: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly deliveredAt: number | null;
}

export interface DeliveryFound extends ShownDelivery {
  readonly companyId: number;
  readonly firstAttemptAt: number | null;
  readonly lastAttemptAt: number | null;
  readonly fault: string | null;
  /** What to do about the fault, and who can. */
  readonly remedy: string | undefined;
  readonly move: Move | undefined;
  readonly size: number | null;
  readonly sha256: string | null;
  readonly collectedBy: string | null;
  readonly collectedFrom: string | null;
  readonly removedAt: number | null;
  readonly removedBy: string | null;
  /** Those that failed, the oldest first. */
  readonly failedAttempts: readonly ShownAttempt[];
  readonly repeats: readonly ShownRepeat[];
  /** The one that has to be done first. */
  readonly behind: string | null;
  /** One of a later state of the same stop that was delivered to the same target. */
  readonly newer: { readonly name: string; readonly deliveredAt: number } | null;
  readonly targetStanding: ShownTarget | undefined;
  readonly export: ShownExport | undefined;
}

export interface ShownExport {
  readonly company: string;
  readonly name: string;
  readonly sequenceNbr: number;
  readonly madeAt: number;
  /** As its manifest says them. */
  readonly afterCompletion: number;
  readonly lastCompletion: number;
  readonly form: string;
  /** How many completions it has. */
  readonly count: number;
  /** Its files, as its manifest names them. */
  readonly file: string;
  readonly manifest: string;
  /** Its newest delivery; null when it has none any more. */
  readonly delivery: { readonly guid: string; readonly state: DeliveryState } | null;
}

export interface ExportsAsked {
  readonly company?: string;
  readonly limit: number;
  /** A place that `ExportsFound` has named: only what was made before it. */
  readonly before?: number;
}

export interface ExportsFound {
  /** The newest first. */
  readonly exports: readonly ShownExport[];
  /** The place from which the next page goes on; null when this is all. */
  readonly before: number | null;
}

/** One export by what names it. */
export interface ExportAsked {
  readonly company: string;
  readonly name: string;
  readonly sequenceNbr: number;
}
