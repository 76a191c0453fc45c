/** Rows of years, written into a store at once. The daemon must not run. */
import { join } from "node:path";
import { openSqlite } from "../../src/store/database/sqlite-dialect.ts";

export interface Planting {
  readonly database: ReturnType<typeof openSqlite>;
  /** Of the largest table. */
  readonly rows: number;
  /** Milliseconds UTC: the newest row came now. */
  readonly now: number;
  /** Ids of companies, the one with most rows first. */
  readonly companyIds: readonly number[];
}

/** Numbers 0 to `count` - 1, as a table `n(i)`; `with` stands before it. */
export function numbers(count: number): string {
  return `recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${Math.trunc(count)})`;
}

/** Has rows planted in one transaction that nobody needs to roll back. */
export function plant(stateDir: string, work: (database: Planting["database"]) => void): void {
  const database = openSqlite(join(stateDir, "dropgate.db"), { isNew: false });
  database.pragma("journal_mode = OFF");
  database.pragma("synchronous = OFF");
  database.pragma("foreign_keys = OFF");
  database.pragma("cache_size = -500000");
  database.exec("begin");
  work(database);
  database.exec("commit");
  database.pragma("journal_mode = WAL");
  database.close();
}
