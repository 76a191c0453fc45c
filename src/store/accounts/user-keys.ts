/** Taking away a user's public key; the other statements about keys are in `users.ts`. */
import type { Transaction } from "../database/group-commit.ts";

/** Removes a public key (base64 of its SSH wire form); false when the user has none like it. */
export async function deleteUserKey(
  tx: Transaction,
  key: { readonly userId: number; readonly keyBlob: string },
): Promise<boolean> {
  const result = await tx
    .deleteFrom("user_keys")
    .where("user_id", "=", key.userId)
    .where("key_blob", "=", key.keyBlob)
    .executeTakeFirst();
  return Number(result.numDeletedRows) === 1;
}
