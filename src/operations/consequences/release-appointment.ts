/** The appointment of an order or stop that is deleted (specification/appointments.md#recorded). */
import { findAppointment } from "../../store/appointments/appointments.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { recordEvent } from "./record-events.ts";
import { releaseShare } from "./slot-accounting.ts";

/** Releases the appointment of an order or stop and records 8103; does nothing when it has none. */
export async function releaseAppointment(
  tx: Transaction,
  { companyId, orderNbr, now }: { companyId: number; orderNbr: string; now: number },
): Promise<void> {
  const stored = await findAppointment(tx, companyId, orderNbr);
  if (stored === undefined) return;
  await releaseShare(tx, stored, now);
  await recordEvent(tx, { companyId, kind: "schedulingCancelled", stopNbr: orderNbr, recordedAt: now });
}
