/** `schema.sql` is the schema that all migrations make, for people to read. `UPDATE_GENERATED=1` writes it anew. */
import { readFileSync, writeFileSync } from "node:fs";
import BetterSqlite from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { migrations } from "./migrations/migrations.ts";

const dumpFile = new URL("schema.sql", import.meta.url);
const database = new BetterSqlite(":memory:");
afterAll(() => void database.close());

interface SchemaRow {
  readonly tbl_name: string;
  readonly sql: string;
}

/** Each table with its indexes and triggers behind it. */
function dumpSchema(): string {
  for (const { sql } of migrations) database.exec(sql);
  const rows = database
    .prepare<[], SchemaRow>(
      `select tbl_name, sql from sqlite_schema where sql is not null and name not like 'sqlite\\_%' escape '\\'
       order by tbl_name, type <> 'table', type, name`,
    )
    .all();
  const tables = Map.groupBy(rows, ({ tbl_name }) => tbl_name).values();
  const texts = [...tables].map((parts) => parts.map(({ sql }) => `${sql.trim()};\n`).join(""));
  const head = `-- The schema after migration ${migrations.length}. Made by schema-dump.test.ts; never edited by hand.\n`;
  return [head, ...texts].join("\n");
}

test("schema.sql is what the migrations make", () => {
  const dump = dumpSchema();
  if (process.env["UPDATE_GENERATED"] === "1") writeFileSync(dumpFile, dump);
  expect(readFileSync(dumpFile, "utf8")).toBe(dump);
});
