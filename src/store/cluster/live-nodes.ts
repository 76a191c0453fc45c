/** The nodes that are there, for whoever reads the database in one of them. */
import type { Reader } from "../database/database.ts";

/** Longer than any node that is well is silent: it says each second that it is there. */
export const longestSilenceMs = 15_000;

export interface LiveNode {
  readonly incarnation: string;
  /** Hash of the settings that all nodes must have in common. */
  readonly settings: string;
}

/**
 * By name; none on SQLite. Times are those of the database, whose newest is about now: the node that asks has
 * just told it that it is there.
 */
export async function listLiveNodes(read: Reader): Promise<ReadonlyMap<string, LiveNode>> {
  const there = read.selectFrom("nodes").selectAll().where("is_stopped", "=", 0);
  const rows = await there.orderBy("name").execute();
  const newest = Math.max(...rows.map((row) => row.seen_at));
  const live = rows.filter((row) => row.seen_at > newest - longestSilenceMs);
  return new Map(live.map(({ name, incarnation, settings }) => [name, { incarnation, settings }]));
}
