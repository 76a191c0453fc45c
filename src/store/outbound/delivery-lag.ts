/**
 * How long deliveries have waited over time. There may be many: at most so many rows are read, evenly drawn by their ids,
 * which go up with time, so that a question costs the same in a store of years.
 */
import { sql } from "kysely";
import { numbersIn } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { spreadIds } from "../database/table-growth.ts";

export interface LagSelection {
  readonly companyIds: readonly number[];
  /** Made at this time or later, milliseconds UTC. */
  readonly since: number;
  readonly stepMs: number;
  /** How many rows are read at most. */
  readonly looks: number;
}

/** Deliveries to one target that began to wait in one step, and ended in one. */
export interface LagGroup {
  readonly targetId: number;
  /** The step, from 0 at `since`, in which they were made, or asked for again last. */
  readonly begun: number;
  /** In which they were delivered, or given up; null for those that wait. */
  readonly ended: number | null;
  readonly rows: number;
  /** When the first of them began to wait, milliseconds UTC. */
  readonly firstAt: number;
  /** The longest time to its delivery, milliseconds; null when none was delivered. */
  readonly longestMs: number | null;
}

export interface LagGroups {
  readonly groups: readonly LagGroup[];
  /** For how many deliveries each row stands: 1 when all were read. */
  readonly each: number;
}

/** The first delivery of a company since then; by the index of ages. */
async function firstIdOf(read: Reader, companyId: number, since: number): Promise<number | undefined> {
  const row = await read
    .selectFrom("deliveries")
    .select("id")
    .where("company_id", "=", companyId)
    .where("created_at", ">=", since)
    .orderBy("created_at")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

async function lastId(read: Reader): Promise<number> {
  const row = await read
    .selectFrom("deliveries")
    .select((eb) => eb.fn.max("id").as("id"))
    .executeTakeFirst();
  return row?.id ?? 0;
}

/** Deliveries of these companies that were made since then, by when they began to wait and when they ended. */
export async function listLagGroups(
  read: Reader,
  { companyIds, since, stepMs, looks }: LagSelection,
): Promise<LagGroups> {
  const firstIds: number[] = [];
  for (const companyId of companyIds) {
    const id = await firstIdOf(read, companyId, since);
    if (id !== undefined) firstIds.push(id);
  }
  if (firstIds.length === 0) return { groups: [], each: 1 };
  const range = { from: Math.min(...firstIds), to: await lastId(read) };
  const ids = spreadIds(range, looks);
  const { rows } = await sql<LagGroup>`
    select target_id as "targetId", cast((begun_at - ${since}) / ${stepMs} as bigint) as begun,
      cast((ended_at - ${since}) / ${stepMs} as bigint) as ended, count(*) as rows, min(begun_at) as "firstAt",
      max(case when state = 'delivered' then ended_at - begun_at end) as "longestMs"
    from (
      select d.target_id, d.state,
        coalesce((select max(r.asked_at) from delivery_repeats as r where r.delivery_id = d.id and r.action = 'again'),
          d.created_at) as begun_at,
        case when d.state = 'delivered' then d.delivered_at
          when d.state in ('dead', 'dropped') then coalesce(d.last_attempt_at, d.created_at) end as ended_at
      from ${numbersIn(ids)} as n cross join deliveries as d
      where d.id = n.value and d.company_id in (${sql.join([...companyIds])}) and d.created_at >= ${since}
    ) as looked group by 1, 2, 3`.execute(read);
  return { groups: rows, each: Math.max(1, (range.to - range.from + 1) / ids.length) };
}
