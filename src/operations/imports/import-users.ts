/**
 * Creates and updates users of a company, all or nothing (specification/accounts.md#users).
 *
 *   read -> may the caller? -> hash passwords -> transaction: may the caller? -> write
 *
 * Hashing takes long, so it happens outside of the transaction, which then checks again what the hashing was based on.
 * Once begun, an import goes on to the writing even when nobody waits for the answer any more: an impatient client would
 * send all of it again. The queue bounds how many imports hash at a time.
 *
 * A user that belongs to other companies too has one password there as well: an import of one company changes what the
 * user is there, but not whether or how it signs in.
 */
import { createCanonicalForm } from "../../domain/fields/canonical-form.ts";
import { type Role, roles as allRoles } from "../../domain/users/role.ts";
import { rolesOf, User, validateUser } from "../../domain/users/user.ts";
import { driverMarksOf, mergedProfile } from "../../domain/users/user-profile.ts";
import { DropgateError, type Fault } from "../../lib/errors.ts";
import { hashPassword, isPasswordOf } from "../../lib/password-hash.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { readUserProfile, saveMember } from "../../store/accounts/user-import.ts";
import {
  findUsersByName,
  insertUser,
  saveUserAccess,
  type UserAccess,
  type UserRecord,
} from "../../store/accounts/users.ts";
import { inTurns, type PreparationDeps, type Prepare, preparedEntries } from "./import-preparation.ts";
import { type ImportInput, type ImportKind, readImport } from "./import-request.ts";
import type { StoreDeps } from "../operation-deps.ts";
import { refusal } from "../request-body.ts";
import type { HashQueue, HashQueueLimits } from "../../sign-in/sign-in-hash-queue.ts";
import { portionsOf } from "../../lib/portions.ts";

export interface UserImportDeps extends PreparationDeps, StoreDeps {
  /** One for all imports of the process: it bounds how many passwords are hashed at a time. */
  readonly hashQueue: HashQueue;
}

export interface UserImport extends ImportInput {
  /** Those of the caller in the company: `MemberAdmin` may do more than `DI_Dispatcher`. */
  readonly callerRoles: readonly Role[];
}

/** Two at a time leave threads for files and for sign-in. */
export const userImportHashing: HashQueueLimits = { maxRunning: 2, maxWaiting: 64, maxWaitingStrangers: 64 };

/** Most users with a password in one import: one takes a tenth of a second or more, and clients do not wait for ever. */
export const maxUsersWithPassword = 500;

const userImport: ImportKind<User> = {
  list: "users",
  schema: User,
  normalise: createCanonicalForm(User),
  validate: validateUser,
};

/** The users of an import, checked. */
export const prepareUsers: Prepare<"users"> = (input) => readImport(userImport, input);

interface Sent {
  readonly user: User;
  /** Where the user stands in the request. */
  readonly path: string;
}

/** Of two users of one name the later stays. */
function sentUsers(users: readonly User[]): readonly Sent[] {
  const byName = new Map<string, Sent>();
  for (const [index, user] of users.entries()) byName.set(user.userName, { user, path: `users[${index}]` });
  return [...byName.values()];
}

/** Throws 909 for more passwords than can be hashed while the client waits. */
function checkPasswordCount(users: readonly Sent[]): void {
  const count = users.filter(({ user }) => user.password !== undefined).length;
  if (count <= maxUsersWithPassword) return;
  const limit = `more than the limit of ${maxUsersWithPassword} in one import`;
  const remedy = "Send them in several requests; users without a password may come along.";
  const message = `users has ${count} entries with a password, ${limit}. ${remedy}`;
  throw refusal([{ code: "tooLarge", path: userImport.list, message }]);
}

/** The user of that name in the company. One of another company may be somebody else. */
async function findMember(
  read: Reader | Transaction,
  companyId: number,
  userName: string,
): Promise<UserRecord | undefined> {
  const records = await findUsersByName(read, userName);
  return records.find(({ memberships }) => memberships.some((one) => one.companyId === companyId));
}

function rolesIn(record: UserRecord | undefined, companyId: number): readonly Role[] {
  return record?.memberships.find((one) => one.companyId === companyId)?.roles ?? [];
}

function notAllowed(path: string, why: string): Fault {
  return { code: "roleMissing", path, message: `${path} ${why}` };
}

/** A dispatcher cannot make anybody an administrator of a company, nor change one. */
function faultsOfDispatcher({ user, path }: Sent, rolesBefore: readonly Role[]): Fault[] {
  const remedy = "Have a MemberAdmin send it.";
  const faults: Fault[] = [];
  if (rolesOf(user)?.includes("MemberAdmin"))
    faults.push(
      notAllowed(`${path}.userRoles`, `grants MemberAdmin, which a DI_Dispatcher may not. ${remedy}`),
    );
  if (rolesBefore.includes("MemberAdmin"))
    faults.push(notAllowed(path, `is a MemberAdmin, whom a DI_Dispatcher may not change. ${remedy}`));
  return faults;
}

/** A password is refused even if it is the right one: the answer would tell guesses of another company's password. */
function faultsOfSharedUser({ user, path }: Sent, record: UserRecord): Fault[] {
  const changed = {
    password: user.password !== undefined,
    enabled: user.enabled !== undefined && user.enabled !== record.isEnabled,
    forcePwdChg: user.forcePwdChg !== undefined && user.forcePwdChg !== record.mustChangePassword,
  };
  const why = "cannot be changed here: the user belongs to other companies too.";
  const remedy = "Leave it out, and have the operator of the service change it.";
  return Object.entries(changed)
    .filter(([, isChanged]) => isChanged)
    .map(([name]) => notAllowed(`${path}.${name}`, `${why} ${remedy}`));
}

