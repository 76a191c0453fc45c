/**
 * Users as an administrator of the machine manages them. Every function can be run again and then changes nothing.
 * All of them reject with a `DropgateError` that names the fault and the remedy.
 */
import { isRole, type Role, roles as allRoles } from "../../domain/users/role.ts";
import {
  hasControlCharacter,
  isPasswordOfLength,
  isUserName,
  passwordForm,
  userNameForm,
} from "../../domain/users/user.ts";
import { DropgateError } from "../../lib/errors.ts";
import { hashPassword, isPasswordOf, newPassword } from "../../lib/password-hash.ts";
import { type Company, findCompany } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import {
  deleteUserKey,
  findUsersByName,
  insertUser,
  insertUserKey,
  listUserKeys,
  listUserRecords,
  saveEnabled,
  saveMembership,
  savePassword,
  type UserKey,
  type UserRecord,
} from "../../store/accounts/users.ts";
import type { ReadDeps, StoreDeps } from "../operation-deps.ts";
import { fingerprintOf, type PublicKey, parsePublicKey } from "../../sign-in/sign-in-key.ts";

export interface NewUser {
  readonly userName: string;
  readonly companyCode: string;
  readonly roles: readonly string[];
  readonly password?: string;
  /** A line of `authorized_keys`. */
  readonly publicKey?: string;
}

export interface AddedUser {
  readonly userName: string;
  readonly companyCode: string;
  readonly roles: readonly Role[];
  /** Whether there was no such user at all before. */
  readonly isNewUser: boolean;
  /** Whether the user was not a member of the company before. */
  readonly isNewMember: boolean;
  /** Whether anything was written. */
  readonly isChanged: boolean;
  /** The generated password, to be shown once. */
  readonly generatedPassword?: string;
}

/** Which user is meant; the company tells users of the same name apart. */
export interface UserReference {
  readonly userName: string;
  readonly companyCode?: string;
}

export interface ListedUser {
  readonly userName: string;
  readonly isEnabled: boolean;
  readonly mustChangePassword: boolean;
  readonly hasPassword: boolean;
  readonly createdAt: number;
  readonly memberships: readonly { readonly companyCode: string; readonly roles: readonly Role[] }[];
  readonly keys: readonly ListedKey[];
}

function refuse(message: string): never {
  throw new DropgateError("wrongType", message);
}

/** Rejects what is no user name with 902. */
export function checkUserName(userName: string): void {
  if (isUserName(userName)) return;
  refuse(`the user name ${JSON.stringify(userName.slice(0, 60))} is not valid: use ${userNameForm}`);
}

/** Throws for a password that is not of the form. */
export function checkPassword(password: string): void {
  if (!isPasswordOfLength(password)) refuse(`the password must have ${passwordForm}: choose another one`);
  if (hasControlCharacter(password)) {
    refuse("the password holds a control character, perhaps a line break in the middle: choose another one");
  }
}

/** Without repetitions, in the order of the list of all roles, so that equal sets are equal. */
function readRoles(names: readonly string[]): readonly Role[] {
  const unknown = names.find((name) => !isRole(name));
  if (unknown !== undefined)
    refuse(`${JSON.stringify(unknown)} is not a role: use one of ${allRoles.join(", ")}`);
  if (names.length === 0) {
    throw new DropgateError("missing", `no role is given: name at least one of ${allRoles.join(", ")}`);
  }
  return allRoles.filter((role) => names.includes(role));
}

async function requireCompany(read: Reader, code: string): Promise<Company> {
  const company = await findCompany(read, code);
  if (company !== undefined) return company;
  throw new DropgateError(
    "notRegistered",
    `there is no company ${code}: add it first with \`dropgate company add\``,
  );
}

function isMember(record: UserRecord, companyId: number): boolean {
  return record.memberships.some((membership) => membership.companyId === companyId);
}

function companiesOf(records: readonly UserRecord[]): string {
  return records.flatMap(({ memberships }) => memberships.map(({ companyCode }) => companyCode)).join(", ");
}

/** The member of the company, else the only user of that name, else undefined. */
function chooseRecord(records: readonly UserRecord[], company: Company): UserRecord | undefined {
  const member = records.find((record) => isMember(record, company.id));
  if (member !== undefined || records.length <= 1) return member ?? records[0];
  const [{ userName } = { userName: "" }] = records;
  refuse(
    `there are ${records.length} users ${userName} (in ${companiesOf(records)}), and which of them is to join ` +
      `${company.code} is not clear: choose another name`,
  );
}

interface Plan {
  readonly userName: string;
  readonly company: Company;
  readonly roles: readonly Role[];
  readonly key: PublicKey | undefined;
  /** Hash of the password to be set, undefined to leave the password alone. */
  readonly passwordHash: string | undefined;
  readonly now: number;
}

