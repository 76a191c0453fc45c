/**
 * Customer orders as the service stores them. An order that is not cancelled is in the state of the stop of its number.
 */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

export type OrderKey = Pick<RowOf<"orders">, "companyId" | "orderNbr">;

/** An order to be stored. */
interface OrderRecord extends OrderKey {
  /** JSON: the canonical order. */
  readonly body: string;
  readonly now: number;
}

/** Stores the order, replacing what was stored of it before; a cancelled one becomes a new order. */
export const saveOrder = prepareQuery<OrderRecord>((db, arg) => {
  const sent = { body: arg("body"), is_cancelled: 0, cancellation: "{}", updated_at: arg("now") };
  return db
    .insertInto("orders")
    .values({ company_id: arg("companyId"), order_nbr: arg("orderNbr"), ...sent, created_at: arg("now") })
    .onConflict((conflict) => conflict.columns(["company_id", "order_nbr"]).doUpdateSet(excluded(sent)));
}).run;

/** Changes the body of an order that is there. */
export const saveOrderBody = prepareQuery<OrderRecord>((db, arg) =>
  db
    .updateTable("orders")
    .set({ body: arg("body"), updated_at: arg("now") })
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "=", arg("orderNbr")),
).run;

const cancelledMark = prepareQuery<OrderKey, { is_cancelled: number }>((db, arg) =>
  db
    .selectFrom("orders")
    .select("is_cancelled")
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "=", arg("orderNbr")),
);

/** Whether the order of exactly that number is cancelled; undefined when the company has none. */
export function isOrderCancelled(tx: Transaction, order: OrderKey): Promise<boolean | undefined> {
  return cancelledMark.first(tx, order, ({ is_cancelled }) => is_cancelled === 1);
}

/** An order as hosts read it. */
export interface StoredOrder extends Pick<RowOf<"orders">, "body" | "cancellation"> {
  /** The state of the stop of its number; null when there is none. */
  readonly stopStatus: string | null;
  readonly isCancelled: boolean;
}

type StoredRow = Omit<StoredOrder, "isCancelled"> & { readonly isCancelled: number };

const storedOrder = prepareQuery<OrderKey, StoredRow>((db, arg) =>
  db
    .selectFrom("orders")
    .leftJoin("stops", (join) =>
      join
        .onRef("stops.company_id", "=", "orders.company_id")
        .onRef("stops.stop_nbr", "=", "orders.order_nbr"),
    )
    .select(namedColumns("orders.body", "orders.cancellation", "orders.is_cancelled", "stops.stop_status"))
    .where("orders.company_id", "=", arg("companyId"))
    .where("orders.order_nbr", "=", arg("orderNbr")),
);

/** The company's order of exactly that number with the state of its stop, or undefined. */
export function findStoredOrder(read: Reader, order: OrderKey): Promise<StoredOrder | undefined> {
  return storedOrder.first(read, order, (row) => ({ ...row, isCancelled: row.isCancelled === 1 }));
}

interface CancelArguments extends OrderKey {
  /** JSON: the reason. */
  readonly cancellation: string;
  readonly updatedAt: number;
}

/** Cancels the order unless it is cancelled already; returns whether it did. What the host sent is kept. */
export const cancelOrder = prepareQuery<CancelArguments>((db, arg) =>
  db
    .updateTable("orders")
    .set({ is_cancelled: 1, ...namedArguments(arg, "cancellation", "updated_at") })
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "=", arg("orderNbr"))
    .where("is_cancelled", "=", 0),
).changes;
