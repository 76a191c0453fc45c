/**
 * Users, their roles in companies and their public keys (specification/accounts.md#users).
 *
 * A user is a record with one password; memberships give it roles in one or more companies. Within a company a name is
 * unique; records of the same name in different companies may be different people.
 */
import { isRole, type Role } from "../../domain/users/role.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { createAnswers } from "../database/version-cache.ts";

export interface UserMembership {
  readonly companyId: number;
  readonly companyCode: string;
  readonly roles: readonly Role[];
}

type UserRow = Omit<RowOf<"users">, "updatedAt">;

/** What sign-in and administration need of a user. */
export interface UserRecord extends Omit<UserRow, "isEnabled" | "mustChangePassword"> {
  readonly isEnabled: boolean;
  readonly mustChangePassword: boolean;
  /** By company code. */
  readonly memberships: readonly UserMembership[];
}

const userColumns = [
  ...namedColumns("users.id", "users.user_name", "users.password_hash", "users.is_enabled"),
  ...namedColumns("users.must_change_password", "users.created_at"),
];

const usersByName = prepareQuery<{ userName: string }, UserRow>((db, arg) =>
  db.selectFrom("users").select(userColumns).where("user_name", "=", arg("userName")),
);

const usersById = prepareQuery<{ userId: number }, UserRow>((db, arg) =>
  db.selectFrom("users").select(userColumns).where("id", "=", arg("userId")),
);

const usersByKey = prepareQuery<{ userName: string; keyBlob: string }, UserRow>((db, arg) =>
  db
    .selectFrom("users")
    .innerJoin("user_keys", "user_keys.user_id", "users.id")
    .select(userColumns)
    .where("users.user_name", "=", arg("userName"))
    .where("user_keys.key_blob", "=", arg("keyBlob"))
    .orderBy("users.id"),
);

type MembershipRow = Pick<RowOf<"memberships">, "companyId" | "roles">;

const membershipsOfUser = prepareQuery<{ userId: number }, MembershipRow>((db, arg) =>
  db
    .selectFrom("memberships")
    .select(namedColumns("company_id", "roles"))
    .where("user_id", "=", arg("userId")),
);

const codeOfCompany = prepareQuery<{ companyId: number }, { code: string }>((db, arg) =>
  db.selectFrom("companies").select("code").where("id", "=", arg("companyId")),
);

function toRoles(json: string): readonly Role[] {
  return (JSON.parse(json) as readonly string[]).filter(isRole);
}

/** Three small queries take a third of the time of the equivalent join: sign-in runs them at each request. */
async function readMemberships(
  read: Reader | Transaction,
  userId: number,
): Promise<readonly UserMembership[]> {
  const memberships: UserMembership[] = [];
  for (const { companyId, roles } of await membershipsOfUser.rows(read, { userId })) {
    const company = await codeOfCompany.find(read, { companyId });
    if (company !== undefined)
      memberships.push({ companyId, companyCode: company.code, roles: toRoles(roles) });
  }
  return memberships.sort((one, other) => (one.companyCode < other.companyCode ? -1 : 1));
}

async function readRecords(
  read: Reader | Transaction,
  rows: readonly UserRow[],
): Promise<readonly UserRecord[]> {
  const records: UserRecord[] = [];
  for (const row of rows) {
    const [isEnabled, mustChangePassword] = [row.isEnabled === 1, row.mustChangePassword === 1];
    const memberships = await readMemberships(read, row.id);
    records.push({ ...row, isEnabled, mustChangePassword, memberships });
  }
  return records;
}

/** Sign-in reads the same few users at each request: their records are cached until something is committed. */
const recordsByName = createAnswers<readonly UserRecord[]>();

async function askForUsers(read: Reader | Transaction, userName: string): Promise<readonly UserRecord[]> {
  const rows = await usersByName.rows(read, { userName });
  // Sorted here: there is nearly always one row, and the database is three times as quick without an order.
  return await readRecords(
    read,
    rows.toSorted((one, other) => one.id - other.id),
  );
}

/** All users of exactly that name, oldest first. */
export function findUsersByName(
  read: Reader | Transaction,
  userName: string,
): Promise<readonly UserRecord[]> {
  return recordsByName.get(read, userName, () => askForUsers(read, userName));
}

/** Reviews of open connections ask for the same few users each second. */
const recordsById = createAnswers<readonly UserRecord[]>();

async function askForUser(read: Reader | Transaction, userId: number): Promise<readonly UserRecord[]> {
  return await readRecords(read, await usersById.rows(read, { userId }));
}

export async function findUserById(
  read: Reader | Transaction,
  userId: number,
): Promise<UserRecord | undefined> {
  return (await recordsById.get(read, String(userId), () => askForUser(read, userId)))[0];
}

const keysById = createAnswers<readonly string[]>();

async function askForKeys(read: Reader, userId: number): Promise<readonly string[]> {
  const rows = await read.selectFrom("user_keys").select("key_blob").where("user_id", "=", userId).execute();
  return rows.map((row) => row.key_blob);
}

/** The public keys of the user, base64 of their SSH wire form. */
export async function findKeysOfUser(read: Reader, userId: number): Promise<readonly string[]> {
  return await keysById.get(read, String(userId), () => askForKeys(read, userId));
}

