/** What sessions and targets throw inside, and the outcome that it becomes at their edge. */
import type { DeliveryFault, FailedOutcome } from "../domain/outbound/delivery-fault.ts";

type FaultRule = Pick<FailedOutcome, "isPermanent" | "scope">;

/**
 * What a fault means by default. Permanent is what no attempt changes: wrong credentials, what the peer refuses, a refused
 * name. Faults of the whole target kill no delivery: an administrator corrects a password, an expired certificate, a changed
 * host key or a missing folder without touching the deliveries.
 */
const faultRules: Readonly<Record<DeliveryFault, FaultRule>> = {
  unreachable: { isPermanent: false, scope: "target" },
  timeout: { isPermanent: false, scope: "target" },
  connectionLost: { isPermanent: false, scope: "target" },
  identity: { isPermanent: false, scope: "target" },
  credentials: { isPermanent: true, scope: "target" },
  notAllowed: { isPermanent: true, scope: "target" },
  missingFolder: { isPermanent: false, scope: "target" },
  noSpace: { isPermanent: false, scope: "target" },
  refused: { isPermanent: true, scope: "delivery" },
  busy: { isPermanent: false, scope: "target" },
  protocol: { isPermanent: false, scope: "delivery" },
  configuration: { isPermanent: false, scope: "target" },
  content: { isPermanent: true, scope: "delivery" },
};

export interface FaultChanges extends Partial<FaultRule> {
  readonly retryAfterMs?: number;
}

/** The outcome of a fault, by its rule unless changed. The message is for an administrator and has no secrets. */
export function failedBy(fault: DeliveryFault, message: string, changes: FaultChanges = {}): FailedOutcome {
  return { kind: "failed", fault, ...faultRules[fault], message, ...changes };
}

/** A fault of the peer, thrown where it shows and turned into an outcome at the target's edge. */
export class TransferFault extends Error {
  readonly outcome: FailedOutcome;

  constructor(fault: DeliveryFault, message: string, changes: FaultChanges & { cause?: unknown } = {}) {
    const { cause, ...rest } = changes;
    super(message, cause === undefined ? undefined : { cause });
    this.name = "TransferFault";
    this.outcome = failedBy(fault, message, rest);
  }
}

/** For `catch`: the outcome of a fault of the peer; rethrows everything else, which is a fault of dropgate. */
export function outcomeOf(thrown: unknown): FailedOutcome {
  if (thrown instanceof TransferFault) return thrown.outcome;
  throw thrown;
}

const longestQuote = 300;

/** The peer's text, fit for one line of a log: no control characters, no secrets, at most 300 characters. */
export function quoted(text: string, secrets: readonly (string | undefined)[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret !== undefined && secret.length > 0) clean = clean.replaceAll(secret, "***");
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is to go
  clean = clean.replaceAll(/[\u0000-\u0020\u007f-\u00a0\u2028\u2029]+/g, " ").trim();
  return clean.length > longestQuote ? `${clean.slice(0, longestQuote)}…` : clean;
}
