import type { Database } from "better-sqlite3";

/** Has it done without the indexes of the tables, which are made at the end: sorted once, and not row by row. */
export function withoutIndexes(database: Database, tables: readonly string[], work: () => void): void {
  const named = database.prepare<[string], { name: string; sql: string }>(
    "select name, sql from sqlite_schema where type = 'index' and tbl_name = ? and sql is not null",
  );
  const indexes = tables.flatMap((table) => named.all(table));
  for (const { name } of indexes) database.exec(`drop index ${name}`);
  work();
  for (const { sql } of indexes) database.exec(sql);
}
