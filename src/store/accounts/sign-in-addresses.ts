/** From which addresses users have signed in, so that after a restart a host is no stranger to its user. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export type SignInAddress = RowOf<"sign_in_addresses">;

/** The newest ones, at most `limit`, newest first. */
export async function listSignInAddresses(read: Reader, limit: number): Promise<readonly SignInAddress[]> {
  return await read
    .selectFrom("sign_in_addresses")
    .select(namedColumns("user_id", "peer", "last_at"))
    .orderBy("last_at", "desc")
    .limit(limit)
    .execute();
}

const newAddresses = prepareQuery<{ since: number; limit: number }, SignInAddress>((db, arg) =>
  db
    .selectFrom("sign_in_addresses")
    .select(namedColumns("user_id", "peer", "last_at"))
    .where("last_at", ">=", arg("since"))
    .orderBy("last_at")
    .limit(arg("limit")),
);

/** Those from then on, oldest first. */
export async function listNewSignInAddresses(
  read: Reader,
  since: number,
  limit: number,
): Promise<readonly SignInAddress[]> {
  return await newAddresses.rows(read, { since, limit });
}

/** From where one user has signed in, newest first. */
export async function listAddressesOf(
  read: Reader,
  userId: number,
  limit: number,
): Promise<readonly SignInAddress[]> {
  return await read
    .selectFrom("sign_in_addresses")
    .select(namedColumns("user_id", "peer", "last_at"))
    .where("user_id", "=", userId)
    .orderBy("last_at", "desc")
    .limit(limit)
    .execute();
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

/** Removes those before `before`, and the oldest of those that are more than `keep`. Returns how many it removed. */
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
