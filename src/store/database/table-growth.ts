/**
 * How fast the tables grow, without reading them: ids go up with time, so that a binary search finds the first row of a
 * period, the last rows tell how large rows are, and rows here and there what is kept, since when and of whom.
 */
import { type RawBuilder, sql } from "kysely";
import { numbersIn } from "./dialects/sql-forms.ts";
import type { Reader } from "./database.ts";

/** Rows of one company that are there, all of about one time. */
export interface KeptRows {
  readonly companyCode: string;
  /** When they were written, milliseconds UTC. */
  readonly at: number;
  /** How many the one that was read stands for. */
  readonly rows: number;
}

export interface TableGrowth {
  readonly table: GrowingTable;
  /** Rows since the begin of the period, by their ids: rows that were removed since then count too. */
  readonly recent: number;
  /** The rows that are there, estimated; all of them where there are few. */
  readonly kept: readonly KeptRows[];
  /** When the first of them was written, milliseconds UTC; undefined without any. */
  readonly firstAt: number | undefined;
  /** The values of a row without what the database adds. */
  readonly valueBytes: number;
}

interface GrowingColumns {
  /** When a row was written. */
  readonly at: RawBuilder<number>;
  /** The id of the company whose it is. */
  readonly companyId: RawBuilder<number>;
}

const column = (name: string) => sql<number>`t.${sql.ref(name)}`;
const ofParent = (parent: string, name: string, reference: string) =>
  sql<number>`(select p.${sql.ref(name)} from ${sql.table(parent)} as p where p.id = t.${sql.ref(reference)})`;
const ofCompany = (at: RawBuilder<number>): GrowingColumns => ({ at, companyId: column("company_id") });
const ofParentCompany = (
  at: RawBuilder<number>,
  ...[parent, reference]: [parent: string, reference: string]
): GrowingColumns => ({ at, companyId: ofParent(parent, "company_id", reference) });

/** Tables that grow with the work. */
const growingTables = {
  files: ofCompany(column("received_at")),
  file_stops: ofCompany(ofParent("files", "received_at", "file_id")),
  recorded_events: ofCompany(column("recorded_at")),
  reported_events: ofParentCompany(column("received_at"), "loads", "load_id"),
  positions: ofParentCompany(column("at"), "loads", "load_id"),
  completions: ofCompany(column("created_at")),
  deliveries: ofCompany(column("created_at")),
  delivery_attempts: ofParentCompany(column("at"), "deliveries", "delivery_id"),
  messages: ofCompany(column("created_at")),
  imports: ofCompany(column("received_at")),
  import_items: ofParentCompany(ofParent("imports", "received_at", "import_id"), "imports", "import_id"),
  documents: ofCompany(column("created_at")),
  appointments: ofCompany(column("created_at")),
  stops: ofCompany(column("created_at")),
  loads: ofCompany(column("created_at")),
  orders: ofCompany(column("created_at")),
} as const satisfies Readonly<Record<string, GrowingColumns>>;

export type GrowingTable = keyof typeof growingTables;

/** Tables that have no ids. */
const unnumbered: ReadonlySet<GrowingTable> = new Set([
  "file_stops",
  "positions",
  "import_items",
  "documents",
]);

/** Of a table without ids, the number that the database gives each row. */
const keyOf = (table: GrowingTable) => column(unnumbered.has(table) ? "rowid" : "id");

const sampledRows = 200;
/** How many rows before the period, and of it, tell what is kept. */
const keptLooks = { before: 800, recent: 200 };

interface RowTime {
  readonly id: number;
  readonly at: number;
}

/** The first row of that number or a later one. */
async function rowFrom(read: Reader, table: GrowingTable, id: number): Promise<RowTime | undefined> {
  const query = sql<RowTime>`select ${keyOf(table)} as id, ${growingTables[table].at} as at from ${sql.table(table)} as t
    where ${keyOf(table)} >= ${id} order by ${keyOf(table)} limit 1`;
  return (await query.execute(read)).rows[0];
}

