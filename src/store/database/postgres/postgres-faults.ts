/** What the errors of PostgreSQL and of the connection to it mean for the store. */
import pg from "pg";
import { messageOf } from "../../../lib/errors.ts";
import { StoreError, type StoreErrorKind } from "../../../lib/store-error.ts";

/** "cached plan must not change result type". */
const stalePlan = "0A000";

/** Whether a prepared statement is of a time before its tables were changed: in a new session it is planned anew. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === stalePlan;
}

/** By the beginning of the SQLSTATE, the longer ones first; what is not listed (no resources, shut down) is `unavailable`. */
const kindsByState: readonly (readonly [string, StoreErrorKind])[] = [
  // Serialisation failure, deadlock, lock not available.
  ["40", "busy"],
  [stalePlan, "busy"],
  ["55P03", "busy"],
  ["XX001", "damaged"],
  ["XX002", "damaged"],
  // Another session than ours has a different idea of the schema: no such table or column, no right to it.
  ["42", "unfit"],
  ["3F", "unfit"],
  ["21", "refused"],
  ["22", "refused"],
  ["23", "refused"],
  ["54", "refused"],
];

/** What a SQLSTATE means for the store. */
function storeErrorKindOf(state: string): StoreErrorKind {
  return kindsByState.find(([prefix]) => state.startsWith(prefix))?.[1] ?? "unavailable";
}

/** Translates an error of the server or of the connection; one of the store itself is given back as it is. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  const kind = error instanceof pg.DatabaseError ? storeErrorKindOf(error.code ?? "") : "unavailable";
  return new StoreError(kind, `PostgreSQL: ${messageOf(error)}`, error);
}
