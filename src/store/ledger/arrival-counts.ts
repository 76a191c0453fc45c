/** How many files of a company have arrived in a span of time; by the index over the time of arrival. */
import { type SqlBool, sql } from "kysely";
import { arrivedStates } from "../../domain/files/expected-arrivals.ts";
import type { FileState } from "../../domain/files/file-state.ts";
import type { StopFunction } from "../../domain/stop/stop-change.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { isOfName } from "../database/searches/name-pattern.ts";
import { type FileSelection, selectionConditions } from "./file-lists.ts";

export interface ArrivalSelection extends Pick<FileSelection, "name" | "channel" | "userName"> {
  readonly companyId: number;
  /** Milliseconds UTC. */
  readonly since: number;
  readonly until?: number;
  /** Of the first Stop; any when there is none. */
  readonly functions: readonly StopFunction[];
  /** How many are enough. */
  readonly atLeast: number;
  /** Of those in `arrivedStates`; all of them unless given. */
  readonly states?: readonly FileState[];
}

function arrivals(read: Reader, selection: ArrivalSelection) {
  const { companyId, functions, name, states = arrivedStates, ...rest } = selection;
  let query = read
    .selectFrom("files")
    .where("company_id", "=", companyId)
    .where("state", "in", [...states])
    .where((eb) => selectionConditions(eb, rest));
  // Not by the index of names: there may be years of files whose names begin alike.
  if (name !== undefined) query = query.where(sql<SqlBool>`${unindexed}(${isOfName("name", name)})`);
  return functions.length === 0 ? query : query.where("stop_function", "in", [...functions]);
}

/** How many there are. */
export async function countArrivals(read: Reader, selection: ArrivalSelection): Promise<number> {
  const counted = await arrivals(read, selection)
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirst();
  return Number(counted?.count ?? 0);
}

/** When the one came with which they were enough; reads no further than that. */
export async function findEnoughAt(read: Reader, selection: ArrivalSelection): Promise<number | undefined> {
  const row = await arrivals(read, selection)
    .select("received_at")
    .orderBy("received_at")
    .offset(selection.atLeast - 1)
    .limit(1)
    .executeTakeFirst();
  return row?.received_at;
}
