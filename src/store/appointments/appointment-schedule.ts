/** Writes the time of an appointment into the order and the stop that it is for. */
import type { StopStatus } from "../../domain/stop/stop-status.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

interface StopSchedule {
  readonly id: number;
  readonly status: StopStatus;
  /** JSON: the canonical stop. */
  readonly body: string;
  /** JSON: what route events need of it. */
  readonly routed: string;
  readonly now: number;
}

const saveStopQuery = prepareQuery<StopSchedule>((db, arg) =>
  db
    .updateTable("stops")
    .set({
      stop_status: arg("status"),
      body: arg("body"),
      routed: arg("routed"),
      updated_at: arg("now"),
    })
    .where("id", "=", arg("id")),
);

/** Changes the body and state of a stop that is there. */
export async function saveStopSchedule(tx: Transaction, change: StopSchedule): Promise<void> {
  await saveStopQuery.run(tx, change);
}

interface OrderSchedule {
  readonly companyId: number;
  readonly orderNbr: string;
  /** JSON: the canonical order. */
  readonly body: string;
  readonly now: number;
}

const saveOrderQuery = prepareQuery<OrderSchedule>((db, arg) =>
  db
    .updateTable("orders")
    .set({ body: arg("body"), updated_at: arg("now") })
    .where("company_id", "=", arg("companyId"))
    .where("order_nbr", "=", arg("orderNbr")),
);

/** Changes the body of an order that is there. */
export async function saveOrderSchedule(tx: Transaction, change: OrderSchedule): Promise<void> {
  await saveOrderQuery.run(tx, change);
}
