/**
 * Imports customer orders, all or nothing (specification/stop-states.md#orders).
 *
 * An order owns the stop of its number: both are written in one transaction, and a stop that may not be changed refuses
 * the import.
 */
import { normaliseOrder } from "../../domain/stop/normalise-stop.ts";
import { Order, stopOfOrder, validateOrder } from "../../domain/order/order.ts";
import { stopChangeOf } from "../../domain/stop/stop-change.ts";
import { validateStop } from "../../domain/stop/stop.ts";
import type { Fault } from "../../lib/errors.ts";
import { findAppointment } from "../../store/appointments/appointments.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { saveOrder } from "../../store/stops/orders.ts";
import { applyStopChanges } from "../stops/apply-stop-changes.ts";
import { type KeptOrder, type Prepare, preparedEntries } from "./import-preparation.ts";
import { type ImportKind, readImport } from "./import-request.ts";
import { withTimesOf } from "../stops/kept-appointment.ts";
import { refusal } from "../request-body.ts";
import { importThroughService, type ServiceImport, type ServiceImportDeps } from "./service-import.ts";
import { eachWithoutContent } from "./take-out-documents.ts";

/** Fields that an order does not know go on into its stop, which may know them: there they have to be right. */
function validateWithStop(value: unknown, path: string): readonly Fault[] {
  const faults = validateOrder(value, path);
  return faults.length > 0 ? faults : validateStop(stopOfOrder(value as Order), path);
}

const orderImport: ImportKind<Order> = {
  list: "orders",
  schema: Order,
  normalise: normaliseOrder,
  validate: validateWithStop,
};

/** What is kept of orders: their own text, and the change to their stops. */
export const prepareOrders: Prepare<"orders"> = async (input) => {
  const entries = await readImport(orderImport, input);
  return await eachWithoutContent(input, { list: "orders", entries }, (order, documents) => ({
    orderNbr: order.orderNbr,
    body: JSON.stringify(order),
    stop: stopChangeOf("01", stopOfOrder(order), documents),
  }));
};

interface OrderWriting {
  readonly companyId: number;
  readonly orders: readonly KeptOrder[];
  readonly now: number;
}

async function writeOrders(tx: Transaction, { companyId, orders, now }: OrderWriting): Promise<void> {
  const outcome = await applyStopChanges(tx, {
    companyId,
    changes: orders.map(({ stop }) => stop),
    fileTime: null,
    refuseLate: false,
    now,
    pathOf: (index) => `orders[${index}]`,
  });
  if (outcome.kind !== "applied") throw refusal(outcome.faults);
  for (const { orderNbr, body: sent } of orders) {
    const appointment = await findAppointment(tx, companyId, orderNbr);
    const body =
      appointment === undefined ? sent : JSON.stringify(withTimesOf(JSON.parse(sent) as Order, appointment));
    await saveOrder(tx, { companyId, orderNbr, body, now });
  }
}

async function importStandard(deps: ServiceImportDeps, input: ServiceImport): Promise<void> {
  const orders = await preparedEntries(deps, input, { kind: "orders", prepare: prepareOrders });
  const { companyId } = input;
  await deps.store.write(companyId, (tx) => writeOrders(tx, { companyId, orders, now: deps.clock.now() }));
}

/**
 * Creates or replaces the orders of the request and their stops; of two with the same number the later stays. A cancelled
 * order is created anew. Throws a `DropgateError` with all faults; then nothing was written.
 */
export function importOrders(deps: ServiceImportDeps, input: ServiceImport): Promise<void> {
  return importThroughService(deps, input, {
    importKind: "orders",
    run: (standard) => importStandard(deps, standard),
  });
}
