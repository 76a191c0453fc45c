/**
 * Ends what is in the queue for receivers of alerts that the configuration names no more. What it told of is still known
 * as untold to them, so that one who is back hears of what is open then.
 */
import { formerReceiver } from "../../domain/alerts/audience.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { dropUndelivered, listUndeliveredAlerts } from "../../store/outbound/undelivered-alerts.ts";
import { announceNews, changeTargetCounts } from "../../store/outbound/outbound-targets.ts";

export interface Receivers {
  readonly isReceiver: (audienceId: number, receiver: string) => boolean;
  /** Of this audience alone; of all unless given. */
  readonly audienceId?: number | undefined;
}

/** Alerts that wait or are dead to receivers for which `isReceiver` says no. */
export async function listForFormerReceivers(
  db: Reader | Transaction,
  { isReceiver, audienceId }: Receivers,
) {
  const undelivered = await listUndeliveredAlerts(db, audienceId);
  return undelivered.filter(({ companyId, receiver }) => !isReceiver(companyId, receiver));
}

/** Drops them; returns how many that were. */
export async function endFormerReceivers(tx: Transaction, receivers: Receivers): Promise<number> {
  const former = await listForFormerReceivers(tx, receivers);
  for (const { id, targetId, state } of former) {
    await dropUndelivered(tx, { id, fault: formerReceiver.fault, faultText: formerReceiver.message });
    const isDead = state === "dead";
    await changeTargetCounts(tx, { id: targetId, open: isDead ? 0 : -1, dead: isDead ? -1 : 0 });
  }
  for (const targetId of new Set(former.map((one) => one.targetId))) await announceNews(tx, targetId);
  return former.length;
}