function checkSharedPassword(record: UserRecord, company: Company): void {
  if (record.passwordHash === null || isMember(record, company.id)) return;
  refuse(
    `the user ${record.userName} is there already (in ${companiesOf([record])}) with another password: leave the ` +
      "password out to let the same user into this company, or choose another name",
  );
}

/** The password to be set, if any. Hashing is slow, so it happens before the transaction. */
async function choosePassword(
  input: NewUser,
  record: UserRecord | undefined,
  company: Company,
): Promise<{ readonly password?: string; readonly isGenerated: boolean }> {
  const { password } = input;
  if (password === undefined) {
    const needsOne = record === undefined && input.publicKey === undefined;
    return needsOne ? { password: newPassword(), isGenerated: true } : { isGenerated: false };
  }
  checkPassword(password);
  if (record === undefined) return { password, isGenerated: false };
  if (await isPasswordOf(password, record.passwordHash)) return { isGenerated: false };
  checkSharedPassword(record, company);
  return { password, isGenerated: false };
}

async function joinCompany(tx: Transaction, plan: Plan, record: UserRecord): Promise<boolean> {
  const { company, roles, userName } = plan;
  const before = record.memberships.find(({ companyId }) => companyId === company.id);
  if (before !== undefined && before.roles.join() === roles.join()) return false;
  await saveMembership(tx, { companyId: company.id, userId: record.id, userName, roles });
  return true;
}

type Written = Pick<AddedUser, "isNewUser" | "isNewMember" | "isChanged">;

async function createUser(tx: Transaction, plan: Plan): Promise<number> {
  const { userName, company, roles, now } = plan;
  const userId = await insertUser(tx, { userName, passwordHash: plan.passwordHash ?? null, now });
  await saveMembership(tx, { companyId: company.id, userId, userName, roles });
  return userId;
}

async function writeUser(tx: Transaction, plan: Plan, expected: UserRecord | undefined): Promise<Written> {
  const { now } = plan;
  const record = chooseRecord(await findUsersByName(tx, plan.userName), plan.company);
  // The hash that the password was compared with must still be stored: another administrator may have been quicker.
  if (record?.id !== expected?.id || record?.passwordHash !== expected?.passwordHash) {
    throw new DropgateError(
      "overloaded",
      `the user ${plan.userName} was changed at the same time: try again`,
    );
  }
  const userId = record?.id ?? (await createUser(tx, plan));
  const hasNewKey = plan.key !== undefined && (await insertUserKey(tx, { userId, now, ...plan.key }));
  if (record === undefined) return { isNewUser: true, isNewMember: true, isChanged: true };
  const hasNewRoles = await joinCompany(tx, plan, record);
  const { passwordHash } = plan;
  if (passwordHash !== undefined) await savePassword(tx, { userId, passwordHash, now });
  return {
    isNewUser: false,
    isNewMember: !isMember(record, plan.company.id),
    isChanged: hasNewKey || hasNewRoles || passwordHash !== undefined,
  };
}

/**
 * Adds a user to a company, or brings the one that is there up to what is given: exactly these roles, this password
 * (left alone when none is given), this key besides those that are there. A user of that name in another company is the
 * same user and joins this one too. A new user without password and key gets a generated password.
 */
export async function addUser(deps: StoreDeps, input: NewUser): Promise<AddedUser> {
  const { userName } = input;
  checkUserName(userName);
  const roles = readRoles(input.roles);
  const key = input.publicKey === undefined ? undefined : parsePublicKey(input.publicKey);
  const company = await requireCompany(deps.store.read, input.companyCode);
  const record = chooseRecord(await findUsersByName(deps.store.read, userName), company);
  const { password, isGenerated } = await choosePassword(input, record, company);
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  const plan = { userName, company, roles, key, passwordHash, now: deps.clock.now() };
  const written = await deps.store.write("site", (tx) => writeUser(tx, plan, record));
  const generated = isGenerated && password !== undefined ? { generatedPassword: password } : {};
  return { userName, companyCode: company.code, roles, ...written, ...generated };
}

/** All users with their companies, roles and keys, by name. */
export async function listUsers(deps: ReadDeps): Promise<readonly ListedUser[]> {
  const keys = new Map<number, UserKey[]>();
  for (const key of await listUserKeys(deps.store.read)) {
    keys.set(key.userId, [...(keys.get(key.userId) ?? []), key]);
  }
  const records = await listUserRecords(deps.store.read);
  return records.map((record) => ({
    userName: record.userName,
    isEnabled: record.isEnabled,
    mustChangePassword: record.mustChangePassword,
    hasPassword: record.passwordHash !== null,
    createdAt: record.createdAt,
    memberships: record.memberships.map(({ companyCode, roles }) => ({ companyCode, roles })),
    keys: (keys.get(record.id) ?? []).map(toListedKey),
  }));
}

