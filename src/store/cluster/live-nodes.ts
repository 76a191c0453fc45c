/** The nodes that are there, for whoever reads the database in one of them. */
import { sql } from "kysely";
import type { Reader } from "../database/database.ts";
import { serverNow } from "../database/postgres/server-clock.ts";

/** Longer than any node that is well is silent: it says each second that it is there. */
const longestSilenceMs = 15_000;

/** Whether a node that was seen so long ago is not there any more. */
export function isSilent(silentMs: number): boolean {
  return silentMs >= longestSilenceMs;
}

export interface LiveNode {
  readonly incarnation: string;
  /** Hash of the settings that all nodes must have in common. */
  readonly settings: string;
}

/** By name, and by the clock of the database; none on SQLite. */
export async function listLiveNodes(read: Reader): Promise<ReadonlyMap<string, LiveNode>> {
  const there = read.selectFrom("nodes").selectAll().where("is_stopped", "=", 0);
  const rows = await there.orderBy("name").execute();
  if (rows.length === 0) return new Map();
  const now = sql<number>`${sql.raw(serverNow)}`.as("now");
  const clock = await read.selectNoFrom(now).executeTakeFirstOrThrow();
  const live = rows.filter((row) => !isSilent(clock.now - row.seen_at));
  return new Map(live.map(({ name, incarnation, settings }) => [name, { incarnation, settings }]));
}
