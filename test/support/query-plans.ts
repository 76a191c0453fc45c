/** How SQLite runs the statements of a query, by its own words. */
import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { databaseFileName, type Reader } from "../../src/store/database/database.ts";
import { connectionOf } from "../../src/store/database/prepared-query.ts";
import { watchStatements } from "./watch-statements.ts";

/** Each step of the plans of all statements that `work` runs on the reader, such as `SEARCH files USING INDEX …`. */
export async function plansOf(
  { read, stateDir }: { readonly read: Reader; readonly stateDir: string },
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  const statements: string[] = [];
  const end = watchStatements(await connectionOf(read), (sql) => statements.push(sql));
  await work().finally(end);
  const database = new BetterSqlite(join(stateDir, databaseFileName), { readonly: true });
  try {
    return statements.flatMap((statement) => {
      const values = Array.from(statement.matchAll(/\?/g), () => null);
      const plan = database.prepare<unknown[], { detail: string }>(`explain query plan ${statement}`);
      return plan.all(...values).map(({ detail }) => detail);
    });
  } finally {
    database.close();
  }
}
