/** Deletes or rejects a stop or an ASN with a reason (specification/stop-states.md#actions-on-a-stop). */
import { refusalOfStopAction } from "../../domain/stop/stop-actions.ts";
import { stopStatusNames } from "../../domain/stop/stop-status.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import { recordEvent } from "../consequences/record-events.ts";
import { cancelStop, findKnownStop } from "../../store/stops/stops.ts";
import { cancellationOf, type CancellationReason, readStopCancellation } from "./cancellation-request.ts";
import { releaseAppointment } from "../consequences/release-appointment.ts";
import type { WriteDeps } from "../operation-deps.ts";
import type { CompanyBody } from "../request-body.ts";
import { stopNotFound } from "./stop-not-found.ts";

interface Rejection {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly action: "reject" | "rejectAsn";
  readonly why: CancellationReason;
  readonly now: number;
}

async function reject(tx: Transaction, rejection: Rejection): Promise<void> {
  const { companyId, stopNbr, action, why, now } = rejection;
  const known = await findKnownStop(tx, companyId, stopNbr);
  if (known === undefined) throw stopNotFound(stopNbr);
  const code = refusalOfStopAction(action, known.status);
  if (code !== undefined) {
    const state = `${known.status} (${stopStatusNames[known.status]})`;
    const remedy =
      action === "reject"
        ? "Only a stop in 05 or 10 can be deleted; cancel or change its load first."
        : "Only an ASN in 00 can be deleted; delete a stop with /stop/cancel.";
    throw new DropgateError(code, `the stop ${stopNbr} is ${state}. ${remedy}`);
  }
  const execution = { ...JSON.parse(known.execution), cancellation: cancellationOf(why, now) };
  await cancelStop(tx, {
    companyId,
    stopNbr,
    execution: JSON.stringify(execution),
    fileTime: known.fileTime,
    updatedAt: now,
  });
  await recordEvent(tx, { companyId, kind: "stopCancelled", stopNbr, recordedAt: now });
  await releaseAppointment(tx, { companyId, orderNbr: stopNbr, now });
}

async function rejectAs(deps: WriteDeps, input: CompanyBody, action: Rejection["action"]): Promise<void> {
  const { number: stopNbr, ...why } = readStopCancellation(input);
  const { companyId } = input;
  await deps.store.write(companyId, (tx) =>
    reject(tx, { companyId, stopNbr, action, why, now: deps.clock.now() }),
  );
}

/** Cancels a stop that is created (05) or unplanned (10). Throws 921, 961, or the faults of the body. */
export async function rejectStop(deps: WriteDeps, input: CompanyBody): Promise<void> {
  await rejectAs(deps, input, "reject");
}

/** Cancels an ASN (00). Throws 921, 962, or the faults of the body. */
export async function rejectAsn(deps: WriteDeps, input: CompanyBody): Promise<void> {
  await rejectAs(deps, input, "rejectAsn");
}
