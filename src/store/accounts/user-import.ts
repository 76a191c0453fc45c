/** Users as an import writes them: sign-in and membership at once. The other statements about users are in `users.ts`. */
import type { Role } from "../../domain/users/role.ts";
import type { DriverMarks, UserProfile } from "../../domain/users/user-profile.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

/** The columns that decide whether a user may sign in. */
export interface UserAccess {
  readonly passwordHash: string | null;
  readonly isEnabled: boolean;
  readonly mustChangePassword: boolean;
}

interface AccessArguments {
  readonly passwordHash: string | null;
  readonly isEnabled: number;
  readonly mustChangePassword: number;
  readonly now: number;
}

function accessArguments({ passwordHash, isEnabled, mustChangePassword }: UserAccess, now: number) {
  return {
    passwordHash,
    isEnabled: isEnabled ? 1 : 0,
    mustChangePassword: mustChangePassword ? 1 : 0,
    now,
  };
}

const insertUserQuery = prepareQuery<AccessArguments & { userName: string }, { id: number }>((db, arg) =>
  db
    .insertInto("users")
    .values({
      user_name: arg("userName"),
      password_hash: arg("passwordHash"),
      is_enabled: arg("isEnabled"),
      must_change_password: arg("mustChangePassword"),
      created_at: arg("now"),
      updated_at: arg("now"),
    })
    .returning("id"),
);

/** Adds a user without memberships and returns its id. */
export async function insertUserWithAccess(
  tx: Transaction,
  user: { readonly userName: string; readonly access: UserAccess; readonly now: number },
): Promise<number> {
  const { userName, access, now } = user;
  const [row] = (await insertUserQuery.run(tx, { userName, ...accessArguments(access, now) })).rows;
  if (row === undefined) throw new Error(`user ${userName} was not kept`);
  return row.id;
}

const saveAccessQuery = prepareQuery<AccessArguments & { userId: number }>((db, arg) =>
  db
    .updateTable("users")
    .set({
      password_hash: arg("passwordHash"),
      is_enabled: arg("isEnabled"),
      must_change_password: arg("mustChangePassword"),
      updated_at: arg("now"),
    })
    .where("id", "=", arg("userId")),
);

/** Changes whether and how the user may sign in; the next sign-in sees it. */
export async function saveUserAccess(
  tx: Transaction,
  change: { readonly userId: number; readonly access: UserAccess; readonly now: number },
): Promise<void> {
  const { userId, access, now } = change;
  await saveAccessQuery.run(tx, { userId, ...accessArguments(access, now) });
}

interface MemberKey {
  readonly companyId: number;
  readonly userId: number;
}

const profileOfMember = prepareQuery<MemberKey, { profile: string }>((db, arg) =>
  db
    .selectFrom("memberships")
    .select("profile")
    .where("company_id", "=", arg("companyId"))
    .where("user_id", "=", arg("userId")),
);

/** The profile that the company has sent of the user so far; empty when it is no member. */
export async function readUserProfile(
  read: Reader | Transaction,
  companyId: number,
  userId: number,
): Promise<UserProfile> {
  const row = (await profileOfMember.run(read, { companyId, userId })).rows[0];
  return row === undefined ? {} : (JSON.parse(row.profile) as UserProfile);
}

interface MemberArguments extends MemberKey {
  readonly userName: string;
  readonly roles: string;
  readonly profile: string;
  readonly email: string | null;
  readonly cdlNumber: string | null;
  readonly fullName: string | null;
  readonly unableToUseApp: number;
}

const saveMemberQuery = prepareQuery<MemberArguments>((db, arg) =>
  db
    .insertInto("memberships")
    .values({
      company_id: arg("companyId"),
      user_id: arg("userId"),
      user_name: arg("userName"),
      roles: arg("roles"),
      profile: arg("profile"),
      email: arg("email"),
      cdl_number: arg("cdlNumber"),
      full_name: arg("fullName"),
      unable_to_use_app: arg("unableToUseApp"),
    })
    .onConflict((conflict) =>
      conflict.columns(["company_id", "user_id"]).doUpdateSet((set) => ({
        roles: set.ref("excluded.roles"),
        profile: set.ref("excluded.profile"),
        email: set.ref("excluded.email"),
        cdl_number: set.ref("excluded.cdl_number"),
        full_name: set.ref("excluded.full_name"),
        unable_to_use_app: set.ref("excluded.unable_to_use_app"),
      })),
    ),
);

const removeCarriersQuery = prepareQuery<MemberKey>((db, arg) =>
  db
    .deleteFrom("user_carriers")
    .where("company_id", "=", arg("companyId"))
    .where("user_id", "=", arg("userId")),
);

const insertCarrierQuery = prepareQuery<MemberKey & { partnerCode: string }>((db, arg) =>
  db.insertInto("user_carriers").values({
    company_id: arg("companyId"),
    partner_code: arg("partnerCode"),
    user_id: arg("userId"),
  }),
);

export interface MemberRecord extends MemberKey {
  readonly userName: string;
  readonly roles: readonly Role[];
  readonly profile: UserProfile;
  /** Of the same profile. */
  readonly marks: DriverMarks;
}

/** Stores the user's roles, profile and carriers in the company, replacing those of before. */
export async function saveMember(tx: Transaction, member: MemberRecord): Promise<void> {
  const { companyId, userId, userName, marks } = member;
  const { carrierCodes, isUnableToUseApp, ...columns } = marks;
  await saveMemberQuery.run(tx, {
    companyId,
    userId,
    userName,
    roles: JSON.stringify(member.roles),
    profile: JSON.stringify(member.profile),
    ...columns,
    unableToUseApp: isUnableToUseApp ? 1 : 0,
  });
  await removeCarriersQuery.run(tx, { companyId, userId });
  for (const partnerCode of carrierCodes)
    await insertCarrierQuery.run(tx, { companyId, userId, partnerCode });
}
