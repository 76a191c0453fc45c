/** Rows in every table of a SQLite database, whatever tables it has, with values that are hard to carry to another. */
import type BetterSqlite from "better-sqlite3";
import { askPostgres } from "./postgres-server.ts";

interface Column {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
  readonly notnull: number;
}

const texts = [
  ...["tab\tand\nline\r\n", "\\N", "back\\slash \\t", "quote \" and '", "é 東京 🚚 \ufffd", "a\u0001b\u007f"],
];
const wholes = [0n, -1n, 1_790_000_000_000n, 9_007_199_254_740_993n, -9_223_372_036_854_775_808n];
const reals = [40.7127837, -74.0059731, 1e-7, 1e21, 0.1 + 0.2, 5e-324, 12, 0];

const rowsOfTable = 9;
const emptyRow = 2;

function madeValue({ name, type, pk, notnull }: Column, row: number): string | number | bigint | null {
  const at = row + name.length;
  if (row === rowsOfTable && notnull === 0 && pk === 0) return null;
  if (type === "real") return reals[at % reals.length] ?? 0;
  // Told apart where a key or a unique index asks for it.
  if (type === "text") return row === emptyRow ? "" : `${row}${texts[at % texts.length] ?? ""}`;
  return pk > 0 ? BigInt(row) : (wholes[at % wholes.length] ?? 0n);
}

function fillTable(database: BetterSqlite.Database, table: string): void {
  const columns = database
    .prepare<[], Column>(`select name, lower(type) as type, pk, "notnull" from pragma_table_info('${table}')`)
    .all();
  const references = database.pragma(`foreign_key_list(${table})`) as readonly { readonly from: string }[];
  const isReference = ({ name }: Column) => references.some(({ from }) => from === name);
  const list = columns.map(({ name }) => name).join(", ");
  const insert = database.prepare(
    `insert into ${table} (${list}) values (${columns.map(() => "?").join(", ")})`,
  );
  for (let row = 1; row <= rowsOfTable; row += 1)
    insert.run(columns.map((column) => (isReference(column) ? BigInt(row) : madeValue(column, row))));
}

/** Fills all but what the database says of itself. A reference leads to the row of the same number. */
export function fillTables(database: BetterSqlite.Database): void {
  const tables = database
    .prepare<[], string>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name not in ('meta', 'ledger_gaps')",
    )
    .pluck()
    .all();
  database.pragma("foreign_keys = OFF");
  for (const table of tables) fillTable(database, table);
}

/**
 * All that a database has, table by table, with the ids that it gives next, and the row numbers of the tables that are walked
 * through by them.
 */
export function dumpTables(
  database: BetterSqlite.Database,
  numbered: ReadonlySet<string>,
): ReadonlyMap<string, readonly unknown[]> {
  const names = database
    .prepare<[], string>("select name from sqlite_schema where type = 'table' order by name")
    .pluck()
    .all();
  const keyOf = database
    .prepare<[string], string>("select name from pragma_table_info(?) where pk > 0")
    .pluck();
  return new Map(
    names.map((name) => {
      const isNumbered = numbered.has(name);
      const order = isNumbered ? "rowid" : keyOf.all(name).join(", ") || "1";
      const sql = `select ${isNumbered ? "rowid as row_number, " : ""}* from ${name} order by ${order}`;
      return [name, database.prepare(sql).safeIntegers().all()];
    }),
  );
}

/** The tables of a database of PostgreSQL that are walked through by row numbers. */
export async function numberedTables(url: string): Promise<ReadonlySet<string>> {
  const sql = "select table_name from information_schema.columns where column_name = 'rowid'";
  return new Set((await askPostgres(url, sql)).map(([name]) => String(name)));
}
