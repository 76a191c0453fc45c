/** The states of a delivery, and the conditions that the partial indexes of the queue are asked by. */
import { type RawBuilder, type SqlBool, sql } from "kysely";

export const deliveryStates = ["waiting", "behind", "delivered", "dead", "dropped"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export function isDeliveryState(text: string): text is DeliveryState {
  return (deliveryStates as readonly string[]).includes(text);
}

/** Whether the row is open: literally as in the indexes, which no database uses for a value that comes as an argument. */
export function isOpen(column: "state" | "d.state"): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} in ('waiting', 'behind')`;
}

/** Whether the row is in that state, literally. */
export function isInState(column: "state" | "d.state", state: DeliveryState): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} = ${sql.lit(state)}`;
}

/** The fault of a delivery that somebody has given up: it is dropped, and may be asked for again. */
export const givenUpFault = "givenUp";
