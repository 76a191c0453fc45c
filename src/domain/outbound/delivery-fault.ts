/** Faults of a target's or remote's server or folder, for the log, lists and advice to the administrator. */
export type DeliveryFault =
  | "unreachable"
  | "timeout"
  | "connectionLost"
  | "identity"
  | "credentials"
  | "notAllowed"
  | "missingFolder"
  | "noSpace"
  | "refused"
  | "busy"
  | "protocol"
  | "configuration"
  | "content";

/** A failed call to a server or folder: of a delivery, or another one. */
export interface FailedOutcome {
  readonly kind: "failed";
  readonly fault: DeliveryFault;
  /**
   * No attempt changes anything until somebody acts: the server refuses this delivery for good, or, of the whole target,
   * the credentials are wrong, a right is missing, it has moved.
   */
  readonly isPermanent: boolean;
  readonly scope: "target" | "delivery";
  /** For an administrator: what was tried, what came back, what to do. No secrets. */
  readonly message: string;
  /** The pause that the server asked for; it applies to the whole target when that is the scope. */
  readonly retryAfterMs?: number;
}
