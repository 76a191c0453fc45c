/**
 * Get order detail: the order as the host sent it last, and where it stands
 * (specification/resources.md#retrieval-documents).
 */
import type { Order } from "../../domain/order/order.ts";
import { cancelledStopStatus } from "../../domain/stop/stop-status.ts";
import { findAppointment, type StoredAppointment } from "../../store/appointments/appointments.ts";
import { findStoredOrder, type OrderKey, type StoredOrder } from "../../store/stops/orders.ts";
import { findStoredStop, type StoredStop } from "../../store/stops/stop-queries.ts";
import { orderNotFound } from "../not-found.ts";
import type { ReadDeps } from "../operation-deps.ts";
import { shownAppointment } from "../stops/kept-appointment.ts";
import { documentsWithoutContent, executionInfoText, withExecution } from "../stops/stop-detail.ts";

/**
 * The states are those of stops (specification/stop-states.md#orders): a cancelled order is 99 whatever became of its
 * stop afterwards.
 */
function statusOf({ isCancelled, stopStatus }: StoredOrder): string | null {
  return isCancelled ? cancelledStopStatus : stopStatus;
}

/** Further members of the order: why it was deleted, or the execution of its stop. */
function fateOf(stored: StoredOrder, stop: StoredStop | undefined): Record<string, unknown> {
  if (stored.isCancelled) return { cancellation: JSON.parse(stored.cancellation) };
  return stop === undefined ? {} : { stopExecutionInfo: JSON.parse(executionInfoText(stop)) };
}

interface Found {
  readonly stored: StoredOrder;
  readonly stop: StoredStop | undefined;
  readonly appointment: StoredAppointment | undefined;
}

function shownForm({ stored, stop, appointment }: Found): Record<string, unknown> {
  const order = JSON.parse(stored.body) as Order;
  const execution = stored.isCancelled || stop === undefined ? "{}" : stop.execution;
  const executed = withExecution(order, execution);
  const { documents } = executed;
  return {
    ...executed,
    ...(documents === undefined ? {} : { documents: documentsWithoutContent(documents) }),
    orderStatus: statusOf(stored),
    ...fateOf(stored, stop),
    ...(appointment === undefined ? {} : { appointment: shownAppointment(appointment) }),
  };
}

/**
 * The retrieval document as JSON text, with what is ours besides: `orderStatus`, the status of the order's stop (null when
 * there is none), its execution info, the reason of a deletion, the appointment. Throws 922 when the company has no order of
 * exactly that number.
 */
export async function readOrderDetail(deps: ReadDeps, query: OrderKey): Promise<string> {
  const { read } = deps.store;
  const { companyId, orderNbr } = query;
  const stored = await findStoredOrder(read, query);
  if (stored === undefined) throw orderNotFound(orderNbr);
  const stop = stored.isCancelled ? undefined : await findStoredStop(read, { companyId, stopNbr: orderNbr });
  const appointment = stored.isCancelled ? undefined : await findAppointment(read, companyId, orderNbr);
  return JSON.stringify({ Order: [shownForm({ stored, stop, appointment })] });
}
