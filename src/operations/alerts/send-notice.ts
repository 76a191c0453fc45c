/** Puts a notice in the queue: a delivery of it for each receiver. */
import { alertTargetName, alertWayTo } from "../../domain/alerts/audience.ts";
import type { Notice } from "../../domain/alerts/notice.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { insertNotice } from "../../store/alerts/alert-notices.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { addDelivery } from "../../store/outbound/deliveries.ts";
import { findTargetId } from "../../store/outbound/outbound-targets.ts";

export interface NoticeToSend {
  /** The audience: a company, or `operatorId`. */
  readonly id: number;
  /** E-mail addresses, and `webServiceAddress`. */
  readonly receivers: readonly string[];
  readonly notice: Notice;
  /** Milliseconds UTC. */
  readonly now: number;
  /** Somebody tries how alerts are told: it tells of no incident, and the limit of an hour does not count it. */
  readonly isTest?: true;
}

/** Puts a notice to receivers of an audience in the queue; returns its number. */
export async function sendNotice(
  tx: Transaction,
  { id: companyId, receivers, notice, now, isTest }: NoticeToSend,
): Promise<number> {
  const second = isoTime(now).slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
  const name = `alert_${second}.json`;
  const stored = { companyId, ...notice, createdAt: now, isTest: isTest ? 1 : 0 };
  const subjectId = await insertNotice(tx, stored);
  for (const orderKey of receivers) {
    const targetName = alertTargetName(alertWayTo(orderKey));
    const targetId = await findTargetId(tx, { companyId, name: targetName });
    if (targetId === undefined) continue;
    await addDelivery(tx, { companyId, targetId, kind: "alert", subjectId, orderKey, name, now });
  }
  return subjectId;
}
