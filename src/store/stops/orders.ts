/**
 * Customer orders as the service stores them. An order that is not cancelled is in the state of the stop of its number.
 */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

interface OrderKey {
  readonly companyId: number;
  readonly orderNbr: string;
}

/** An order to be stored. `body` is the canonical order as JSON text. */
export interface OrderRecord extends OrderKey {
  readonly body: string;
  readonly now: number;
}

const saveOrderQuery = prepareQuery<OrderRecord>((db, arg) =>
  db
    .insertInto("orders")
    .values({
      company_id: arg("companyId"),
      order_nbr: arg("orderNbr"),
      body: arg("body"),
      is_cancelled: 0,
      cancellation: "{}",
      created_at: arg("now"),
      updated_at: arg("now"),
    })
    .onConflict((conflict) =>
      conflict.columns(["company_id", "order_nbr"]).doUpdateSet((set) => ({
        body: set.ref("excluded.body"),
        is_cancelled: set.ref("excluded.is_cancelled"),
        cancellation: set.ref("excluded.cancellation"),
        updated_at: set.ref("excluded.updated_at"),
      })),
    ),
);

/** Stores the order, replacing what was stored of it before; a cancelled one becomes a new order. */
export async function saveOrder(tx: Transaction, record: OrderRecord): Promise<void> {
  await saveOrderQuery.run(tx, record);
}

export interface KnownOrder {
  readonly isCancelled: boolean;
}

const knownOrder = prepareQuery<OrderKey, { is_cancelled: number }>((db, arg) =>
  db
    .selectFrom("orders")
    .select("is_cancelled")
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "=", arg("orderNbr")),
);

/** The order of exactly that number in its company, or undefined. */
export async function findKnownOrder(
  tx: Transaction,
  companyId: number,
  orderNbr: string,
): Promise<KnownOrder | undefined> {
  const row = (await knownOrder.run(tx, { companyId, orderNbr })).rows[0];
  return row === undefined ? undefined : { isCancelled: row.is_cancelled === 1 };
}

/** An order as hosts read it. */
export interface StoredOrder {
  /** JSON text of the order as the host sent it last. */
  readonly body: string;
  readonly isCancelled: boolean;
  /** JSON: why it was cancelled; `{}` while it is not. */
  readonly cancellation: string;
  /** The state of the stop of its number; null when there is none. */
  readonly stopStatus: string | null;
}

interface StoredRow {
  body: string;
  is_cancelled: number;
  cancellation: string;
  stop_status: string | null;
}

const storedOrder = prepareQuery<OrderKey, StoredRow>((db, arg) =>
  db
    .selectFrom("orders")
    .leftJoin("stops", (join) =>
      join
        .onRef("stops.company_id", "=", "orders.company_id")
        .onRef("stops.stop_nbr", "=", "orders.order_nbr"),
    )
    .select(["orders.body", "orders.is_cancelled", "orders.cancellation", "stops.stop_status"])
    .where("orders.company_id", "=", arg("companyId"))
    .where("orders.order_nbr", "=", arg("orderNbr")),
);

/** The company's order of exactly that number with the state of its stop, or undefined. */
export async function findStoredOrder(
  read: Reader,
  companyId: number,
  orderNbr: string,
): Promise<StoredOrder | undefined> {
  const row = (await storedOrder.run(read, { companyId, orderNbr })).rows[0];
  if (row === undefined) return undefined;
  const { body, cancellation, stop_status: stopStatus } = row;
  return { body, isCancelled: row.is_cancelled === 1, cancellation, stopStatus };
}

interface CancelArguments extends OrderKey {
  /** JSON: the reason. */
  readonly cancellation: string;
  readonly now: number;
}

const cancelOrderQuery = prepareQuery<CancelArguments>((db, arg) =>
  db
    .updateTable("orders")
    .set({ is_cancelled: 1, cancellation: arg("cancellation"), updated_at: arg("now") })
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "=", arg("orderNbr"))
    .where("is_cancelled", "=", 0),
);

/** Cancels the order unless it is cancelled already; returns whether it did. What the host sent is kept. */
export async function cancelOrder(tx: Transaction, args: CancelArguments): Promise<boolean> {
  return (await cancelOrderQuery.run(tx, args)).affected === 1;
}
