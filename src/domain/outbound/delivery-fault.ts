/** What can go wrong with a server or folder of others, for the log, lists and what an administrator is told to do. */
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

/** What has failed at a server or folder of others: a delivery, or another call. */
export interface FailedOutcome {
  readonly kind: "failed";
  readonly fault: DeliveryFault;
  /**
   * No attempt changes anything until somebody acts: the other side refuses this delivery for good, or, of the whole target,
   * the credentials are wrong, a right is missing, it has moved.
   */
  readonly isPermanent: boolean;
  readonly scope: "target" | "delivery";
  /** For an administrator: what was tried, what came back, what to do. No secrets. */
  readonly message: string;
  /** What the other side asked for; of the whole target when that is the scope. */
  readonly retryAfterMs?: number;
}
