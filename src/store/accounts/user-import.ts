/** Memberships of users as an import writes them: roles, profile and carriers. All else about users is in `users.ts`. */
import type { Role } from "../../domain/users/role.ts";
import type { DriverMarks, UserProfile } from "../../domain/users/user-profile.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

type MemberKey = Pick<RowOf<"memberships">, "companyId" | "userId">;

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
  const row = await profileOfMember.find(read, { companyId, userId });
  return row === undefined ? {} : (JSON.parse(row.profile) as UserProfile);
}

const saveMemberQuery = prepareQuery<RowOf<"memberships">>((db, arg) => {
  const who = namedArguments(arg, "company_id", "user_id", "user_name");
  const marks = namedArguments(arg, "email", "cdl_number", "full_name", "unable_to_use_app");
  const sent = { ...namedArguments(arg, "roles", "profile"), ...marks };
  return db
    .insertInto("memberships")
    .values({ ...who, ...sent })
    .onConflict((conflict) => conflict.columns(["company_id", "user_id"]).doUpdateSet(excluded(sent)));
});

const removeCarriersQuery = prepareQuery<MemberKey>((db, arg) =>
  db
    .deleteFrom("user_carriers")
    .where("company_id", "=", arg("companyId"))
    .where("user_id", "=", arg("userId")),
);

const insertCarrierQuery = prepareQuery<RowOf<"user_carriers">>((db, arg) =>
  db.insertInto("user_carriers").values(namedArguments(arg, "company_id", "partner_code", "user_id")),
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
  const { carrierCodes, isUnableToUseApp, ...named } = marks;
  const [roles, profile] = [JSON.stringify(member.roles), JSON.stringify(member.profile)];
  const unableToUseApp = isUnableToUseApp ? 1 : 0;
  await saveMemberQuery.run(tx, { companyId, userId, userName, roles, profile, ...named, unableToUseApp });
  await removeCarriersQuery.run(tx, { companyId, userId });
  for (const partnerCode of carrierCodes)
    await insertCarrierQuery.run(tx, { companyId, userId, partnerCode });
}
