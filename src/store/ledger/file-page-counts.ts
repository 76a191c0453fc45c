/** How many files a selection has, for the console: by the counts of days, or counted up to a bound. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { isDecidedState, isOpenState, openStates } from "../../domain/files/file-state.ts";
import { dayMs } from "../../lib/durations.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import { dayOf } from "./daily-files.ts";
import { isOfChannel } from "./file-lists.ts";
import type { PageSelection } from "./file-ways.ts";

/** `ever`: of these some are kept no longer. */
export interface FileCount {
  readonly kind: "exact" | "ever" | "moreThan";
  readonly count: number;
}

/** So many rows of counts are added up. */
const mostCounts = 20_000;
/** So many entries are counted one by one. */
const mostEntries = 10_000;

type Condition = RawBuilder<SqlBool>;

const all = (conditions: readonly Condition[]) => sql.join([...conditions], sql` and `);

function ofCompanies({ companyIds }: PageSelection): Condition {
  return sql<SqlBool>`company_id in (${sql.join([...companyIds])})`;
}

const isWholeDay = (at: number | undefined) => at === undefined || at % dayMs === 0;

async function countRows(read: Reader, table: string, conditions: readonly Condition[]): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from
    (select 1 from ${sql.table(table)} where ${all(conditions)} limit ${mostEntries + 1}) as looked`.execute(
    read,
  );
  return rows[0]?.n ?? 0;
}

/** Files that were decided, by day, state and channel; undefined when there are too many counts. */
async function countDays(read: Reader, selection: PageSelection): Promise<number | undefined> {
  const { since, until, states, channel } = selection;
  const conditions = [
    ofCompanies(selection),
    ...(since === undefined ? [] : [sql<SqlBool>`day >= ${dayOf(since)}`]),
    ...(until === undefined ? [] : [sql<SqlBool>`day < ${dayOf(until)}`]),
    ...(states === undefined ? [] : [sql<SqlBool>`state in (${sql.join([...states])})`]),
    ...(channel === undefined ? [] : [isOfChannel(channel)]),
  ];
  const { rows } = await sql<{
    n: number;
    files: number | null;
  }>`select count(*) as n, sum(files) as files from
    (select files from daily_files where ${all(conditions)} limit ${mostCounts + 1}) as looked`.execute(read);
  const [row] = rows;
  return row === undefined || row.n > mostCounts ? undefined : (row.files ?? 0);
}

/** Files that are not filed away yet. */
async function countOpen(read: Reader, selection: PageSelection): Promise<number> {
  const { since = 0, until = Number.MAX_SAFE_INTEGER, channel, companyIds } = selection;
  return await countRows(read, "files", [
    sql`is_filed = 0 and state in (${sql.join([...openStates])})`,
    sql`${unindexed}company_id in (${sql.join([...companyIds])}) and ${unindexed}received_at >= ${since} and ${unindexed}received_at < ${until}`,
    ...(channel === undefined ? [] : [isOfChannel(channel)]),
  ]);
}

/** Whether entries of these days may have been removed because of their age. */
async function areSomeForgotten(read: Reader, { companyIds, since = 0 }: PageSelection): Promise<boolean> {
  const row = await read
    .selectFrom("pruned_entries")
    .select("company_id")
    .where("company_id", "in", [...companyIds])
    .where("decided_until", ">=", since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function countByDays(read: Reader, selection: PageSelection): Promise<FileCount | undefined> {
  const { states } = selection;
  const hasOpen = states === undefined || states.some(isOpenState);
  const hasDecided = states === undefined || states.some(isDecidedState);
  const decided = hasDecided ? await countDays(read, selection) : 0;
  if (decided === undefined) return undefined;
  const open = hasOpen ? await countOpen(read, selection) : 0;
  if (open > mostEntries) return { kind: "moreThan", count: decided + mostEntries };
  const isEver = hasDecided && (await areSomeForgotten(read, selection));
  return { kind: isEver ? "ever" : "exact", count: decided + open };
}

/** Files with a fault of the code. */
async function countFaults(read: Reader, selection: PageSelection): Promise<FileCount> {
  const { reasons = [], since = 0, until = Number.MAX_SAFE_INTEGER } = selection;
  const count = await countRows(read, "file_faults", [
    ofCompanies(selection),
    sql`code in (${sql.join([...reasons])}) and received_at >= ${since} and received_at < ${until}`,
  ]);
  return count > mostEntries ? { kind: "moreThan", count: mostEntries } : { kind: "exact", count };
}

/** How many files the selection has; undefined when that cannot be told without reading them. */
export async function countFilePage(read: Reader, selection: PageSelection): Promise<FileCount | undefined> {
  const { isPruned, name, reasons, userName, since, until, states, channel } = selection;
  const isOfRows = [isPruned, name, userName].some((one) => one !== undefined);
  if (isOfRows) return undefined;
  if (reasons === undefined)
    return isWholeDay(since) && isWholeDay(until) ? await countByDays(read, selection) : undefined;
  const isByCode = reasons.length === 1 && states === undefined && channel === undefined;
  return isByCode ? await countFaults(read, selection) : undefined;
}
