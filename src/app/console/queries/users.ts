/** Users of the companies that who asks administers; of all for operators. Nothing of other companies is told. */
import { isSameCompanyCode } from "../../../domain/users/company-code.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  ShownCompany,
  ShownKey,
  ShownUser,
  UserDetail,
  UsersAsked,
  UsersFound,
} from "../../../endpoints/http/console/pages/users/users-view.ts";
import { fingerprintOf } from "../../../sign-in/sign-in-key.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import { countPeople, listCompaniesOfNamesakes, listMembers } from "../../../store/accounts/members.ts";
import { listAddressesOf } from "../../../store/accounts/sign-in-addresses.ts";
import { findUserById, listKeysOf, type UserRecord } from "../../../store/accounts/users.ts";
import type { Reader } from "../../../store/database/database.ts";
import type { QueryContext } from "../query-context.ts";

const noPeople = { members: 0, administrators: 0 };

function isOf({ memberships }: UserRecord, { companies, isOperator }: Scope): boolean {
  if (isOperator) return true;
  return memberships.some(({ companyId }) => companies.some(({ id }) => id === companyId));
}

async function shownUser(read: Reader, record: UserRecord, scope: Scope): Promise<ShownUser> {
  const { id: userId, userName, isEnabled, mustChangePassword, passwordHash, memberships } = record;
  const seen = scope.isOperator
    ? memberships
    : memberships.filter(({ companyId }) => scope.companies.some(({ id }) => id === companyId));
  const [last] = await listAddressesOf(read, userId, 1);
  return {
    ...{ userId, userName, isEnabled, mustChangePassword, memberships: seen },
    hasPassword: passwordHash !== null,
    keyCount: (await listKeysOf(read, userId)).length,
    lastSeenAt: last?.lastAt,
  };
}

async function shownCompanies(read: Reader, { companies, isOperator }: Scope): Promise<ShownCompany[]> {
  const all = await listCompanies(read);
  const own = isOperator ? all : all.filter(({ id }) => companies.some((company) => company.id === id));
  const people = await countPeople(
    read,
    own.map(({ id }) => id),
  );
  return own.map(({ id, code, createdAt, profile }) => ({
    ...{ id, code, createdAt, name: profile.name },
    ...(people.get(id) ?? noPeople),
  }));
}

/** Ids of the companies that are asked about; undefined for all, with users of none. */
function askedIds(
  { isOperator }: Scope,
  companies: readonly ShownCompany[],
  code: string | undefined,
): readonly number[] | undefined {
  if (code === undefined && isOperator) return undefined;
  const asked =
    code === undefined ? companies : companies.filter((company) => isSameCompanyCode(company.code, code));
  return asked.map(({ id }) => id);
}

export async function queryUsers(
  { read }: QueryContext,
  scope: Scope,
  { name, companyCode, behind, limit }: UsersAsked,
): Promise<UsersFound> {
  const companies = await shownCompanies(read, scope);
  const companyIds = askedIds(scope, companies, companyCode);
  const rows = await listMembers(read, { companyIds, name, behind, limit: limit + 1 });
  const users: ShownUser[] = [];
  for (const { id } of rows.slice(0, limit)) {
    const record = await findUserById(read, id);
    if (record !== undefined) users.push(await shownUser(read, record, scope));
  }
  const next = rows.length > limit ? rows[limit - 1] : undefined;
  return { users, next, companies };
}

const shownAddresses = 50;

/** Undefined for what is not there, and for users of other companies alike. */
export async function queryUserDetail(
  { read }: QueryContext,
  scope: Scope,
  { userId }: { readonly userId: number },
): Promise<UserDetail | undefined> {
  const record = await findUserById(read, userId);
  if (record === undefined || !isOf(record, scope)) return undefined;
  const keys: ShownKey[] = (await listKeysOf(read, userId)).map(({ keyType, keyBlob, comment }) => ({
    ...{ keyType, comment },
    fingerprint: fingerprintOf(keyBlob),
  }));
  const seenFrom = await listAddressesOf(read, userId, shownAddresses);
  const administered = new Set(scope.companies.map(({ id }) => id));
  return {
    ...(await shownUser(read, record, scope)),
    ...{ createdAt: record.createdAt, keys },
    maySetSignIn:
      scope.isOperator ||
      (record.memberships.length === 1 &&
        record.memberships.every(({ companyId }) => administered.has(companyId))),
    seenFrom: seenFrom.map(({ peer, lastAt }) => ({ address: peer, lastAt })),
    namesakesIn: await listCompaniesOfNamesakes(read, { userId, userName: record.userName }),
  };
}
