/** What the page of what waits asks, and what it is told. Plain data; times are milliseconds UTC. */
import type { Move } from "../../../../../domain/outbound/whose-move.ts";
import type { ShownDelivery } from "../deliveries/deliveries-view.ts";

export interface WaitingAsked {
  /** The code of a company; all of the viewer's unless given. */
  readonly company?: string;
  /** So many files, and so many deliveries. */
  readonly limit: number;
  /** Places that `WaitingFound` has named: what has waited less long than what stands there. */
  readonly filesAfter?: string;
  readonly deliveriesAfter?: string;
}

export interface WaitingFile {
  readonly reference: string;
  readonly company: string;
  readonly name: string;
  readonly stopNbr: string | null;
  readonly receivedAt: number;
  /** Why it has not been decided, in the words of `dropgate explain`. */
  readonly why: readonly string[];
}

export interface WaitingDelivery extends ShownDelivery {
  /** Its target was paused by hand. */
  readonly pausedBy: string | null;
  readonly pausedAt: number | null;
  /** Until when its target rests after faults; null when it does not. */
  readonly restsUntil: number | null;
  /** What to do about its last fault. */
  readonly remedy: string | null;
  readonly move: Move | undefined;
}

export interface WaitingFound {
  /** Milliseconds UTC: ages are told as of this moment. */
  readonly at: number;
  /** Those that wait longest first. */
  readonly files: readonly WaitingFile[];
  readonly nextFiles: string | null;
  readonly deliveries: readonly WaitingDelivery[];
  readonly nextDeliveries: string | null;
  /** Since a restore nothing goes out; in words. */
  readonly hold: string | undefined;
}
