/** What there is to know of a database of PostgreSQL before it is used; changes nothing. */
import type { Examined } from "../examination.ts";
import { findPostgres } from "./postgres-schema.ts";
import { PostgresSession } from "./postgres-session.ts";
import { isOutdated, postgresFault } from "./migrate-postgres.ts";
import { lastingFault } from "./postgres-faults.ts";
import { readPostgres } from "./read-postgres.ts";
import { findServerFacts } from "./server-facts.ts";

/** `marker`: the instance beside it. Rejects with a `StoreError` where the server cannot be asked. */
export async function examinePostgres(url: string, marker: string | undefined): Promise<Examined> {
  const session = new PostgresSession({ url, isReader: true });
  try {
    const server = await findServerFacts(session);
    const found = await findPostgres(session);
    const fault = postgresFault(found, marker);
    const { read, close } = readPostgres(url, {});
    return {
      ...{ server, read, close },
      engine: `PostgreSQL ${server.version}, ${server.encoding}, synchronous_commit=${server.synchronousCommit}`,
      schema: found.number,
      schemaFault: fault,
      isOutdated: fault === undefined && isOutdated(found),
      instanceId: found.instanceId,
    };
  } catch (error) {
    throw lastingFault(error) ?? error;
  } finally {
    await session.close();
  }
}