async function requireUser(tx: Reader | Transaction, who: UserReference): Promise<UserRecord> {
  const { userName, companyCode } = who;
  const named = await findUsersByName(tx, userName);
  const company = companyCode === undefined ? undefined : await requireCompany(tx, companyCode);
  const records = company === undefined ? named : named.filter((record) => isMember(record, company.id));
  const [record, ...others] = records;
  if (record === undefined) {
    const place = company === undefined ? "" : ` in ${company.code}`;
    throw new DropgateError(
      "missing",
      `there is no user ${userName}${place}: \`dropgate user list\` shows them all`,
    );
  }
  if (others.length > 0) {
    refuse(
      `there are ${records.length} users ${userName} (in ${companiesOf(records)}): name the company too`,
    );
  }
  return record;
}

/**
 * Sets the password, a generated one when none is given (then it is in the answer, to be shown once). It need not be
 * changed at the next sign-in any more.
 */
export async function setPassword(
  deps: StoreDeps,
  who: UserReference & { readonly password?: string },
): Promise<{ readonly generatedPassword?: string }> {
  const password = who.password ?? newPassword();
  checkPassword(password);
  const passwordHash = await hashPassword(password);
  await deps.store.write("site", async (tx) => {
    const { id } = await requireUser(tx, who);
    await savePassword(tx, { userId: id, passwordHash, now: deps.clock.now() });
  });
  return who.password === undefined ? { generatedPassword: password } : {};
}

/** Lets the user sign in again, or no more; says whether that changed anything. */
export async function setEnabled(
  deps: StoreDeps,
  who: UserReference,
  isEnabled: boolean,
): Promise<{ readonly isChanged: boolean }> {
  return await deps.store.write("site", async (tx) => {
    const { id } = await requireUser(tx, who);
    return { isChanged: await saveEnabled(tx, { userId: id, isEnabled, now: deps.clock.now() }) };
  });
}

/** Adds a public key (a line of `authorized_keys`) for SFTP; `isNew` is false when the user has it already. */
export async function addUserKey(
  deps: StoreDeps,
  who: UserReference & { readonly publicKey: string },
): Promise<{ readonly fingerprint: string; readonly isNew: boolean }> {
  const key = parsePublicKey(who.publicKey);
  const isNew = await deps.store.write("site", async (tx) => {
    const { id } = await requireUser(tx, who);
    return await insertUserKey(tx, { userId: id, now: deps.clock.now(), ...key });
  });
  return { fingerprint: fingerprintOf(key.keyBlob), isNew };
}

export interface ListedKey {
  readonly keyType: string;
  readonly fingerprint: string;
  readonly comment: string;
}

async function keysOf(read: Reader, userId: number): Promise<readonly UserKey[]> {
  return (await listUserKeys(read)).filter((key) => key.userId === userId);
}

function toListedKey({ keyType, keyBlob, comment }: UserKey): ListedKey {
  return { keyType, fingerprint: fingerprintOf(keyBlob), comment };
}

/** The public keys of one user, in the order they were added. */
export async function listKeysOfUser(deps: ReadDeps, who: UserReference): Promise<readonly ListedKey[]> {
  const { id } = await requireUser(deps.store.read, who);
  return (await keysOf(deps.store.read, id)).map(toListedKey);
}

/**
 * Removes the public key of that fingerprint, as `ssh-keygen -l` shows it, with or without `SHA256:`. It signs in no
 * more from then on; connections that are open stay. `canSignIn` is false when the user is left without password and key.
 */
export async function removeUserKey(
  deps: StoreDeps,
  who: UserReference & { readonly fingerprint: string },
): Promise<{ readonly fingerprint: string; readonly canSignIn: boolean }> {
  const fingerprint = `SHA256:${who.fingerprint
    .trim()
    .replace(/^SHA256:/, "")
    .replace(/=+$/, "")}`;
  return await deps.store.write("site", async (tx) => {
    const { id, passwordHash, userName } = await requireUser(tx, who);
    const keys = await keysOf(tx, id);
    const key = keys.find(({ keyBlob }) => fingerprintOf(keyBlob) === fingerprint);
    if (key === undefined || !(await deleteUserKey(tx, key))) {
      throw new DropgateError(
        "missing",
        `the user ${userName} has no key ${fingerprint}: \`dropgate user keys ${userName}\` shows all of them`,
      );
    }
    return { fingerprint, canSignIn: passwordHash !== null || keys.length > 1 };
  });
}
