/**
 * Notes in the audit who has looked at content: once for each session and subject, as far as this process remembers, so that
 * a reload adds nothing. What cannot be noted is not shown: the promise rejects then.
 */
import { auditSubjectText } from "../../domain/audit/audit-subject.ts";
import type { ConsoleServices, SeenContent } from "../../endpoints/http/console/console-services.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { insertAudit } from "../../store/accounts/audit.ts";
import type { ActContext } from "./act-context.ts";

/** The kind of these entries. */
export const seenKind = "content.seen";

const remembered = 20_000;

export function createSeenNotes({
  store,
  clock,
}: Pick<ActContext, "store" | "clock">): ConsoleServices["noteSeen"] {
  const noted = new BoundedMap<Promise<void>>(remembered);
  const write = async ({ user, companyId, subject }: SeenContent): Promise<void> => {
    const { userId, userName, address } = user;
    const entry = { at: clock.now(), kind: seenKind, subject: auditSubjectText(subject) };
    await store.write(companyId, (tx) => insertAudit(tx, { ...entry, userId, userName, companyId, address }));
  };
  return async (seen) => {
    const key = `${seen.user.sessionName} ${auditSubjectText(seen.subject)}`;
    const known = noted.renew(key);
    if (known !== undefined) return await known;
    const writing = write(seen);
    noted.set(key, writing);
    try {
      await writing;
    } catch (error) {
      noted.delete(key);
      throw error;
    }
  };
}
