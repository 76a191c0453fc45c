/**
 * Targets and remotes that somebody has paused by hand: nothing is sent to such a target, and nothing fetched from such a
 * remote, until somebody resumes it. A pause survives restarts and reloads, and one of what has left the configuration
 * holds when it is there again.
 */
import { announce } from "../database/announcements.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, type RowOf } from "../database/named-rows.ts";
import { rememberAnswers } from "../database/version-cache.ts";

/** Who has paused what, when (milliseconds UTC) and why. */
export type HandPause = RowOf<"hand_pauses">;

export type PausedThing = Pick<HandPause, "companyId" | "kind" | "name">;

async function findHandPause(tx: Transaction, thing: PausedThing): Promise<HandPause | undefined> {
  const row = await tx
    .selectFrom("hand_pauses")
    .selectAll()
    .where("company_id", "=", thing.companyId)
    .where("kind", "=", thing.kind)
    .where("name", "=", thing.name)
    .executeTakeFirst();
  return row === undefined ? undefined : named(row);
}

/** Pauses it, unless it is paused already: then gives the pause that holds, and changes nothing. */
export async function pauseByHand(tx: Transaction, pause: HandPause): Promise<HandPause | undefined> {
  const before = await findHandPause(tx, pause);
  if (before !== undefined) return before;
  await tx
    .insertInto("hand_pauses")
    .values({
      ...{ company_id: pause.companyId, kind: pause.kind, name: pause.name },
      ...{ paused_at: pause.pausedAt, paused_by: pause.pausedBy, reason: pause.reason },
    })
    .execute();
  return undefined;
}

/** Ends the pause, and gives it; undefined when there is none. */
export async function resumeByHand(tx: Transaction, thing: PausedThing): Promise<HandPause | undefined> {
  const before = await findHandPause(tx, thing);
  if (before === undefined) return undefined;
  await tx
    .deleteFrom("hand_pauses")
    .where("company_id", "=", thing.companyId)
    .where("kind", "=", thing.kind)
    .where("name", "=", thing.name)
    .execute();
  announce(tx, "deliveries");
  return before;
}

const remembered = rememberAnswers(async (read): Promise<readonly HandPause[]> => {
  return (await read.selectFrom("hand_pauses").selectAll().execute()).map(named);
});

/** All pauses by hand: the very same list until the next commit. */
export function listHandPauses(read: Reader): Promise<readonly HandPause[]> {
  return remembered(read, "");
}
