/** What the errors of PostgreSQL and of the connection to it mean for the store. */
import pg from "pg";
import { messageOf } from "../../../lib/errors.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import { StoreError, type StoreErrorKind } from "../../../lib/store-error.ts";
import { tlsFault } from "./session-tls.ts";

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

/** "current transaction is aborted": an earlier statement has failed. */
const abortedTransaction = "25P02";

/** Whether the statement was refused because of an earlier one of its transaction. */
export function isOfAbortedTransaction(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === abortedTransaction;
}

/** What a SQLSTATE means for the store. */
function storeErrorKindOf(state: string): StoreErrorKind {
  return kindsByState.find(([prefix]) => state.startsWith(prefix))?.[1] ?? "unavailable";
}

const readOnly = "25006";

/** Whether the server has become a standby under the session: the next one may reach the new primary. */
export function isReadOnlyFault(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === readOnly;
}

/** Of a refusal to let this user in, which does not pass by itself; where the address is. */
const lastingRemedies: Readonly<Record<string, (address: string) => string>> = {
  "28P01": (address) => `correct user and password in ${address}`,
  "28000": (address) =>
    `correct user and host in ${address}, ask for TLS there by sslmode=verify-full where pg_hba.conf has hostssl, or let them in by pg_hba.conf`,
  "3D000": (address) =>
    `make it with \`createdb --encoding=UTF8 --template=template0\`, or correct its name in ${address}`,
  "42501": () => "make the user the owner of the database, or grant what is missing",
};

const secret = "the secret that `store` names";

function refusal(cause: unknown, address: string): string | undefined {
  const remedy = cause instanceof pg.DatabaseError ? lastingRemedies[cause.code ?? ""] : undefined;
  return remedy && `PostgreSQL refuses (${messageOf(cause)}): ${remedy(address)}`;
}

/** What a start says that is refused, or does not trust the server; undefined for all that may pass. */
export function lastingFault(error: unknown, address = secret): OperatorError | undefined {
  const cause = error instanceof StoreError ? error.cause : error;
  const fault = refusal(cause, address) ?? tlsFault(cause, address);
  return fault === undefined ? undefined : new OperatorError(`store: ${fault}`, { cause: error });
}

/** Several addresses of a host name fail as one error without a message of its own. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return messageOf(error);
}

/** No session came to be. The message has neither user nor password. */
export function unreachable(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) return error;
  const remedy = "see that the server that `store` names runs and lets this machine through";
  const away = `PostgreSQL cannot be reached (${reasonOf(error)}): ${remedy}`;
  return new StoreError("unavailable", tlsFault(error, secret) ?? away, error);
}

/** Translates an error of the server or of the connection; one of the store itself is given back as it is. */
export function toStoreError(error: unknown): unknown {
  if (error instanceof StoreError) return error;
  const kind = error instanceof pg.DatabaseError ? storeErrorKindOf(error.code ?? "") : "unavailable";
  return new StoreError(kind, `PostgreSQL: ${messageOf(error)}`, error);
}
