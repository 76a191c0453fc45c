/**
 * Users, their roles, passwords and keys. Who administers one company acts there alone; an operator acts on users of all.
 * What takes the last administrator or operator away, or the right of who asks, is done only when it was agreed to.
 */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import { isRole, type Role, roles as allRoles } from "../../../domain/users/role.ts";
import {
  ActRefused,
  type AddedUser,
  type NewUserAsked,
  type UserAsked,
  type UserChanged,
  type UserRolesAsked,
} from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { hashPassword, newPassword } from "../../../lib/password-hash.ts";
import {
  addKey,
  addMember,
  changeEnabled,
  changePassword,
  changeRoles,
  isLoss,
  lossOf,
  removeKey,
  requireUser,
  type UserChange,
} from "../../../operations/users/change-users.ts";
import { checkUserName } from "../../../operations/users/user-admin.ts";
import { fingerprintOf, parsePublicKey } from "../../../sign-in/sign-in-key.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import type { UserRecord } from "../../../store/accounts/users.ts";
import type { AuditedChange, RunningAct } from "../running-act.ts";

function changeOf({ by, now }: RunningAct, userId: number): UserChange {
  return { userId, within: by.companyId, now };
}

/** One row in the audit of each company that has the user, so that its administrators find it. */
function noteOf(
  { by }: RunningAct,
  note: (change: AuditedChange) => void,
  { userName, memberships }: Pick<UserRecord, "userName" | "memberships">,
) {
  const companyIds =
    by.companyId === undefined ? memberships.map(({ companyId }) => companyId) : [by.companyId];
  return (change: Pick<AuditedChange, "before" | "after">) => {
    const subject = auditSubjectText({ kind: "user", name: userName });
    if (companyIds.length === 0) note({ subject, ...change });
    for (const companyId of companyIds) note({ subject, companyId, ...change });
  };
}

/** The company whose membership is meant: that of the act, or the one that an operator names. */
function memberCompanyOf({ by }: RunningAct, asked: { readonly companyId: number }): number {
  if (by.companyId !== undefined && by.companyId !== asked.companyId)
    throw new ActRefused("unknown", actWords.notThere);
  return asked.companyId;
}

/** In the order of the list of all roles. Rejects what is none. */
function readRoles(names: readonly string[]): readonly Role[] {
  if (!names.every(isRole)) throw new ActRefused("unknown", actWords.users.noSuchRole(allRoles.join(", ")));
  return allRoles.filter((role) => names.includes(role));
}

/** Tells what would be lost, unless that was agreed to; undefined when it may be done. */
async function lossUnlessAgreed(
  tx: Transaction,
  act: RunningAct,
  { record, companyIds, isAgreed }: { record: UserRecord; companyIds: readonly number[]; isAgreed: boolean },
): Promise<UserChanged | undefined> {
  if (isAgreed) return undefined;
  const { operators } = act.context.config().console;
  const loss = await lossOf(tx, record, { companyIds, operators, askedBy: act.by.user.userId });
  return isLoss(loss) ? { kind: "toBeAgreed", ...loss } : undefined;
}

/** Gives exactly these roles in the company, none to take the user out of it. */
export async function setUserRoles(act: RunningAct, asked: UserRolesAsked): Promise<UserChanged> {
  const companyId = memberCompanyOf(act, asked);
  const [roles, before] = [readRoles(asked.roles), readRoles(asked.before)];
  return await act.unit(async (tx, note) => {
    const change = changeOf(act, asked.userId);
    const record = await requireUser(tx, change);
    const losesRight = before.includes("MemberAdmin") && !roles.includes("MemberAdmin");
    if (losesRight || roles.length === 0) {
      const loss = await lossUnlessAgreed(tx, act, { record, companyIds: [companyId], ...asked });
      if (loss !== undefined) return loss;
    }
    await changeRoles(tx, change, { companyId, roles, before });
    const own = {
      userName: record.userName,
      memberships: record.memberships.filter((one) => one.companyId === companyId),
    };
    noteOf(act, note, own)({ before: { roles: before }, after: { roles } });
    return { kind: "done" };
  });
}

