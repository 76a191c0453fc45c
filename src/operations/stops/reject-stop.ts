/** Deletes or rejects a stop or an ASN with a reason (specification/stop-states.md#actions-on-a-stop). */
import { refusalOfStopAction } from "../../domain/stop/stop-actions.ts";
import { stopStatusNames } from "../../domain/stop/stop-status.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { recordEvent } from "../consequences/record-events.ts";
import { cancelStop, findKnownStop, type KnownStop } from "../../store/stops/stops.ts";
import { cancellationOf, type CancellationReason, readStopCancellation } from "./cancellation-request.ts";
import { releaseAppointment } from "../consequences/release-appointment.ts";
import type { WriteDeps } from "../operation-deps.ts";
import type { CompanyBody } from "../request-body.ts";
import { stopNotFound } from "../not-found.ts";

interface Rejection {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly action: "reject" | "rejectAsn";
  readonly why: CancellationReason;
  readonly now: number;
}

/** Cancels the stop with the reason in its execution, and records that (7059). */
export async function cancelKnownStop(
  tx: Transaction,
  { stopNbr, fileTime, execution }: KnownStop,
  cancelled: { companyId: number; cancellation: ReturnType<typeof cancellationOf>; now: number },
): Promise<void> {
  const { companyId, cancellation, now } = cancelled;
  const withReason = JSON.stringify({ ...JSON.parse(execution), cancellation });
  await cancelStop(tx, { companyId, stopNbr, execution: withReason, fileTime, updatedAt: now });
  await recordEvent(tx, { companyId, kind: "stopCancelled", stopNbr, recordedAt: now });
}

async function reject(tx: Transaction, rejection: Rejection): Promise<void> {
  const { companyId, stopNbr, action, why, now } = rejection;
  const known = await findKnownStop(tx, rejection);
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
  await cancelKnownStop(tx, known, { companyId, cancellation: cancellationOf(why, now), now });
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
