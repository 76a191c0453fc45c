/** How large the database is. */
import { type Kysely, sql } from "kysely";
import { usedBytes } from "./dialects/sql-forms.ts";
import type { Tables } from "./schema.ts";

/** In bytes. */
export interface DatabaseSizes {
  readonly file: number;
  /** The write-ahead log; that of a server is of all its databases, and not counted. */
  readonly wal: number;
}

/** The bytes of the database that are in use; free pages are used again before it grows. */
export async function usedDatabaseBytes(read: Kysely<Tables>): Promise<number> {
  const query = sql<{ bytes: number }>`select ${usedBytes} as bytes`;
  return (await query.execute(read)).rows[0]?.bytes ?? 0;
}
