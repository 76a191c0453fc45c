/** A database of PostgreSQL as the source of a copy: read as of one moment, while nobody writes. */
import { OperatorError } from "../../../lib/operator-error.ts";
import { olderSourceFault } from "../copy/copy-from-sqlite.ts";
import type { CopySource } from "../copy/copy-side.ts";
import { CopySession } from "./copy-session.ts";
import { isOutdated, postgresFault } from "./migrate-postgres.ts";
import { postgresCounters, postgresRows, postgresTables } from "./postgres-rows.ts";
import { findPostgres } from "./postgres-schema.ts";
import { serverNow } from "./server-clock.ts";
import { requireServer } from "./server-facts.ts";
import { onceInSession } from "./once-in-session.ts";

/** Gives the instance of the state. */
async function requireState(url: string, marker: string): Promise<string> {
  const found = await onceInSession(url, async (session) => {
    await requireServer(session);
    return await findPostgres(session);
  });
  const fault = postgresFault(found, marker);
  if (fault !== undefined) throw new OperatorError(fault);
  if (isOutdated(found)) throw new OperatorError(olderSourceFault(found.number));
  if (found.instanceId === marker) return marker;
  throw new OperatorError(
    `the database on PostgreSQL is not the one of this state directory (it says ${found.instanceId ?? "nothing"}, the ` +
      `marker ${marker}): name the right one`,
  );
}

/** One that is cut off has no session, and comes back. One that was killed is gone, and never says so. */
const silentMs = 60_000;

const livingText = `
select name from nodes
where is_stopped = 0 and seen_at > ${serverNow} - $1::bigint order by name`;

async function requireStopped(session: CopySession): Promise<void> {
  const living = await session.ask(livingText, [String(silentMs)]);
  if (living.length === 0) return;
  throw new OperatorError(
    `nodes that were not stopped have been there within the last minute (${living.flat().join(", ")}): stop them, or ` +
      "wait a minute if they were killed",
  );
}

/** `marker`: the instance of the state directory, which is locked. */
export async function openPostgresSource(url: string, marker: string): Promise<CopySource> {
  const instanceId = await requireState(url, marker);
  const session = await CopySession.connect(url);
  try {
    await session.requireAlone();
    await session.begin("repeatable read read only");
    await requireStopped(session);
    return {
      instanceId,
      requireUnused: () => session.requireAlone(),
      tables: () => postgresTables(session),
      rows: (table) => postgresRows(session, table),
      counters: () => postgresCounters(session),
      close: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}