async function lastId(read: Reader, table: GrowingTable): Promise<number> {
  const query = sql<{ id: number | null }>`select max(${keyOf(table)}) as id from ${sql.table(table)} as t`;
  return (await query.execute(read)).rows[0]?.id ?? 0;
}

/** The number of the first row that was written then or later; one more than the last when there is none. */
async function firstIdSince(
  read: Reader,
  table: GrowingTable,
  { from, to, since }: { readonly from: number; readonly to: number; readonly since: number },
): Promise<number> {
  let [low, high] = [from, to + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await rowFrom(read, table, middle);
    if (row === undefined || row.at >= since) high = middle;
    else low = row.id + 1;
  }
  return low;
}

function bytesOf(value: unknown): number {
  return typeof value === "string" ? value.length : value === null ? 0 : 8;
}

async function meanBytes(read: Reader, table: GrowingTable): Promise<number> {
  const query = sql<
    Readonly<Record<string, unknown>>
  >`select * from ${sql.table(table)} as t order by ${keyOf(table)} desc
    limit ${sampledRows}`;
  const { rows } = await query.execute(read);
  const bytes = rows.flatMap((row) => Object.values(row)).reduce<number>((sum, one) => sum + bytesOf(one), 0);
  return rows.length === 0 ? 0 : bytes / rows.length;
}

interface IdRange {
  readonly from: number;
  /** The last one. */
  readonly to: number;
}

/** The share of a circle by which leaves turn: the places it gives in a row of parts never repeat. */
const goldenShare = 0.618_033_988_749_895;

/**
 * Ids of a range, one in each of that many equal parts, or all where there are not so many. Not at equal distances: rows of
 * companies may come in turns.
 */
export function spreadIds({ from, to }: IdRange, looks: number): readonly number[] {
  const span = to - from + 1;
  const parts = Math.max(0, Math.min(looks, span));
  const placeIn = (part: number) => part + ((part * goldenShare) % 1);
  return Array.from({ length: parts }, (_, part) => from + Math.floor((placeIn(part) * span) / parts));
}

/** The rows that are there of a range of ids, by some of them. */
async function keptRows(
  read: Reader,
  table: GrowingTable,
  { looks, ...range }: IdRange & { readonly looks: number },
): Promise<readonly KeptRows[]> {
  const ids = spreadIds(range, looks);
  const { at, companyId } = growingTables[table];
  const found = sql<Omit<KeptRows, "rows">>`select ${at} as at,
    (select code from companies as c where c.id = ${companyId}) as "companyCode"
    from ${numbersIn(ids)} as n cross join ${sql.table(table)} as t where ${keyOf(table)} = n.value`;
  const rows = (range.to - range.from + 1) / ids.length;
  return (await found.execute(read)).rows.map((one) => ({ ...one, rows }));
}

async function growthOf(read: Reader, table: GrowingTable, since: number): Promise<TableGrowth> {
  const first = await rowFrom(read, table, 0);
  if (first === undefined) return { table, recent: 0, kept: [], firstAt: undefined, valueBytes: 0 };
  const last = await lastId(read, table);
  const begin = await firstIdSince(read, table, { from: first.id, to: last, since });
  const before = await keptRows(read, table, { from: first.id, to: begin - 1, looks: keptLooks.before });
  const recent = await keptRows(read, table, { from: begin, to: last, looks: keptLooks.recent });
  return {
    ...{ table, recent: last + 1 - begin, kept: [...before, ...recent], firstAt: first.at },
    valueBytes: await meanBytes(read, table),
  };
}

/** Of all tables since that time, milliseconds UTC. */
export async function measureTables(read: Reader, since: number): Promise<readonly TableGrowth[]> {
  const found: TableGrowth[] = [];
  for (const table of Object.keys(growingTables) as GrowingTable[])
    found.push(await growthOf(read, table, since));
  return found;
}
