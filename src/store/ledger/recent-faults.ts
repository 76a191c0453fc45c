/** Files that were refused lately, by the codes of their faults: a flood of one code costs no more than a few of many. */
import { sql } from "kysely";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { DecidedState } from "../../domain/files/file-state.ts";
import type { ErrorCode, Fault } from "../../lib/errors.ts";
import type { Reader } from "../database/database.ts";

/** A code, and when the newest file with it came. */
export interface RecentCode {
  readonly code: ErrorCode;
  /** Milliseconds UTC. */
  readonly lastAt: number;
}

/** The codes of all faults of a company's entries: one step of the index for each, however many entries have it. */
export async function listFaultCodes(read: Reader, companyId: number): Promise<readonly RecentCode[]> {
  const least = (after: string) => sql`select min(code) from file_faults
    where company_id = ${companyId} and code > ${sql.raw(after)}`;
  const { rows } = await sql<RecentCode>`
    with recursive codes(code) as (
      ${least("''")}
      union all
      select (${least("codes.code")}) from codes where codes.code is not null)
    select code, (select max(received_at) from file_faults
      where company_id = ${companyId} and code = codes.code) as "lastAt"
    from codes where code is not null`.execute(read);
  return rows;
}

export interface FaultSpan {
  readonly companyId: number;
  readonly code: ErrorCode;
  /** Received at this time or later, and before that one, milliseconds UTC. */
  readonly since: number;
  readonly until: number;
}

export interface FaultyEntry {
  readonly id: number;
  readonly name: string;
  readonly state: DecidedState;
  readonly receivedAt: number;
  readonly decidedAt: number | null;
  readonly faults: readonly Fault[];
}

/** The newest entries with a fault of the code. */
export async function listNewestOfCode(
  read: Reader,
  { companyId, code, since, until }: FaultSpan,
  limit: number,
): Promise<readonly FaultyEntry[]> {
  const { rows } = await sql<Omit<FaultyEntry, "faults"> & { readonly reasons: string }>`
    select f.id as id, f.name as name, f.state as state, f.received_at as "receivedAt",
      f.decided_at as "decidedAt", f.reasons as reasons
    from (select received_at, file_id from file_faults
      where company_id = ${companyId} and code = ${code} and received_at >= ${since} and received_at < ${until}
      order by received_at desc, file_id desc limit ${limit}) as p
    cross join files as f where f.id = p.file_id and ${unindexed}f.state in ('refused', 'superseded')
    order by p.received_at desc, p.file_id desc`.execute(read);
  return rows.map(({ reasons, ...row }) => ({ ...row, faults: JSON.parse(reasons) as readonly Fault[] }));
}

/** When the first entry with a fault of the code came; undefined when none did. */
export async function findFirstOfCode(
  read: Reader,
  { companyId, code, since, until }: FaultSpan,
): Promise<number | undefined> {
  const row = await read
    .selectFrom("file_faults")
    .select("received_at")
    .where("company_id", "=", companyId)
    .where("code", "=", code)
    .where("received_at", ">=", since)
    .where("received_at", "<", until)
    .orderBy("received_at")
    .limit(1)
    .executeTakeFirst();
  return row?.received_at;
}
