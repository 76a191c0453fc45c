/**
 * Records that are kept for a time only, besides deliveries: appointments that are over, outcomes of imports, and the
 * positions of loads that are over. Each is listed first and removed in small steps; an empty list causes no write.
 */
import { sql } from "kysely";
import { finalLoadStatuses } from "../../domain/load/load-status.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";

/** Literally as in the index `appointments_over`. */
const overStates = sql<boolean>`state in ('released', 'expired')`;

/** Companies with rows in any of the tables: the others need no queries, table by table. */
async function companiesWith(read: Reader, tables: readonly string[]): Promise<ReadonlySet<number>> {
  const isIn = (table: string) =>
    sql`exists (select 1 from ${sql.table(table)} as t where t.company_id = c.id)`;
  const conditions = sql.join(tables.map(isIn), sql` or `);
  const query = sql<{ id: number }>`select c.id from companies as c where ${conditions}`;
  return new Set((await query.execute(read)).rows.map(({ id }) => id));
}

/** Those to whom, or to whose customers, something was to be sent. */
export function companiesWithDeliveries(read: Reader): Promise<ReadonlySet<number>> {
  return companiesWith(read, ["completions", "exports", "messages", "message_etas"]);
}

/** Those with appointments, or with imports. */
export function companiesWithRecords(read: Reader): Promise<ReadonlySet<number>> {
  return companiesWith(read, ["appointments", "imports"]);
}

export interface OldRecords {
  readonly companyId: number;
  /** What was over before this is old, milliseconds UTC. */
  readonly before: number;
  readonly limit: number;
}

/** Appointments that were released, and holds that ran out; the slots are updated for both. */
export async function listOldAppointments(read: Reader, wanted: OldRecords): Promise<readonly number[]> {
  const rows = await read
    .selectFrom("appointments")
    .select("id")
    .where(overStates)
    .where("company_id", "=", wanted.companyId)
    .where("updated_at", "<", wanted.before)
    .orderBy("updated_at")
    .limit(wanted.limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Those rows of a table that are old, in one count; `at` is when they were over. */
export interface OldCount {
  readonly count: number;
  readonly oldestAt: number | undefined;
  readonly newestAt: number | undefined;
}

function toOldCount(row: { count: number; oldest: number | null; newest: number | null }): OldCount {
  return { count: Number(row.count), oldestAt: row.oldest ?? undefined, newestAt: row.newest ?? undefined };
}

export async function countOldAppointments(
  read: Reader,
  { companyId, before }: Omit<OldRecords, "limit">,
): Promise<OldCount> {
  const row = await read
    .selectFrom("appointments")
    .select(({ fn }) => [
      fn.countAll<number>().as("count"),
      fn.min("updated_at").as("oldest"),
      fn.max("updated_at").as("newest"),
    ])
    .where(overStates)
    .where("company_id", "=", companyId)
    .where("updated_at", "<", before)
    .executeTakeFirstOrThrow();
  return toOldCount(row);
}

/** Imports, not their loads. */
export async function countOldImports(
  read: Reader,
  { companyId, before }: Omit<OldRecords, "limit">,
): Promise<OldCount> {
  const row = await read
    .selectFrom("imports")
    .select(({ fn }) => [
      fn.countAll<number>().as("count"),
      fn.min("finished_at").as("oldest"),
      fn.max("finished_at").as("newest"),
    ])
    .where("company_id", "=", companyId)
    .where("received_at", "<", before)
    .where("finished_at", "<", before)
    .executeTakeFirstOrThrow();
  return toOldCount(row);
}

export async function removeAppointments(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom("appointments").where(overStates).where("id", "in", ids).execute();
}

/** Imports whose loads have all been decided. */
export async function listOldImports(read: Reader, wanted: OldRecords): Promise<readonly number[]> {
  const rows = await read
    .selectFrom("imports")
    .select("id")
    .where("company_id", "=", wanted.companyId)
    .where("received_at", "<", wanted.before)
    .where("finished_at", "<", wanted.before)
    .orderBy("received_at")
    .limit(wanted.limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** With the result of each load. */
export async function removeImports(tx: Transaction, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom("import_items").where("import_id", "in", ids).execute();
  await tx.deleteFrom("imports").where("id", "in", ids).execute();
}

/** Loads of all companies that have positions, in the order of their ids. */
export interface TrackedLoads {
  /** From where to go on; undefined when there are no more. */
  readonly lastId: number | undefined;
  /** Those among them that were completed or cancelled. */
  readonly over: readonly Pick<RowOf<"loads">, "id" | "companyId" | "updatedAt">[];
}

/**
 * A load may have thousands of positions, side by side: the query goes from load to load. A load whose positions came
 * late has no progress, and one without positions may have some.
 */
function trackedIds(afterId: number, limit: number) {
  const next = (id: string) => sql`(select min(load_id) from (
    select min(load_id) as load_id from positions where load_id > ${sql.raw(id)}
    union all select min(load_id) from route_progress where load_id > ${sql.raw(id)}) as next)`;
  const first = Math.trunc(afterId);
  return sql<{ id: number }>`with recursive tracked(id, place) as (
    select ${next(String(first))}, 1
    union all select ${next("tracked.id")}, place + 1 from tracked
      where tracked.id is not null and place < ${limit})
    select id from tracked where id is not null order by place`;
}

export async function listTrackedLoads(
  read: Reader,
  { limit, afterId }: { readonly limit: number; readonly afterId: number },
): Promise<TrackedLoads> {
  const ids = (await trackedIds(afterId, limit).execute(read)).rows.map(({ id }) => id);
  if (ids.length === 0) return { lastId: undefined, over: [] };
  const over = await read
    .selectFrom("loads")
    .select(namedColumns("id", "company_id", "updated_at"))
    .where("id", "in", ids)
    .where("load_status", "in", finalLoadStatuses)
    .execute();
  return { lastId: ids.length < limit ? undefined : ids.at(-1), over };
}

/** Removes the positions of a load; its reported events stay. */
export async function removeWhereabouts(tx: Transaction, loadId: number): Promise<void> {
  await tx.deleteFrom("positions").where("load_id", "=", loadId).execute();
  await tx.deleteFrom("route_progress").where("load_id", "=", loadId).execute();
}
