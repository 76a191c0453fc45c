/** The tables and rows of a SQLite database as a copy has them. */
import { isUtf8 } from "node:buffer";
import { OperatorError } from "../../../lib/operator-error.ts";
import type { SqliteDatabase } from "../sqlite-schema.ts";
import { columnKindOf, selectRows } from "./copied-tables.ts";
import type { CopiedColumn, CopiedRow, CopiedTable, Counters, FoundTable } from "./copy-side.ts";
import { realText } from "./row-text.ts";

interface ColumnRow {
  readonly name: string;
  readonly type: string;
  /** The place in the primary key, from 1; 0 beside it. */
  readonly pk: number;
}

/** By name, with the columns in their order and the primary key; those of SQLite itself are left out. */
export function sqliteTables(database: SqliteDatabase): readonly FoundTable[] {
  const names = database
    .prepare<[], string>(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
    )
    .pluck()
    .all();
  const columnsOf = database.prepare<[string], ColumnRow>("select name, type, pk from pragma_table_info(?)");
  return names.map((name) => {
    const columns = columnsOf.all(name);
    const key = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk);
    return {
      name,
      columns: columns.map((column) => ({
        name: column.name,
        kind: columnKindOf(column.type, `${name}.${column.name}`),
      })),
      key: key.map((column) => column.name),
    };
  });
}

/** Characters of texts that are held at once. */
const batchSize = 4_000_000;
const rowsOfBatch = 5_000;
const nul = "\u0000";
/** What the driver gives in the place of bytes that are no text. */
const replaced = "\ufffd";

/** Reads the rows of a table; throws for a value that PostgreSQL could not have as it is. */
class RowReader {
  readonly #database: SqliteDatabase;
  readonly #table: CopiedTable;

  constructor(database: SqliteDatabase, table: CopiedTable) {
    this.#database = database;
    this.#table = table;
  }

  *batches(): Iterable<readonly CopiedRow[]> {
    const statement = this.#database.prepare<[], unknown[]>(selectRows(this.#table)).raw().safeIntegers();
    let [batch, size]: [CopiedRow[], number] = [[], 0];
    for (const values of statement.iterate()) {
      const row = this.#table.columns.map((column, at) => this.#text(column, values[at], values));
      batch.push(row);
      for (const text of row) size += text?.length ?? 0;
      if (size < batchSize && batch.length < rowsOfBatch) continue;
      yield batch;
      [batch, size] = [[], 0];
    }
    if (batch.length > 0) yield batch;
  }

  #text(column: CopiedColumn, value: unknown, row: readonly unknown[]): string | null {
    if (value === null) return null;
    switch (column.kind) {
      case "integer":
        if (typeof value === "bigint") return String(value);
        throw this.#fault(column, row, "is no whole number, as the column has");
      case "real":
        if (typeof value === "number") return realText(value);
        throw this.#fault(column, row, "is no number, as the column has");
      case "text":
        if (typeof value !== "string") throw this.#fault(column, row, "is no text, as the column has");
        this.#checkText(column, value, row);
        return value;
    }
  }

  #checkText(column: CopiedColumn, value: string, row: readonly unknown[]): void {
    if (value.includes(nul))
      throw this.#fault(column, row, "has the character NUL (U+0000), which PostgreSQL cannot store");
    if (value.includes(replaced) && !this.#isText(column, row))
      throw this.#fault(column, row, "has bytes that are no UTF-8, which PostgreSQL cannot store");
  }

  /** The bytes as they are stored. */
  #isText({ name }: CopiedColumn, row: readonly unknown[]): boolean {
    const key = this.#keyOf(row);
    const where = key.map(([column]) => `"${column}" = ?`).join(" and ");
    const bytes = this.#database
      .prepare<unknown[], Buffer>(`select cast("${name}" as blob) from "${this.#table.name}" where ${where}`)
      .pluck()
      .get(...key.map(([, value]) => value));
    return bytes !== undefined && isUtf8(bytes);
  }

  #keyOf(row: readonly unknown[]): readonly (readonly [column: string, value: unknown])[] {
    const { key, columns } = this.#table;
    return key.map((name) => [name, row[columns.findIndex((column) => column.name === name)]]);
  }

  #fault({ name }: CopiedColumn, row: readonly unknown[], what: string): OperatorError {
    const place = this.#keyOf(row).map(([column, value]) => `${column} ${String(value)}`);
    return new OperatorError(
      `${this.#table.name}, row with ${place.join(", ")}, column ${name}: the value ${what}; correct it in the SQLite ` +
        "database, which is unchanged, and copy again",
    );
  }
}

/** The rows of a table in batches; throws an `OperatorError` for a value that PostgreSQL could not have as it is. */
export async function* sqliteRows(
  database: SqliteDatabase,
  table: CopiedTable,
): AsyncIterable<readonly CopiedRow[]> {
  yield* new RowReader(database, table).batches();
}

/** The last id that each table has given, and how many ids of the ledger have no entry. */
export function sqliteCounters(database: SqliteDatabase): Counters {
  const rows = database
    .prepare<[], [string, string]>(
      "select name, cast(seq as text) from sqlite_sequence where seq > 0 order by name",
    )
    .raw()
    .all();
  const ledgerGaps = database.prepare<[], string>("select cast(ids as text) from ledger_gaps").pluck().get();
  return { lastIds: new Map(rows), ledgerGaps: ledgerGaps ?? "0" };
}
