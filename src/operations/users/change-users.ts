/**
 * Users as an administrator changes them in the console, one thing at a time, each within the unit of work that also writes
 * it to the audit. An administrator of a company (`within`) sees and changes the user there alone; the sign-in of a user who
 * belongs to other companies too is changed by operators (specification/accounts.md#users).
 */
import { isNamedOperator } from "../../domain/users/operator.ts";
import type { Role } from "../../domain/users/role.ts";
import { DropgateError } from "../../lib/errors.ts";
import { fingerprintOf, type PublicKey } from "../../sign-in/sign-in-key.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { countAdministrators, deleteMembership } from "../../store/accounts/members.ts";
import {
  deleteUserKey,
  findUserById,
  findUsersByName,
  insertUser,
  insertUserKey,
  listKeysOf,
  saveEnabled,
  saveMembership,
  saveUserAccess,
  type UserRecord,
} from "../../store/accounts/users.ts";

/** Whose administrator asks: of one company, or an operator. */
export interface UserChange {
  readonly userId: number;
  readonly within: number | undefined;
  readonly now: number;
}

const notThere = "there is no such user, or not in a company that you administer";
const ofOthers =
  "the user belongs to other companies too: an operator changes password, keys and whether the user may sign in";

function isIn({ memberships }: UserRecord, companyId: number): boolean {
  return memberships.some((membership) => membership.companyId === companyId);
}

/** The user, as far as who asks may see it. Rejects with 904 when there is none. */
export async function requireUser(
  tx: Transaction | Reader,
  { userId, within }: Pick<UserChange, "userId" | "within">,
): Promise<UserRecord> {
  const record = await findUserById(tx, userId);
  if (record === undefined || (within !== undefined && !isIn(record, within)))
    throw new DropgateError("missing", notThere);
  return record;
}

/** Whether who asks may change how the user signs in. */
function maySetSignIn({ memberships }: UserRecord, within: number | undefined): boolean {
  return within === undefined || memberships.every(({ companyId }) => companyId === within);
}

/** The same, for what changes how it signs in. Rejects with 932 for a user of other companies too. */
async function requireOwnUser(tx: Transaction, change: UserChange): Promise<UserRecord> {
  const record = await requireUser(tx, change);
  if (!maySetSignIn(record, change.within)) throw new DropgateError("roleMissing", ofOthers);
  return record;
}

/** Who may not be lost by mistake: the last one who administers a company, the last operator, and who asks. */
export interface Loss {
  /** Codes of companies that nobody administers afterwards. */
  readonly companies: readonly string[];
  readonly isLastOperator: boolean;
  readonly isOneself: boolean;
}

export function isLoss({ companies, isLastOperator, isOneself }: Loss): boolean {
  return companies.length > 0 || isLastOperator || isOneself;
}

export interface LossAsked {
  /** Of the companies in which the user loses what it may; of all of them when it is disabled. */
  readonly companyIds: readonly number[];
  /** `console.operators`, as NAME@COMPANY. */
  readonly operators: readonly string[];
  readonly askedBy: number;
}

function canSignIn({ isEnabled, passwordHash }: UserRecord): boolean {
  return isEnabled && passwordHash !== null;
}

/** Whether no operator is left who could sign in, once the user has lost those companies. */
async function isLastOperatorOf(tx: Transaction, record: UserRecord, asked: LossAsked): Promise<boolean> {
  const { operators, companyIds } = asked;
  const rest = record.memberships.filter(({ companyId }) => !companyIds.includes(companyId));
  const isLost =
    isNamedOperator(operators, record) && !isNamedOperator(operators, { ...record, memberships: rest });
  if (!isLost || !canSignIn(record)) return false;
  for (const operator of operators) {
    const named = await findUsersByName(tx, operator.slice(0, operator.lastIndexOf("@")));
    const isAnother = (other: UserRecord) =>
      other.id !== record.id && canSignIn(other) && isNamedOperator([operator], other);
    if (named.some(isAnother)) return false;
  }
  return true;
}

