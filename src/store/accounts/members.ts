/** Who belongs to a company, as its administrators see it. */
import { type SqlBool, sql } from "kysely";
import type { Role } from "../../domain/users/role.ts";
import type { Reader } from "../database/database.ts";
import { beginsWith, likePattern } from "../database/searches/name-pattern.ts";
import type { Transaction } from "../database/groups/group-commit.ts";

function hasRole(role: Role) {
  return sql<SqlBool>`m.roles like ${`%"${role}"%`}`;
}

/** How many others than this user administer the company and can sign in to the console. */
export async function countAdministrators(
  read: Reader | Transaction,
  companyId: number,
  otherThan: number,
): Promise<number> {
  const row = await read
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("m.company_id", "=", companyId)
    .where("m.user_id", "<>", otherThan)
    .where(hasRole("MemberAdmin"))
    .where("u.is_enabled", "=", 1)
    .where("u.password_hash", "is not", null)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

export interface PeopleCount {
  readonly members: number;
  /** Of these, who administer the company and can sign in to the console. */
  readonly administrators: number;
}

/** How many users belong to each of the companies, by its id; one without any is not in it. */
export async function countPeople(
  read: Reader,
  companyIds: readonly number[],
): Promise<ReadonlyMap<number, PeopleCount>> {
  const administers = sql`${hasRole("MemberAdmin")} and u.is_enabled = 1 and u.password_hash is not null`;
  const rows = await read
    .selectFrom("memberships as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select(({ fn }) => [
      "m.company_id",
      fn.countAll<number>().as("members"),
      sql<number>`sum(case when ${administers} then 1 else 0 end)`.as("administrators"),
    ])
    .where("m.company_id", "in", [...companyIds])
    .groupBy("m.company_id")
    .execute();
  return new Map(
    rows.map(({ company_id, members, administrators }) => [
      company_id,
      { members: Number(members), administrators: Number(administrators) },
    ]),
  );
}

/** The companies in which another user has the same name. */
export async function listCompaniesOfNamesakes(
  read: Reader,
  { userId, userName }: { readonly userId: number; readonly userName: string },
): Promise<readonly number[]> {
  const rows = await read
    .selectFrom("memberships")
    .select("company_id")
    .where("user_name", "=", userName)
    .where("user_id", "<>", userId)
    .execute();
  return rows.map((row) => row.company_id);
}

/** Takes the user out of the company: its roles there, its profile and its carriers. */
export async function deleteMembership(
  tx: Transaction,
  { companyId, userId }: { readonly companyId: number; readonly userId: number },
): Promise<void> {
  for (const table of ["user_carriers", "memberships"] as const)
    await tx.deleteFrom(table).where("company_id", "=", companyId).where("user_id", "=", userId).execute();
}

export interface MembersAsked {
  /** Undefined for those of all companies, and for users of none. */
  readonly companyIds: readonly number[] | undefined;
  /** A part of the name. */
  readonly name?: string | undefined;
  /** The name begins like one of these, letters as they are. */
  readonly beginnings?: readonly string[];
  /** Behind this user, in the order of names. */
  readonly behind?: { readonly userName: string; readonly id: number } | undefined;
  readonly limit: number;
}

/** Ids and names of users, in the order of their names. */
export async function listMembers(
  read: Reader,
  { companyIds, name, beginnings, behind, limit }: MembersAsked,
): Promise<readonly { readonly id: number; readonly userName: string }[]> {
  let query = read.selectFrom("users as u").select(["u.id", "u.user_name as userName"]);
  if (companyIds !== undefined)
    query = query.where("u.id", "in", (eb) =>
      eb
        .selectFrom("memberships")
        .select("user_id")
        .where("company_id", "in", [...companyIds]),
    );
  if (name !== undefined)
    query = query.where(sql<SqlBool>`lower(u.user_name) like lower(${`%${likePattern(name)}%`}) escape '\\'`);
  if (beginnings !== undefined)
    query = query.where((eb) => eb.or(beginnings.map((text) => beginsWith(sql.ref("u.user_name"), text))));
  if (behind !== undefined)
    query = query.where((eb) =>
      eb(eb.refTuple("u.user_name", "u.id"), ">", eb.tuple(behind.userName, behind.id)),
    );
  return await query.orderBy("u.user_name").orderBy("u.id").limit(limit).execute();
}
