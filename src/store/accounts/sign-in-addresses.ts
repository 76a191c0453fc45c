/** From which addresses users have signed in, so that after a restart a host is no stranger to its user. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";

export interface SignInAddress {
  readonly userId: number;
  /** The form in which addresses are counted: the IPv4 address, or the /64 of an IPv6 address. */
  readonly peer: string;
  /** Milliseconds UTC. */
  readonly lastAt: number;
}

/** The newest ones, at most `limit`, newest first. */
export async function listSignInAddresses(read: Reader, limit: number): Promise<readonly SignInAddress[]> {
  const rows = await read
    .selectFrom("sign_in_addresses")
    .select(["user_id", "peer", "last_at"])
    .orderBy("last_at", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ userId: row.user_id, peer: row.peer, lastAt: row.last_at }));
}

export async function saveSignInAddresses(
  tx: Transaction,
  addresses: readonly SignInAddress[],
): Promise<void> {
  for (const { userId, peer, lastAt } of addresses) {
    await tx
      .insertInto("sign_in_addresses")
      .values({ user_id: userId, peer, last_at: lastAt })
      .onConflict((conflict) => conflict.columns(["user_id", "peer"]).doUpdateSet({ last_at: lastAt }))
      .execute();
  }
}

/** Removes older ones, and the oldest of those that are more than `keep`. Returns how many were removed. */
export async function pruneSignInAddresses(
  tx: Transaction,
  { before, keep }: { readonly before: number; readonly keep: number },
): Promise<number> {
  const last = await tx
    .selectFrom("sign_in_addresses")
    .select("last_at")
    .orderBy("last_at", "desc")
    .offset(keep)
    .limit(1)
    .executeTakeFirst();
  const result = await tx
    .deleteFrom("sign_in_addresses")
    .where((where) =>
      where.or([
        where("last_at", "<", before),
        ...(last === undefined ? [] : [where("last_at", "<=", last.last_at)]),
      ]),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
