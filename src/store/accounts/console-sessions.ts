/** Sessions of the console. The id itself is with the browser alone. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export type ConsoleSessionRow = RowOf<"console_sessions">;

const columns = namedColumns(
  ...(["id_hash", "user_id", "basis", "created_at", "seen_at", "address", "agent"] as const),
);

const sessionByHash = prepareQuery<{ idHash: string }, ConsoleSessionRow>((db, arg) =>
  db.selectFrom("console_sessions").select(columns).where("id_hash", "=", arg("idHash")),
);

/** The session of the hash; undefined when there is none. */
export function findSession(read: Reader, idHash: string): Promise<ConsoleSessionRow | undefined> {
  return sessionByHash.find(read, { idHash });
}

export const insertSession = prepareQuery<ConsoleSessionRow>((db, arg) =>
  db
    .insertInto("console_sessions")
    .values(namedArguments(arg, "id_hash", "user_id", "basis", "created_at", "seen_at", "address", "agent")),
).run;

/** Notes that the session is used. */
export const noteSessionSeen = prepareQuery<Pick<ConsoleSessionRow, "idHash" | "seenAt">>((db, arg) =>
  db
    .updateTable("console_sessions")
    .set({ seen_at: arg("seenAt") })
    .where("id_hash", "=", arg("idHash")),
).run;

/** Ends a session; false when it had ended. */
export const deleteSession = prepareQuery<{ idHash: string }>((db, arg) =>
  db.deleteFrom("console_sessions").where("id_hash", "=", arg("idHash")),
).changes;

/** Ends all sessions of the user. */
export async function deleteSessionsOf(tx: Transaction, userId: number): Promise<number> {
  const result = await tx.deleteFrom("console_sessions").where("user_id", "=", userId).executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Ends the oldest sessions of the user but for so many. */
export async function deleteOldestSessions(
  tx: Transaction,
  { userId, keep }: { readonly userId: number; readonly keep: number },
): Promise<void> {
  const kept = tx
    .selectFrom("console_sessions")
    .select("id_hash")
    .where("user_id", "=", userId)
    .orderBy("created_at", "desc")
    .limit(keep);
  await tx
    .deleteFrom("console_sessions")
    .where("user_id", "=", userId)
    .where("id_hash", "not in", kept)
    .execute();
}

/** Removes those that were begun, or seen last, before these moments, milliseconds UTC. */
export async function deleteOldSessions(
  tx: Transaction,
  before: { readonly created: number; readonly seen: number },
): Promise<void> {
  await tx
    .deleteFrom("console_sessions")
    .where((where) =>
      where.or([where("created_at", "<", before.created), where("seen_at", "<", before.seen)]),
    )
    .execute();
}
