/**
 * What a transaction locks before it writes: the lane of what concerns no company, which has the number 0, and those of the
 * companies, in the order of their ids. So no two wait for one another. Row locks alone: they go wherever the rows of a
 * company do.
 *
 * The lock tells which files other nodes have entered for a company: all that were committed when it was asked for.
 *
 * A group of units takes the lanes that are free, and leaves the units of the others for its next transaction: if it waited
 * for all of them, nodes that write for the same companies would only ever write one after the other.
 */
import type { LaneState } from "../fence.ts";
import { laneOf, type Owner } from "../owner.ts";
import type { SessionQuery } from "./postgres-session.ts";

/** With more the owner decides nothing before it has them in line. */
const mostTold = 256;

const arrivals = `(select json_agg(json_build_array(file_id, name)) from (select file_id, name from arrivals
  where arrivals.company_id = lanes.company_id limit ${mostTold + 1}) as told)`;
const columns = `company_id, epoch, ${arrivals}::text as arrivals, pg_current_xact_id()::text as transaction`;
const every = `select ${columns} from lanes order by company_id for update`;
const some = `select ${columns} from lanes where company_id = any($1) order by company_id for update`;

const free = `${some} skip locked`;

/** The companies whose lanes units of these owners lock, 0 for those of none; undefined for all. */
export function lanesOf(owners: readonly Owner[]): readonly number[] | undefined {
  const lanes = new Set(owners.map(laneOf));
  return lanes.has(undefined) ? undefined : [...lanes].filter((lane) => lane !== undefined);
}

/** The statement that locks them; it gives a row for each, with the number of the `transaction`. */
export function lockOf(companyIds: readonly number[] | undefined): SessionQuery {
  if (companyIds === undefined) return { text: every, values: [], name: "lock_all" };
  return { text: some, values: [companyIds], name: "lock_some" };
}

/** The same for those of them that no other transaction has locked. */
export function lockOfFree(companyIds: readonly number[]): SessionQuery {
  return { text: free, values: [companyIds], name: "lock_free" };
}

/** Makes lanes of companies that an older program has entered. */
export const lanesThatLack: SessionQuery = {
  text: `with lacking as (insert into lanes (company_id) select id from companies on conflict do nothing returning company_id)
    insert into leases (company_id) select company_id from lacking on conflict do nothing`,
  values: [],
};

/** The rows that a lock has given. */
export function lockedLanesOf(
  rows: readonly Readonly<Record<string, unknown>>[],
): ReadonlyMap<number, LaneState> {
  return new Map(rows.map((row) => [Number(row["company_id"]), laneStateOf(row)]));
}

function laneStateOf(row: Readonly<Record<string, unknown>>): LaneState {
  const told = row["arrivals"] === null ? [] : (JSON.parse(String(row["arrivals"])) as [number, string][]);
  const files = told.map(([fileId, name]) => ({ fileId, name }));
  return { epoch: Number(row["epoch"]), arrivals: files, areMore: files.length > mostTold };
}
