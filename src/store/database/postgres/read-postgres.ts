/** Reads a database of PostgreSQL beside the store. */
import { Kysely } from "kysely";
import type { OpenReader, ReaderOptions } from "../reader-options.ts";
import type { Tables } from "../schema.ts";
import { PostgresConnection, postgresDialect } from "./postgres-dialect.ts";
import { PostgresSession } from "./postgres-session.ts";
import { consoleReaders } from "./sessions-of-node.ts";

/** Connects with the first statement. */
export function readPostgres(url: string, { statementMs }: ReaderOptions): OpenReader {
  const session = () => new PostgresSession({ url, isReader: true, statementMs });
  const others = Array.from({ length: consoleReaders - 1 }, session);
  const sessions = [session(), ...others] as const;
  // Whoever asked has the error; the store counts its own alone.
  const connection = new PostgresConnection(sessions, () => undefined);
  return {
    read: new Kysely<Tables>({ dialect: postgresDialect(connection) }),
    close: async () => void (await Promise.all(sessions.map((one) => one.close()))),
  };
}