async function setEnabled(act: RunningAct, asked: UserAsked, isEnabled: boolean): Promise<UserChanged> {
  return await act.unit(async (tx, note) => {
    const change = changeOf(act, asked.userId);
    const record = await requireUser(tx, change);
    if (record.isEnabled === isEnabled) return { kind: "done" };
    if (!isEnabled) {
      const companyIds = record.memberships.map(({ companyId }) => companyId);
      const loss = await lossUnlessAgreed(tx, act, { record, companyIds, isAgreed: asked.isAgreed });
      if (loss !== undefined) return loss;
    }
    await changeEnabled(tx, change, isEnabled);
    noteOf(act, note, record)({ before: { enabled: record.isEnabled }, after: { enabled: isEnabled } });
    return { kind: "done" };
  });
}

export function enableUser(act: RunningAct, asked: UserAsked): Promise<UserChanged> {
  return setEnabled(act, asked, true);
}

export function disableUser(act: RunningAct, asked: UserAsked): Promise<UserChanged> {
  return setEnabled(act, asked, false);
}

/** Sets a generated password; it is told once, and nobody can read it afterwards. */
export async function setUserPassword(
  act: RunningAct,
  asked: UserAsked & { readonly mustChange: boolean },
): Promise<{ readonly password: string }> {
  const password = newPassword();
  // Hashing is slow, so it happens before the unit.
  const passwordHash = await hashPassword(password);
  const { mustChange } = asked;
  await act.unit(async (tx, note) => {
    const before = await changePassword(tx, changeOf(act, asked.userId), { passwordHash, mustChange });
    noteOf(
      act,
      note,
      before,
    )({
      before: { hasPassword: before.passwordHash !== null, mustChange: before.mustChangePassword },
      after: { hasPassword: true, isNewPassword: true, mustChange },
    });
  });
  return { password };
}

/** Adds a line of `authorized_keys`. */
export async function addUserKey(
  act: RunningAct,
  asked: UserAsked & { readonly publicKey: string },
): Promise<undefined> {
  const key = parsePublicKey(asked.publicKey);
  await act.unit(async (tx, note) => {
    const { record, isNew } = await addKey(tx, changeOf(act, asked.userId), key);
    if (!isNew) throw new ActRefused("changed", actWords.users.hasKey);
    noteOf(act, note, record)({ after: { key: fingerprintOf(key.keyBlob) } });
  });
  return undefined;
}

export async function removeUserKey(
  act: RunningAct,
  asked: UserAsked & { readonly fingerprint: string },
): Promise<undefined> {
  const { fingerprint } = asked;
  await act.unit(async (tx, note) => {
    const record = await removeKey(tx, changeOf(act, asked.userId), fingerprint);
    noteOf(act, note, record)({ before: { key: fingerprint } });
  });
  return undefined;
}

/** Adds a user to a company, with a generated password unless it has a key. */
export async function addUserToCompany(act: RunningAct, asked: NewUserAsked): Promise<AddedUser> {
  const companyId = memberCompanyOf(act, asked);
  const { userName, mustChange } = asked;
  checkUserName(userName);
  const roles = readRoles(asked.roles);
  if (roles.length === 0) throw new ActRefused("changed", actWords.users.noRole);
  const key = asked.publicKey === undefined ? undefined : parsePublicKey(asked.publicKey);
  const password = key === undefined ? newPassword() : undefined;
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  const added = {
    userName,
    companyId,
    roles,
    passwordHash,
    mustChange: mustChange && key === undefined,
    key,
  };
  const userId = await act.unit(async (tx, note) => {
    const id = await addMember(tx, added, act.now);
    const keys = key === undefined ? {} : { key: fingerprintOf(key.keyBlob) };
    const subject = auditSubjectText({ kind: "user", name: userName });
    note({ subject, companyId, after: { roles, hasPassword: key === undefined, ...keys } });
    return id;
  });
  return password === undefined ? { userId } : { userId, password };
}
