/**
 * Where deliveries go. Each kind of target implements `Target`; `targets/` has a room for each family, and one conformance suite
 * over all of them.
 *
 * A target keeps no state of a delivery: the queue decides when to try, and tries again what may not have arrived. So a
 * target may get what it has had already: it finds the same bytes under the same name and says "delivered".
 */
import type { FailedOutcome } from "../domain/outbound/delivery-fault.ts";

/** One file of a delivery. Reading it again gives the same bytes. */
export interface DeliveryFile {
  /** Safe on every system: `a-z 0-9 . _ -`, no folder in it. */
  readonly name: string;
  readonly contentType: string;
  read(): Promise<Uint8Array>;
}

/** A message to one customer. Texts have no line breaks where those could do harm. */
export interface CustomerMessage {
  readonly channel: "email" | "sms";
  /** One address: an e-mail address, or a number of digits with or without +. */
  readonly to: string;
  readonly toName?: string;
  /** Empty for text messages. */
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** When the event was recorded, milliseconds UTC. */
  readonly date: number;
}

/** What is sent as one. More than one file: in this order, the last one says that all are there. */
export interface Delivery {
  /** The same at every attempt. */
  readonly id: string;
  readonly companyCode: string;
  /** A folder within the target's own for the files, of one safe name. */
  readonly directory?: string;
  readonly files: readonly DeliveryFile[];
  /** Instead of files, for targets that send messages. */
  readonly message?: CustomerMessage;
}

export type { DeliveryFault } from "../domain/outbound/delivery-fault.ts";

/**
 * What became of an attempt.
 *
 * `nameTaken`: another file has the name; the queue goes on under the next one. `scope`: whether the fault is of the whole
 * target, so that nothing else need be tried for now, or of this delivery alone.
 *
 * A fault of the whole target kills nothing: the next delivery would fare no better, and would only overtake this one once
 * the target is well. The queue pauses the target, and tries one delivery alone after the pause.
 * `isPermanent`: of this delivery, it is a dead letter at once; of the whole target (wrong credentials, a missing right, a
 * redirect), the pauses grow longer, so that no account is locked for too many guesses.
 */
export type DeliveryOutcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "nameTaken"; readonly name: string }
  | FailedOutcome;

export interface Target {
  /** How many deliveries it takes at a time. */
  readonly concurrency: number;
  /** Rejects only for faults of dropgate itself. Aborted is not failed: then it rejects with the signal's reason. */
  deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome>;
  /** Tries everything but a delivery: connects, signs in, checks that a file could be written; leaves nothing behind. */
  probe(signal: AbortSignal): Promise<DeliveryOutcome>;
  /** Closes connections and threads. Safe to call twice; a later `deliver` opens them again. */
  close(): Promise<void>;
}