/** Users of exactly that name that hold the public key (base64 of its SSH wire form), oldest first. */
export async function findUsersByKey(
  read: Reader | Transaction,
  key: { userName: string; keyBlob: string },
): Promise<readonly UserRecord[]> {
  return await readRecords(read, await usersByKey.rows(read, key));
}

/** All users, by name; those of one name by age. */
export async function listUserRecords(read: Reader): Promise<readonly UserRecord[]> {
  const rows = await read
    .selectFrom("users")
    .select(userColumns)
    .orderBy("user_name")
    .orderBy("id")
    .execute();
  return await readRecords(read, rows);
}

export type UserKey = Omit<RowOf<"user_keys">, "id" | "createdAt">;

/** The public keys of all users, in the order they were added. */
export async function listUserKeys(read: Reader): Promise<readonly UserKey[]> {
  const columns = namedColumns("user_id", "key_type", "key_blob", "comment");
  return await read.selectFrom("user_keys").select(columns).orderBy("id").execute();
}

/** Those of one user, in the order they were added. */
export async function listKeysOf(read: Reader | Transaction, userId: number): Promise<readonly UserKey[]> {
  const columns = namedColumns("user_id", "key_type", "key_blob", "comment");
  return await read
    .selectFrom("user_keys")
    .select(columns)
    .where("user_id", "=", userId)
    .orderBy("id")
    .execute();
}

/** The values that decide whether and how a user may sign in. */
export type UserAccess = Pick<UserRecord, "passwordHash" | "isEnabled" | "mustChangePassword">;

export interface NewUserRecord extends Partial<Omit<UserAccess, "passwordHash">> {
  readonly userName: string;
  readonly passwordHash: string | null;
  readonly now: number;
}

function accessColumns({ passwordHash, isEnabled, mustChangePassword }: UserAccess) {
  return {
    password_hash: passwordHash,
    is_enabled: isEnabled ? 1 : 0,
    must_change_password: mustChangePassword ? 1 : 0,
  };
}

/** Adds a user without memberships, enabled unless it says otherwise; returns its id. */
export async function insertUser(tx: Transaction, user: NewUserRecord): Promise<number> {
  const { userName, now, ...access } = user;
  const columns = accessColumns({ isEnabled: true, mustChangePassword: false, ...access });
  const row = await tx
    .insertInto("users")
    .values({ user_name: userName, ...columns, created_at: now, updated_at: now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Changes whether and how the user may sign in; the next sign-in sees it. */
export async function saveUserAccess(
  tx: Transaction,
  change: { readonly userId: number; readonly access: UserAccess; readonly now: number },
): Promise<void> {
  await tx
    .updateTable("users")
    .set({ ...accessColumns(change.access), updated_at: change.now })
    .where("id", "=", change.userId)
    .execute();
}

/** Gives the user exactly these roles in the company. */
export async function saveMembership(
  tx: Transaction,
  membership: { companyId: number; userId: number; userName: string; roles: readonly Role[] },
): Promise<void> {
  const roles = JSON.stringify(membership.roles);
  await tx
    .insertInto("memberships")
    .values({
      company_id: membership.companyId,
      user_id: membership.userId,
      user_name: membership.userName,
      roles,
      profile: "{}",
    })
    .onConflict((conflict) => conflict.columns(["company_id", "user_id"]).doUpdateSet({ roles }))
    .execute();
}

type PasswordArguments = { readonly userId: number; readonly passwordHash: string; readonly now: number };

/** Sets the password, which then need not be changed any more. */
export const savePassword = prepareQuery<PasswordArguments>((db, arg) =>
  db
    .updateTable("users")
    .set({ password_hash: arg("passwordHash"), must_change_password: 0, updated_at: arg("now") })
    .where("id", "=", arg("userId")),
).run;

/** Enables or disables the user; says whether that changed anything. */
export async function saveEnabled(
  tx: Transaction,
  change: { userId: number; isEnabled: boolean; now: number },
): Promise<boolean> {
  const isEnabled = change.isEnabled ? 1 : 0;
  const result = await tx
    .updateTable("users")
    .set({ is_enabled: isEnabled, updated_at: change.now })
    .where("id", "=", change.userId)
    .where("is_enabled", "!=", isEnabled)
    .executeTakeFirst();
  return Number(result.numUpdatedRows) === 1;
}

/** Adds a public key; false when the user has it already. */
export const insertUserKey = prepareQuery<UserKey & { readonly now: number }>((db, arg) =>
  db
    .insertInto("user_keys")
    .values({ ...namedArguments(arg, "user_id", "key_type", "key_blob", "comment"), created_at: arg("now") })
    .onConflict((conflict) => conflict.columns(["user_id", "key_blob"]).doNothing()),
).changes;

/** Removes a public key; false when the user has none like it. */
export const deleteUserKey = prepareQuery<Pick<UserKey, "userId" | "keyBlob">>((db, arg) =>
  db.deleteFrom("user_keys").where("user_id", "=", arg("userId")).where("key_blob", "=", arg("keyBlob")),
).changes;