function faultsOfUser(input: UserImport, sent: Sent, record: UserRecord | undefined): Fault[] {
  const isAdmin = input.callerRoles.includes("MemberAdmin");
  const dispatched = isAdmin ? [] : faultsOfDispatcher(sent, rolesIn(record, input.companyId));
  const isShared = record !== undefined && record.memberships.length > 1;
  return isShared ? [...dispatched, ...faultsOfSharedUser(sent, record)] : dispatched;
}

interface Found extends Sent {
  readonly record: UserRecord | undefined;
}

async function withRecord<Entry extends Sent>(
  read: Reader | Transaction,
  { companyId }: UserImport,
  sent: Entry,
): Promise<Entry & Found> {
  return { ...sent, record: await findMember(read, companyId, sent.user.userName) };
}

/** Throws 932 with all faults when the caller may not change one of the users so. */
function checkAllowed(input: UserImport, found: readonly Found[]): void {
  const faults = found.flatMap((one) => faultsOfUser(input, one, one.record));
  if (faults.length > 0) throw refusal(faults);
}

interface Prepared extends Sent {
  /** What the password was compared with; undefined when there was no such user. */
  readonly expected: Pick<UserRecord, "id" | "passwordHash"> | undefined;
  /** Hash of the password to be set, undefined to leave the password alone. */
  readonly newHash: string | undefined;
}

async function hashUnlessKnown(password: string, known: string | null): Promise<string | undefined> {
  if (known !== null && (await isPasswordOf(password, known))) return undefined;
  return await hashPassword(password);
}

async function prepare(queue: HashQueue, { record, ...sent }: Found): Promise<Prepared> {
  const { password } = sent.user;
  if (password === undefined) return { ...sent, expected: record, newHash: undefined };
  const hashing = queue.run(true, () => hashUnlessKnown(password, record?.passwordHash ?? null));
  if (hashing === undefined)
    throw new DropgateError("overloaded", "too many users are imported at the moment: try again later");
  return { ...sent, expected: record, newHash: await hashing };
}

/** As many at once as may run, so that several imports take turns. */
async function prepareAll(queue: HashQueue, found: readonly Found[]): Promise<readonly Prepared[]> {
  const prepared: Prepared[] = [];
  for (const group of portionsOf(found, userImportHashing.maxRunning))
    prepared.push(...(await Promise.all(group.map((one) => prepare(queue, one)))));
  return prepared;
}

/** The hash that the password was compared with must still be stored: another change may have come first. */
function checkUnchanged({ user, path, expected, record }: Prepared & Found): void {
  if (user.password === undefined) return;
  if (record?.id === expected?.id && record?.passwordHash === expected?.passwordHash) return;
  throw new DropgateError("overloaded", `${path} ${user.userName} was changed at the same time: try again`);
}

function accessOf({ user, record, newHash }: Prepared & Found): UserAccess {
  return {
    passwordHash: newHash ?? record?.passwordHash ?? null,
    isEnabled: user.enabled ?? record?.isEnabled ?? true,
    mustChangePassword: user.forcePwdChg ?? record?.mustChangePassword ?? false,
  };
}

function isSameAccess(one: UserAccess, other: UserAccess): boolean {
  return (["passwordHash", "isEnabled", "mustChangePassword"] as const).every(
    (key) => one[key] === other[key],
  );
}

interface Writing {
  readonly companyId: number;
  readonly now: number;
}

async function writeAccess(tx: Transaction, entry: Prepared & Found, now: number): Promise<number> {
  const { record, user } = entry;
  const access = accessOf(entry);
  if (record === undefined) return await insertUser(tx, { userName: user.userName, ...access, now });
  if (!isSameAccess(access, record)) await saveUserAccess(tx, { userId: record.id, access, now });
  return record.id;
}

async function writeUser(tx: Transaction, entry: Prepared & Found, { companyId, now }: Writing) {
  const { user, record } = entry;
  const userId = await writeAccess(tx, entry, now);
  const profile = mergedProfile(await readUserProfile(tx, companyId, userId), user);
  const roles = rolesOf(user) ?? rolesIn(record, companyId);
  await saveMember(tx, {
    companyId,
    userId,
    userName: user.userName,
    roles: allRoles.filter((role) => roles.includes(role)),
    profile,
    marks: driverMarksOf(profile),
  });
}

async function writeUsers(
  tx: Transaction,
  input: UserImport,
  { users, now }: { readonly users: readonly Prepared[]; readonly now: number },
): Promise<void> {
  const found: (Prepared & Found)[] = [];
  for (const user of users) found.push(await withRecord(tx, input, user));
  checkAllowed(input, found);
  for (const entry of found) checkUnchanged(entry);
  for (const entry of found) await writeUser(tx, entry, { companyId: input.companyId, now });
}

/**
 * Creates the users of the request, or updates those of the company: what is not sent stays as it is. Of two with the
 * same name the later stays. A change takes effect at the next sign-in. Throws a `DropgateError` with all faults, 932
 * for what the caller may not do and 909 for more than 500 passwords; then nothing was written. When the signal aborts
 * before a password is hashed, it rejects with its reason; from then on the import is finished and written.
 */
export async function importUsers(
  deps: UserImportDeps,
  input: UserImport,
  signal: AbortSignal,
): Promise<void> {
  const sent = sentUsers(await preparedEntries(deps, input, { kind: "users", prepare: prepareUsers }));
  checkPasswordCount(sent);
  const found = await inTurns(sent, (one) => withRecord(deps.store.read, input, one));
  checkAllowed(input, found);
  signal.throwIfAborted();
  const users = await prepareAll(deps.hashQueue, found);
  await deps.store.write(input.companyId, (tx) => writeUsers(tx, input, { users, now: deps.clock.now() }));
}
