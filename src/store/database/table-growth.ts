/**
 * How fast the tables grow, without reading them: ids go up with time, so that a binary search finds the first row of a
 * period, and the last rows tell how large rows are.
 */
import { type RawBuilder, sql } from "kysely";
import type { Reader } from "./database.ts";

export interface TableGrowth {
  readonly table: GrowingTable;
  /** Rows since the begin of the period, by their ids: rows that were removed since then count too. */
  readonly recent: number;
  /** The same of all rows from the first one that is still there. */
  readonly all: number;
  /** When the first of them was written, milliseconds UTC; undefined without any. */
  readonly firstAt: number | undefined;
  /** The values of a row without what the database adds. */
  readonly valueBytes: number;
}

const at = (column: string) => sql.ref<number>(column);
const ofParent = (parent: string, column: string, reference: string) =>
  sql<number>`(select p.${sql.ref(column)} from ${sql.table(parent)} as p where p.id = t.${sql.ref(reference)})`;

/** Tables that grow with the work, and what says when a row was written. */
const growingTables = {
  files: at("received_at"),
  file_stops: ofParent("files", "received_at", "file_id"),
  recorded_events: at("recorded_at"),
  reported_events: at("received_at"),
  positions: at("at"),
  completions: at("created_at"),
  deliveries: at("created_at"),
  delivery_attempts: at("at"),
  messages: at("created_at"),
  imports: at("received_at"),
  import_items: ofParent("imports", "received_at", "import_id"),
  documents: at("created_at"),
  appointments: at("created_at"),
  stops: at("created_at"),
  loads: at("created_at"),
  orders: at("created_at"),
} as const satisfies Readonly<Record<string, RawBuilder<number>>>;

export type GrowingTable = keyof typeof growingTables;

const sampledRows = 200;

interface RowTime {
  readonly id: number;
  readonly at: number;
}

/** The first row with that rowid or a later one. */
async function rowFrom(read: Reader, table: GrowingTable, id: number): Promise<RowTime | undefined> {
  const query = sql<RowTime>`select t.rowid as id, ${growingTables[table]} as at from ${sql.table(table)} as t
    where t.rowid >= ${id} order by t.rowid limit 1`;
  return (await query.execute(read)).rows[0];
}

async function lastId(read: Reader, table: GrowingTable): Promise<number> {
  const query = sql<{ id: number | null }>`select max(rowid) as id from ${sql.table(table)}`;
  return (await query.execute(read)).rows[0]?.id ?? 0;
}

/** The rowid of the first row that was written then or later; one more than the last when there is none. */
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
  const query = sql<Readonly<Record<string, unknown>>>`select * from ${sql.table(table)} order by rowid desc
    limit ${sampledRows}`;
  const { rows } = await query.execute(read);
  const bytes = rows.flatMap((row) => Object.values(row)).reduce<number>((sum, one) => sum + bytesOf(one), 0);
  return rows.length === 0 ? 0 : bytes / rows.length;
}

async function growthOf(read: Reader, table: GrowingTable, since: number): Promise<TableGrowth> {
  const first = await rowFrom(read, table, 0);
  if (first === undefined) return { table, recent: 0, all: 0, firstAt: undefined, valueBytes: 0 };
  const last = await lastId(read, table);
  const begin = await firstIdSince(read, table, { from: first.id, to: last, since });
  return {
    ...{ table, recent: last + 1 - begin, all: last + 1 - first.id, firstAt: first.at },
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

/** The bytes of the database that are in use; free pages are used again before it grows. */
export async function usedDatabaseBytes(read: Reader): Promise<number> {
  const query = sql<{ bytes: number }>`select (c.page_count - f.freelist_count) * s.page_size as bytes
    from pragma_page_count as c, pragma_freelist_count as f, pragma_page_size as s`;
  return (await query.execute(read)).rows[0]?.bytes ?? 0;
}
