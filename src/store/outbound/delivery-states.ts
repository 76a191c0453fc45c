/** The conditions on the state of a delivery by which queries use the partial indexes of the queue. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { DeliveryState } from "../../domain/outbound/delivery-state.ts";

/** Whether the row is open: literally as in the indexes, which no database uses for an argument. */
export function isOpen(column: "state" | "d.state"): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} in ('waiting', 'behind')`;
}

/** Whether the row is in that state, literally. */
export function isInState(column: "state" | "d.state", state: DeliveryState): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(column)} = ${sql.lit(state)}`;
}
