/**
 * Bans of addresses, which are in the memory of sign-in. The row is written first: a crash between the two leaves a row
 * whose ban has ended with the process. Where several nodes know of it, its end is noted for all of them with the row.
 */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import type { NamedAsked, ShownBan } from "../../../endpoints/http/console/console-acts.ts";
import type { ConsoleUser } from "../../../endpoints/http/console/console-user.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import type { ActContext } from "../act-context.ts";
import type { RunningAct } from "../running-act.ts";
import { endChanged } from "./one-subject.ts";

/** Those of this moment, the one that lasts longest first; none for who is no operator. */
export async function lookAtBans({ bans }: ActContext, user: ConsoleUser): Promise<readonly ShownBan[]> {
  if (!user.isOperator) return [];
  return bans
    .list()
    .map(({ key, ...ban }) => ({ name: key, ...ban }))
    .toSorted((one, other) => other.until - one.until);
}

export async function liftBan(act: RunningAct, { name, seenAt }: NamedAsked): Promise<undefined> {
  const { bans } = act.context;
  const subject = auditSubjectText({ kind: "address", name });
  const ban = bans.list().find(({ key }) => key === name);
  if (ban === undefined) {
    await endChanged(act, { subject, seenAt }, actWords.ban.ended);
    return undefined;
  }
  await act.unit(async (tx, note) => {
    await bans.noteLifted(tx, name);
    note({ subject, before: { bannedUntil: isoTime(ban.until), count: ban.count }, after: {} });
  });
  bans.lift(name);
  return undefined;
}
