/**
 * Checks the rules of units of work while they run, with `DROPGATE_CHECK_UNITS=1` in the environment, as in tests. Each
 * unit runs, is undone, and runs again, in its transaction.
 *
 * - It waits for nothing but the database: all of its first run is one turn of the event loop.
 * - It changes nothing but the database: the second run ends like the first, with an equal result.
 * - It writes only rows of its company, or of none.
 */
import { inspect, isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { messageOf } from "../../../lib/errors.ts";
import { isStoreFault } from "../../../lib/store-error.ts";
import { statementsInTurn, type Transaction, undone, type Work } from "./group-commit.ts";
import type { Owner } from "../owner.ts";
import { connectionOf } from "../prepared-query.ts";
import type { SqliteDatabase } from "../sqlite-schema.ts";

/** Whether units of work of stores that are opened from now on are to be checked. */
export function areUnitsChecked(): boolean {
  return process.env["DROPGATE_CHECK_UNITS"] === "1";
}

/** No company has this id. */
const noCompany = 0;

const changes = [
  ["insert", "new"],
  ["update", "old"],
  ["update", "new"],
  ["delete", "old"],
] as const;

/** How a database is held to the rules. */
export interface UnitWatch {
  /** Whether an answer comes in the same turn of the event loop: only then is it seen what else a unit waits for. */
  readonly answersAtOnce: boolean;
  /** From here on the transaction refuses rows of another company; null: it takes all. */
  noteOwner(tx: Transaction, companyId: number | null): Promise<void>;
  /** What `work` gives or throws; nothing that it did is left, and the next rows have the same ids. */
  undone<T>(tx: Transaction, work: () => Promise<T>): Promise<T>;
}

/** Makes this connection refuse rows of another company than the unit's. The file keeps nothing of it. */
export function watchSqlite(writer: SqliteDatabase): UnitWatch {
  writer.exec("create temp table unit_owner (company_id integer); insert into unit_owner values (null)");
  const tables = writer
    .prepare<[], string>(
      "select m.name from main.sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and c.name = 'company_id'",
    )
    .pluck()
    .all();
  for (const table of tables) {
    for (const [change, row] of changes) {
      const isOfAnother = `${row}.company_id <> (select company_id from temp.unit_owner)`;
      writer.exec(
        `create temp trigger owner_${table}_${change}_${row} before ${change} on main.${table} when ${isOfAnother} ` +
          `begin select raise(abort, 'a unit of work writes ${table} of another company than its own'); end`,
      );
    }
  }
  return {
    answersAtOnce: true,
    async noteOwner(tx, companyId) {
      await sql`update temp.unit_owner set company_id = ${companyId}`.execute(tx);
    },
    undone,
  };
}

type End<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown };

async function endOf<T>(work: Promise<T>): Promise<End<T>> {
  try {
    return { kind: "done", value: await work };
  } catch (error) {
    return { kind: "failed", error };
  }
}

/** The first run. With a database that answers at once, a unit that waits for it alone never sees another turn. */
async function rehearse<T>(watch: UnitWatch, tx: Transaction, work: Work<T>): Promise<End<T>> {
  const connection = await connectionOf(tx);
  connection.giveTurnsEvery(Number.POSITIVE_INFINITY);
  let turns = 0;
  const turn = setImmediate(() => {
    turns += 1;
  });
  const end = await endOf(watch.undone(tx, () => work(tx)));
  clearImmediate(turn);
  connection.giveTurnsEvery(statementsInTurn);
  if (turns > 0 && watch.answersAtOnce)
    throw new Error("a unit of work has waited for something else than the database");
  return end;
}

/** A full disk or a damaged page is no fault of the unit. */
function hasMetFault(end: End<unknown>): boolean {
  return end.kind === "failed" && isStoreFault(end.error);
}

/** Times and new GUIDs are others the second time. */
const newEachTime = /\b1\d{12}\b|\d{4}-\d\d-\d\dT[\d:.]+Z?|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function shownOf(end: End<unknown>): string {
  const shown = end.kind === "done" ? end.value : messageOf(end.error);
  return inspect(shown, { depth: 6, maxArrayLength: 1_000 }).replace(newEachTime, "new");
}

function isAlike(first: End<unknown>, second: End<unknown>): boolean {
  if (first.kind !== second.kind) return false;
  // Most are equal as they are; to show them takes longer than many a unit.
  const isEqual =
    first.kind === "done" && second.kind === "done" && isDeepStrictEqual(first.value, second.value);
  return isEqual || shownOf(first) === shownOf(second);
}

/** Gives the work of units with its rules checked. Not inside of an `attempt`. */
export function checkedBy(watch: UnitWatch): <T>(whose: Owner, work: Work<T>) => Work<T> {
  return (whose, work) => checkedWork(watch, whose, work);
}

function checkedWork<T>(watch: UnitWatch, whose: Owner, work: Work<T>): Work<T> {
  return async (tx) => {
    await watch.noteOwner(tx, whose === "site" ? null : whose === "unowned" ? noCompany : whose);
    const first = await rehearse(watch, tx, work);
    const second = await endOf(work(tx));
    if (!hasMetFault(first) && !hasMetFault(second) && !isAlike(first, second)) {
      const cause = second.kind === "failed" ? second.error : undefined;
      throw new Error("a unit of work has ended otherwise when it was run again", { cause });
    }
    if (second.kind === "failed") throw second.error;
    return second.value;
  };
}
