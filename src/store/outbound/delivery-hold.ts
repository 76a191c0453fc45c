/**
 * Whether deliveries are held, as they are in a state that was restored from a backup: what went out since the backup would go
 * out again, and only a person can know which of it is wanted. The note is in the database, until somebody releases them.
 */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { forgetMeta, readNote } from "../database/meta.ts";
import { rememberAnswers } from "../database/version-cache.ts";

export const deliveryHoldKey = "deliveries_held";

/** Moments are milliseconds UTC. */
export interface DeliveryHold {
  readonly restoredAt: number;
  /** The name of the backup; missing where a server's own tools have put the database back. */
  readonly backup?: string;
  /** What hosts have sent from here on may not be in it. */
  readonly sendAgainFrom: number;
  /** When the newest file in it was received; null when it has none. */
  readonly lastReceivedAt: number | null;
}

const remembered = rememberAnswers((read: Reader) => readNote<DeliveryHold>(read, deliveryHoldKey));

/** Undefined while deliveries go out. Costs next to nothing until the next commit. */
export function findDeliveryHold(read: Reader): Promise<DeliveryHold | undefined> {
  return remembered(read, "");
}

/** Ends the hold. */
export async function endDeliveryHold(tx: Transaction): Promise<void> {
  await forgetMeta(tx, deliveryHoldKey);
}
