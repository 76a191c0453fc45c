/** A connection beside that of the store, which cannot write and changes nothing. */
import { join } from "node:path";
import { Kysely } from "kysely";
import { databaseFileName } from "./database.ts";
import type { OpenReader, ReaderOptions } from "./reader-options.ts";
import type { Tables } from "./schema.ts";
import { openForReading, sqliteDialect } from "./sqlite-dialect.ts";
import type { StatePlace } from "./state-place.ts";

/** Rejects where there is no usable file; a server is asked with the first statement. */
export async function openReader(
  { stateDir, url }: StatePlace,
  options: ReaderOptions = {},
): Promise<OpenReader> {
  if (url !== undefined) {
    const { readPostgres } = await import("./postgres/read-postgres.ts");
    return readPostgres(url, options);
  }
  const database = openForReading(join(stateDir, databaseFileName));
  return {
    read: new Kysely<Tables>({ dialect: sqliteDialect(database) }),
    close: async () => void database.close(),
  };
}
