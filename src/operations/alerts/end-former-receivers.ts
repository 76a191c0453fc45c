/**
 * Ends what is in the queue for receivers of alerts that the configuration names no more. What it told of is still known
 * as untold to them, so that one who is back hears of what is open then.
 */
import { formerReceiver } from "../../domain/alerts/audience.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import { dropUndelivered, listUndeliveredAlerts } from "../../store/outbound/undelivered-alerts.ts";
import { announceNews, changeTargetCounts } from "../../store/outbound/outbound-targets.ts";

/** Drops alerts that wait or are dead to receivers for which `isReceiver` says no; returns how many that were. */
export async function endFormerReceivers(
  tx: Transaction,
  isReceiver: (companyId: number, receiver: string) => boolean,
): Promise<number> {
  const former = (await listUndeliveredAlerts(tx)).filter(
    ({ companyId, receiver }) => !isReceiver(companyId, receiver),
  );
  for (const { id, targetId, state } of former) {
    await dropUndelivered(tx, { id, fault: formerReceiver.fault, faultText: formerReceiver.message });
    const isDead = state === "dead";
    await changeTargetCounts(tx, { id: targetId, open: isDead ? 0 : -1, dead: isDead ? -1 : 0 });
  }
  for (const targetId of new Set(former.map((one) => one.targetId))) await announceNews(tx, targetId);
  return former.length;
}
