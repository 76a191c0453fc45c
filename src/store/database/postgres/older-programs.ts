/**
 * How programs of different schemas share a database while nodes are upgraded one after the other
 * (specification/operation.md#upgrade-of-several-nodes).
 *
 *   a migration that only widens:  migrated at once; programs of before go on
 *   one that takes away or changes:
 *     wish held ─> older nodes see it, give their companies back, write no more, say so in `nodes`
 *        └─ all gone, or a minute over ─> sessions in which older programs write are ended ─> migrated ─> noted in `meta`
 *
 * The wish is a lock that the session of the migration holds: it ends with that session, however this ends, and the older
 * nodes go on. Who connects to write reads the wish and the note first: so once the wish is held and the sessions of before are
 * ended, no older program writes, also one that was frozen and wakes up later.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../../../lib/logs/log.ts";
import { OperatorError } from "../../../lib/operator-error.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { wishLock, writerLock } from "./advisory-locks.ts";
import { locksOf } from "./program-locks.ts";
import { serverNow } from "./server-clock.ts";

export interface DrainPatience {
  /** How long nodes may take to give their companies back. */
  readonly drainMs: number;
  /** A node that was not seen for so long is not waited for. */
  readonly silentMs: number;
}

export const usualPatience: DrainPatience = { drainMs: 60_000, silentMs: 10_000 };

const lookEveryMs = 250;
const tellEveryMs = 10_000;
/** How long sessions that were ended may take to go. */
const endMs = 10_000;

interface Migrator {
  readonly session: PostgresSession;
  readonly log: Pick<Logger, "info" | "warn"> | undefined;
  readonly patience: DrainPatience;
}

async function olderNodes({ session, patience }: Migrator, oldest: number): Promise<readonly string[]> {
  const { rows: there } = await session.query({
    text: "select to_regclass('nodes')::text as name",
    values: [],
  });
  if (there[0]?.["name"] === null) return [];
  const { rows } = await session.query({
    text: `select name from nodes where schema < $1 and is_stopped = 0
      and seen_at >= ${serverNow} - $2::bigint order by name`,
    values: [oldest, patience.silentMs],
  });
  return rows.map(({ name }) => String(name));
}

/** Resolves when no older node works any more, or when they have had their time. */
async function waitForOlderNodes(migrator: Migrator, oldest: number): Promise<void> {
  const beganAt = performance.now();
  let toldAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    const nodes = await olderNodes(migrator, oldest);
    if (nodes.length === 0) return;
    if (performance.now() - beganAt > migrator.patience.drainMs) {
      const text =
        "nodes with an older dropgate have not given their companies back in time; their sessions are ended";
      migrator.log?.warn({ nodes, needed: oldest }, text);
      return;
    }
    if (performance.now() - toldAt > tellEveryMs) {
      const text = "the migration waits for nodes with an older dropgate, which give their companies back";
      migrator.log?.info({ nodes, needed: oldest }, text);
      toldAt = performance.now();
    }
    await wait(lookEveryMs);
  }
}

const olderWriters = `${locksOf(writerLock)} and l.objid::bigint < $1`;

/** Ends the sessions in which older programs write; each of them is refused when it connects again. */
async function endOlderWriters({ session }: Migrator, oldest: number): Promise<void> {
  const until = performance.now() + endMs;
  for (;;) {
    const { rows } = await session.query({ text: `select l.pid from ${olderWriters}`, values: [oldest] });
    if (rows.length === 0) return;
    if (performance.now() > until)
      throw new OperatorError(
        `the database is still written by ${rows.length} sessions of an older dropgate, which cannot be ended: stop it, or ` +
          `end them on the server (pid ${rows.map(({ pid }) => pid).join(", ")}), and start this one again`,
      );
    await session.query({
      text: `select pg_terminate_backend(a.pid) from pg_stat_activity a where a.usename = current_user
        and a.pid in (select l.pid from ${olderWriters})`,
      values: [oldest],
    });
    await wait(lookEveryMs);
  }
}

/** Resolves when no program that is older than `oldest` writes the database, nor can begin to while this session lasts. */
export async function drainOlderPrograms(migrator: Migrator, oldest: number): Promise<void> {
  // Shared: of two that start at the same moment both may wish it.
  await migrator.session.query({
    text: "select pg_advisory_lock_shared($1, $2)",
    values: [wishLock, oldest],
  });
  await waitForOlderNodes(migrator, oldest);
  await endOlderWriters(migrator, oldest);
}