/** What would be lost if the user could do nothing more in those companies. */
export async function lossOf(tx: Transaction, record: UserRecord, asked: LossAsked): Promise<Loss> {
  const companies: string[] = [];
  for (const { companyId, companyCode, roles } of record.memberships) {
    if (!asked.companyIds.includes(companyId) || !roles.includes("MemberAdmin") || !canSignIn(record))
      continue;
    if ((await countAdministrators(tx, companyId, record.id)) === 0) companies.push(companyCode);
  }
  const isLastOperator = await isLastOperatorOf(tx, record, asked);
  return { companies, isLastOperator, isOneself: record.id === asked.askedBy };
}

/**
 * Gives the user exactly these roles in the company; none takes it out of the company. `before` is what who asks has seen:
 * other roles by now are refused with 999.
 */
export async function changeRoles(
  tx: Transaction,
  change: UserChange,
  given: { readonly companyId: number; readonly roles: readonly Role[]; readonly before: readonly Role[] },
): Promise<UserRecord> {
  const record = await requireUser(tx, change);
  const { companyId, roles, before } = given;
  const current = record.memberships.find((membership) => membership.companyId === companyId)?.roles ?? [];
  if (current.join() !== before.join())
    throw new DropgateError("overloaded", "the roles were changed meanwhile: look at the user again");
  const { id: userId, userName } = record;
  if (roles.length === 0) await deleteMembership(tx, { companyId, userId });
  else await saveMembership(tx, { companyId, userId, userName, roles });
  return record;
}

/** Lets the user sign in, or no more. */
export async function changeEnabled(
  tx: Transaction,
  change: UserChange,
  isEnabled: boolean,
): Promise<UserRecord> {
  const record = await requireOwnUser(tx, change);
  await saveEnabled(tx, { userId: record.id, isEnabled, now: change.now });
  return record;
}

/** Sets the password of that hash; `mustChange`: the user has to set another one before anything else. */
export async function changePassword(
  tx: Transaction,
  change: UserChange,
  { passwordHash, mustChange }: { readonly passwordHash: string; readonly mustChange: boolean },
): Promise<UserRecord> {
  const record = await requireOwnUser(tx, change);
  const access = { passwordHash, isEnabled: record.isEnabled, mustChangePassword: mustChange };
  await saveUserAccess(tx, { userId: record.id, access, now: change.now });
  return record;
}

/** Adds a public key; says whether it is new. */
export async function addKey(
  tx: Transaction,
  change: UserChange,
  key: PublicKey,
): Promise<{ readonly record: UserRecord; readonly isNew: boolean }> {
  const record = await requireOwnUser(tx, change);
  return { record, isNew: await insertUserKey(tx, { userId: record.id, now: change.now, ...key }) };
}

/** Removes the key of that fingerprint. Rejects with 904 when the user has none like it. */
export async function removeKey(
  tx: Transaction,
  change: UserChange,
  fingerprint: string,
): Promise<UserRecord> {
  const record = await requireOwnUser(tx, change);
  const key = (await listKeysOf(tx, record.id)).find(({ keyBlob }) => fingerprintOf(keyBlob) === fingerprint);
  if (key === undefined || !(await deleteUserKey(tx, key)))
    throw new DropgateError("missing", "the user has no such key any more: look at the user again");
  return record;
}

export interface AddedMember {
  readonly userName: string;
  readonly companyId: number;
  readonly roles: readonly Role[];
  /** Of the password that a new user gets. */
  readonly passwordHash: string | undefined;
  readonly mustChange: boolean;
  readonly key: PublicKey | undefined;
}

/**
 * Adds a user to the company: a new one, even when another company has one of that name, who may be somebody else. Rejects
 * with 902 when the company has one.
 */
export async function addMember(tx: Transaction, added: AddedMember, now: number): Promise<number> {
  const { userName, companyId, roles, passwordHash = null, mustChange, key } = added;
  const named = await findUsersByName(tx, userName);
  if (named.some((record) => isIn(record, companyId)))
    throw new DropgateError("wrongType", `the company has a user ${userName} already: choose another name`);
  const userId = await insertUser(tx, { userName, passwordHash, mustChangePassword: mustChange, now });
  await saveMembership(tx, { companyId, userId, userName, roles });
  if (key !== undefined) await insertUserKey(tx, { userId, now, ...key });
  return userId;
}
