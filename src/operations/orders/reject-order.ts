/** Deletes or rejects a customer order with a reason, and its stop with it (specification/stop-states.md#orders). */
import { refusalOfStopAction } from "../../domain/stop/stop-actions.ts";
import { cancelledStopStatus, stopStatusNames } from "../../domain/stop/stop-status.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { cancelOrder, isOrderCancelled } from "../../store/stops/orders.ts";
import { findKnownStop, type KnownStop } from "../../store/stops/stops.ts";
import {
  cancellationOf,
  type CancellationReason,
  readOrderCancellation,
} from "../stops/cancellation-request.ts";
import { cancelKnownStop } from "../stops/reject-stop.ts";
import { orderNotFound } from "../not-found.ts";
import { releaseAppointment } from "../consequences/release-appointment.ts";
import type { WriteDeps } from "../operation-deps.ts";
import type { CompanyBody } from "../request-body.ts";

interface Rejection {
  readonly companyId: number;
  readonly orderNbr: string;
  readonly why: CancellationReason;
  readonly now: number;
}

async function requireOpenOrder(tx: Transaction, { companyId, orderNbr }: Rejection): Promise<void> {
  const isCancelled = await isOrderCancelled(tx, { companyId, orderNbr });
  if (isCancelled === undefined) throw orderNotFound(orderNbr);
  if (!isCancelled) return;
  throw new DropgateError(
    "orderNotDeletable",
    `the order ${orderNbr} was deleted before. Import it again if it is to be done after all.`,
  );
}

/** The order's stop when it is to be cancelled with it, undefined when there is none or it was deleted before. */
async function findOpenStop(
  tx: Transaction,
  { companyId, orderNbr }: Rejection,
): Promise<KnownStop | undefined> {
  const stop = await findKnownStop(tx, { companyId, stopNbr: orderNbr });
  if (stop === undefined) return undefined;
  const code = refusalOfStopAction("rejectOrder", stop.status);
  if (code === undefined) return stop.status === cancelledStopStatus ? undefined : stop;
  const state = `${stop.status} (${stopStatusNames[stop.status]})`;
  const remedy =
    "An order can be deleted while its stop is in 05 or 10: take a planned one off its load first.";
  throw new DropgateError(code, `the stop of the order ${orderNbr} is ${state}. ${remedy}`);
}

async function reject(tx: Transaction, rejection: Rejection): Promise<void> {
  const { companyId, orderNbr, why, now } = rejection;
  await requireOpenOrder(tx, rejection);
  const stop = await findOpenStop(tx, rejection);
  const cancellation = cancellationOf(why, now);
  await cancelOrder(tx, { companyId, orderNbr, cancellation: JSON.stringify(cancellation), updatedAt: now });
  if (stop !== undefined) await cancelKnownStop(tx, stop, { companyId, cancellation, now });
  await releaseAppointment(tx, { companyId, orderNbr, now });
}

/** Cancels the order that the body names, and its stop, and releases its appointment. Throws 922, 963, or the faults of the body. */
export async function rejectOrder(deps: WriteDeps, input: CompanyBody): Promise<void> {
  const { number: orderNbr, ...why } = readOrderCancellation(input);
  const { companyId } = input;
  await deps.store.write(companyId, (tx) => reject(tx, { companyId, orderNbr, why, now: deps.clock.now() }));
}
