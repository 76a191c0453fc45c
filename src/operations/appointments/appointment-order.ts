/**
 * The order or stop that an appointment is for (specification/appointments.md#reservations). An order owns the stop of
 * its number, and both carry the time; a stop may have come without an order.
 */
import type { AppointmentSlot } from "../../domain/appointments/appointment-slots.ts";
import type { Order } from "../../domain/order/order.ts";
import { routedStopOf } from "../../domain/execution/routed-stop.ts";
import { refusalOfStopAction } from "../../domain/stop/stop-actions.ts";
import {
  cancelledStopStatus,
  type StopStatus,
  stopStatusNames,
  stopStatusWithTimeWindow,
} from "../../domain/stop/stop-status.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findStoredOrder, saveOrderBody } from "../../store/stops/orders.ts";
import { findRouteStop, readStopBody, type RouteStop } from "../../store/stops/route-stops.ts";
import { saveStopBody } from "../../store/stops/stops.ts";
import { orderNotFound } from "../not-found.ts";

export interface AppointmentOrder {
  readonly companyId: number;
  readonly orderNbr: string;
  /** JSON: the order, undefined when there is the stop alone. */
  readonly orderBody: string | undefined;
  readonly stop: RouteStop | undefined;
}

function closed(orderNbr: string, status: StopStatus): DropgateError | undefined {
  const code = refusalOfStopAction("schedule", status);
  if (code === undefined) return undefined;
  const remedy =
    status === "80" || status === cancelledStopStatus
      ? "Import it again if it is to be done after all."
      : "An appointment can be made while it is in 00, 05, 10 or 20.";
  const state = `${status} (${stopStatusNames[status]})`;
  return new DropgateError(code, `the stop of the order ${orderNbr} is ${state}. ${remedy}`);
}

export type FoundOrder =
  | { readonly kind: "open"; readonly order: AppointmentOrder }
  /** No appointment can be made for it (any more). */
  | { readonly kind: "closed"; readonly error: DropgateError };

/** The order or stop of that number, and whether an appointment may be made for it. */
export async function findAppointmentOrder(
  db: Reader | Transaction,
  companyId: number,
  orderNbr: string,
): Promise<FoundOrder> {
  const stored = await findStoredOrder(db, { companyId, orderNbr });
  const stop = await findRouteStop(db, { companyId, stopNbr: orderNbr });
  if (stored === undefined && stop === undefined) return { kind: "closed", error: orderNotFound(orderNbr) };
  // The stop of a deleted order that came again by itself goes its own way.
  const order = stored?.isCancelled === true ? undefined : stored;
  const error = order === undefined && stop === undefined ? closed(orderNbr, cancelledStopStatus) : undefined;
  const refused = error ?? (stop === undefined ? undefined : closed(orderNbr, stop.status));
  if (refused !== undefined) return { kind: "closed", error: refused };
  return { kind: "open", order: { companyId, orderNbr, orderBody: order?.body, stop } };
}

/** What is written of a slot: its local times, and the zone of its region. */
export function scheduleOf({ region, timeFrom, timeTo }: AppointmentSlot) {
  return { timeFrom, timeTo, timeZone: region.zone };
}

function withSchedule<Entity extends Pick<Stop | Order, "to">>(
  body: string,
  schedule: ReturnType<typeof scheduleOf>,
): Entity {
  const entity = JSON.parse(body) as Entity;
  const { to } = entity;
  return { ...entity, to: { ...to, schedule: { ...to?.schedule, ...schedule } } };
}

/** Writes the time of the slot to `to.schedule` of the order and its stop. A created stop (05) is unplanned (10) by it. */
export async function writeSchedule(
  tx: Transaction,
  { companyId, orderNbr, orderBody, stop }: AppointmentOrder,
  { slot, now }: { readonly slot: AppointmentSlot; readonly now: number },
): Promise<void> {
  const schedule = scheduleOf(slot);
  if (orderBody !== undefined)
    await saveOrderBody(tx, {
      ...{ companyId, orderNbr, now },
      body: JSON.stringify(withSchedule<Order>(orderBody, schedule)),
    });
  if (stop === undefined) return;
  const status = stopStatusWithTimeWindow(stop.status);
  const changed = withSchedule<Stop>(await readStopBody(tx, stop.id), schedule);
  const [body, routed] = [JSON.stringify(changed), JSON.stringify(routedStopOf(changed))];
  await saveStopBody(tx, { id: stop.id, status, body, routed, updatedAt: now });
}
