/** Memberships of users as an import writes them: roles, profile and carriers. All else about users is in `users.ts`. */
import type { Role } from "../../domain/users/role.ts";
import type { DriverMarks, UserProfile } from "../../domain/users/user-profile.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import type { RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

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
  const row = await profileOfMember.find(read, { companyId, userId });
  return row === undefined ? {} : (JSON.parse(row.profile) as UserProfile);
}

type MemberArguments = RowOf<"memberships">;

const saveMemberQuery = prepareQuery<MemberArguments>((db, arg) => {
  const sent = {
    roles: arg("roles"),
    profile: arg("profile"),
    email: arg("email"),
    cdl_number: arg("cdlNumber"),
    full_name: arg("fullName"),
    unable_to_use_app: arg("unableToUseApp"),
  };
  return db
    .insertInto("memberships")
    .values({ company_id: arg("companyId"), user_id: arg("userId"), user_name: arg("userName"), ...sent })
    .onConflict((conflict) => conflict.columns(["company_id", "user_id"]).doUpdateSet(excluded(sent)));
});

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
  const { carrierCodes, isUnableToUseApp, ...named } = marks;
  const [roles, profile] = [JSON.stringify(member.roles), JSON.stringify(member.profile)];
  const unableToUseApp = isUnableToUseApp ? 1 : 0;
  await saveMemberQuery.run(tx, { companyId, userId, userName, roles, profile, ...named, unableToUseApp });
  await removeCarriersQuery.run(tx, { companyId, userId });
  for (const partnerCode of carrierCodes)
    await insertCarrierQuery.run(tx, { companyId, userId, partnerCode });
}
