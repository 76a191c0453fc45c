/**
 * Which tables and columns a copy has: all that the two databases have, so that none of a later migration is forgotten. What
 * one of them has alone is named here; anything else is an error.
 */
import { markKeyStart } from "../postgres/commit-marks.ts";
import type { ColumnKind, CopiedTable, FoundTable } from "./copy-side.ts";

/** The other database has the same fact in another form; see `Counters`. */
const ofOneDatabase = new Set(["ledger_gaps", "entered_files"]);

/** Made by SQLite for itself, and by the schema of PostgreSQL in tables whose rows are walked through by it. */
export const rowNumber = "rowid";

/** The note of PostgreSQL that a copy has begun and not ended, in `meta`. */
export const unfinishedCopyKey = "unfinished_copy";

/** What `meta` says of the database itself, and not of the state. */
const ownMetaKeys: readonly string[] = ["schema", "fingerprint", "copied_before_schema", unfinishedCopyKey];

const kinds: Readonly<Record<string, ColumnKind>> = {
  integer: "integer",
  bigint: "integer",
  text: "text",
  real: "real",
  "double precision": "real",
};

/** Throws for a type that no column of ours has. */
export function columnKindOf(type: string, column: string): ColumnKind {
  const kind = kinds[type.toLowerCase()];
  if (kind === undefined) throw new Error(`${column} has the type ${type}, which cannot be copied`);
  return kind;
}

function isCopied({ name }: FoundTable): boolean {
  return !ofOneDatabase.has(name);
}

/** The columns of PostgreSQL: SQLite does not list its row number, and has one in each of these tables. */
function tableOf(sqlite: FoundTable, postgres: FoundTable): CopiedTable {
  const { name, key } = sqlite;
  const kindsThere = new Map(postgres.columns.map((column) => [column.name, column.kind]));
  const missing = sqlite.columns.find((column) => kindsThere.get(column.name) !== column.kind);
  if (missing !== undefined) throw new Error(`${name}.${missing.name} is not the same in both databases`);
  const known = new Set(sqlite.columns.map((column) => column.name));
  const more = postgres.columns.find((column) => column.name !== rowNumber && !known.has(column.name));
  if (more !== undefined) throw new Error(`${name}.${more.name} is in PostgreSQL alone`);
  if (key.length === 0) throw new Error(`${name} has no key by which its rows could be compared`);
  return { name, key, columns: postgres.columns };
}

/** Throws where the databases have other tables or columns, which no two of the same schema have. */
export function copiedTables(
  sqlite: readonly FoundTable[],
  postgres: readonly FoundTable[],
): readonly CopiedTable[] {
  const there = new Map(postgres.filter(isCopied).map((table) => [table.name, table]));
  const tables = sqlite.filter(isCopied).map((table) => {
    const other = there.get(table.name);
    if (other === undefined) throw new Error(`the table ${table.name} is in SQLite alone`);
    there.delete(table.name);
    return tableOf(table, other);
  });
  const [more] = there.keys();
  if (more !== undefined) throw new Error(`the table ${more} is in PostgreSQL alone`);
  return tables;
}

const metaCondition = `where key not in (${ownMetaKeys.map((key) => `'${key}'`).join(", ")})
  and key not like '${markKeyStart}%'`;

const conditionOf = (table: string) => (table === "meta" ? ` ${metaCondition}` : "");

/** Removes what the schema itself has put into a table. */
export function clearTable({ name }: CopiedTable): string {
  return `delete from "${name}"${conditionOf(name)}`;
}

/** All rows of a table, in the order of the key. */
export function selectRows({ name, columns, key }: CopiedTable): string {
  const list = (names: readonly string[]) => names.map((one) => `"${one}"`).join(", ");
  return `select ${list(columns.map((column) => column.name))} from "${name}"${conditionOf(name)} order by ${list(key)}`;
}
