/** Statements that fail in the database of a test, by a trigger in the words of either database. */
import { sql } from "kysely";
import type { Transaction } from "../../src/store/database/groups/group-commit.ts";
import { isOnPostgres } from "./store-dialect.ts";

export interface FailingStatements {
  /** Such as `delete on files`. */
  readonly event: string;
  /** Of which rows, as `old` and `new` have them. */
  readonly when: string;
  readonly message: string;
}

/** From here on such statements fail with the message. */
export async function failStatements(tx: Transaction, failing: FailingStatements): Promise<void> {
  const { event, when, message } = failing;
  const before = `create trigger failing before ${event}`;
  if (!isOnPostgres) {
    await sql.raw(`${before} when ${when} begin select raise(abort, '${message}'); end`).execute(tx);
    return;
  }
  const fail = `$$ begin raise exception '${message}'; end $$`;
  await sql.raw(`create function fail() returns trigger language plpgsql as ${fail}`).execute(tx);
  await sql.raw(`${before} for each row when (${when}) execute function fail()`).execute(tx);
}

/** They go on as before. */
export async function endFailing(tx: Transaction): Promise<void> {
  await sql.raw(isOnPostgres ? "drop function fail cascade" : "drop trigger failing").execute(tx);
}
