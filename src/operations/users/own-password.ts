/** A user changes the own password: all that rests on the old one ends. */
import { auditSubjectText } from "../../domain/audit/audit-subject.ts";
import { DropgateError } from "../../lib/errors.ts";
import { hashPassword, isPasswordOf } from "../../lib/password-hash.ts";
import { insertAudit } from "../../store/accounts/audit.ts";
import { deleteSessionsOf } from "../../store/accounts/console-sessions.ts";
import { findUserById, savePassword } from "../../store/accounts/users.ts";
import type { StoreDeps } from "../operation-deps.ts";
import { checkPassword } from "./user-admin.ts";

export interface OwnPasswordChange {
  readonly userId: number;
  /** The new one; the caller has made sure of the old one. */
  readonly password: string;
  readonly address: string;
}

/**
 * Sets it, which then need not be changed any more, and ends all sessions of the user. Rejects with 902 for one that is not
 * of the form or the same as before.
 */
export async function changeOwnPassword(deps: StoreDeps, change: OwnPasswordChange): Promise<void> {
  const { userId, password, address } = change;
  checkPassword(password);
  const before = await findUserById(deps.store.read, userId);
  if (before !== undefined && (await isPasswordOf(password, before.passwordHash)))
    throw new DropgateError("wrongType", "the new password is the same as the old one: choose another one");
  const passwordHash = await hashPassword(password);
  const now = deps.clock.now();
  await deps.store.write("site", async (tx) => {
    const record = await findUserById(tx, userId);
    if (record === undefined || record.passwordHash !== before?.passwordHash)
      throw new DropgateError("overloaded", "the user was changed at the same time: try again");
    await savePassword(tx, { userId, passwordHash, now });
    await deleteSessionsOf(tx, userId);
    const { userName, memberships } = record;
    const companies = memberships.length === 0 ? [null] : memberships.map(({ companyId }) => companyId);
    const subject = auditSubjectText({ kind: "user", name: userName });
    for (const companyId of companies) {
      const entry = { at: now, kind: "passwordChanged", subject, address };
      await insertAudit(tx, { ...entry, userId, userName, companyId });
    }
  });
}
