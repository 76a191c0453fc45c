/** What a user record means for signing in, and for connections that outlive the sign-in. */
import { hash as digestOf } from "node:crypto";
import type { Store } from "../store/database/database.ts";
import { findKeysOfUser, findUserById, type UserRecord } from "../store/accounts/users.ts";
import type { CurrentUser, SignedInUser } from "./sign-in.ts";

/** Why a user whose password or key is right may still not sign in. `canChangePassword`: it is changed before all else. */
export function hindranceOf(
  record: UserRecord,
  { canChangePassword = false }: { readonly canChangePassword?: boolean } = {},
): "disabled" | "mustChangePassword" | undefined {
  if (!record.isEnabled) return "disabled";
  return record.mustChangePassword && !canChangePassword ? "mustChangePassword" : undefined;
}

/** The store remembers records between commits, and each request reads them. */
const versions = new WeakMap<UserRecord, string>();

/** Changes with the stored password, and says nothing about it. */
export function passwordVersionOf(record: UserRecord): string {
  const known = versions.get(record);
  if (known !== undefined) return known;
  const version = digestOf("sha256", `${record.id}\n${record.passwordHash ?? ""}`, "base64");
  versions.set(record, version);
  return version;
}

/** The user of the record, signed in by its password or by that key. */
export function userOf(record: UserRecord, keyBlob?: string): SignedInUser {
  const { id, userName, memberships } = record;
  const proof = { passwordVersion: passwordVersionOf(record), ...(keyBlob === undefined ? {} : { keyBlob }) };
  return { userId: id, userName, memberships, proof };
}

/** The user as signing in would give it now; undefined when it may not sign in any more. */
export async function signedInNow(
  store: Pick<Store, "read">,
  userId: number,
): Promise<CurrentUser | undefined> {
  const record = await findUserById(store.read, userId);
  if (record === undefined || hindranceOf(record) !== undefined) return undefined;
  const { userName, memberships } = record;
  const keyBlobs = new Set(await findKeysOfUser(store.read, userId));
  return { userId, userName, memberships, passwordVersion: passwordVersionOf(record), keyBlobs };
}
