/**
 * One act on its way:
 *
 *   asked --> looked up (reads alone) --> unit of work: rights again, what it does, its rows in the audit --> told
 *                                            └─ what it was about has changed since it was looked at: nothing is done
 *
 * A crash leaves of each unit all or nothing: an act without its row is never there, nor a row without its act. What the
 * daemon has to do then it finds by itself, from the rows that the act has changed.
 *
 * A form that is sent twice is done once: what it was about has changed by the first, and the row in the audit shows that
 * the same user did the same for the same reason since the page was made; so the second is told what the first was told.
 */
import type { ConsoleUser } from "../../endpoints/http/console/console-user.ts";
import { rolesFor } from "../../endpoints/http/console/console-user.ts";
import { ActRefused, type Seen } from "../../endpoints/http/console/console-acts.ts";
import type { ActName } from "../../endpoints/http/console/console-services.ts";
import { actWords } from "../../endpoints/http/console/words/act-words.ts";
import { DropgateError } from "../../lib/errors.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { insertAudit } from "../../store/accounts/audit.ts";
import { listAudit } from "../../store/accounts/audit-lists.ts";
import { findUserById, type UserRecord } from "../../store/accounts/users.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import type { ActContext } from "./act-context.ts";
import { seenKind } from "./note-seen.ts";

/** Who asks, for which company, and why. An act for all companies has none. */
export interface ActBy {
  readonly user: ConsoleUser;
  readonly companyId: number | undefined;
  readonly reason: string;
}

/** One row of the audit: what it was about, and how that was before and after. */
export interface AuditedChange {
  readonly subject: string;
  readonly before?: unknown;
  readonly after?: unknown;
  /** Whose it is, where it is not the company of the act: operators act on things of one company too. */
  readonly companyId?: number;
}

export interface RunningAct {
  readonly name: ActName;
  readonly context: ActContext;
  readonly by: ActBy;
  /** Milliseconds UTC. */
  readonly now: number;
  /** Runs work and writes the rows that it notes, in one unit; rejects when the user has lost the right meanwhile. */
  unit<T>(work: (tx: Transaction, note: (change: AuditedChange) => void) => Promise<T>): Promise<T>;
}

/** Refused like one who never had the right: the page says which role is needed. */
function noRight(companyId: number | undefined): DropgateError {
  const [role = ""] = rolesFor.act;
  return new DropgateError(
    "roleMissing",
    companyId === undefined ? actWords.mayNotOperate : actWords.mayNotAct(role),
  );
}

function mayAct(
  { isOperator }: Pick<ActContext, "isOperator">,
  user: UserRecord,
  companyId: number | undefined,
): boolean {
  if (companyId === undefined) return isOperator(user);
  const membership = user.memberships.find((one) => one.companyId === companyId);
  return membership?.roles.some((role) => rolesFor.act.includes(role)) ?? false;
}

/** The user as it is now. Rejects when it is gone, disabled, or may not act any more. */
async function requireRight(tx: Transaction, context: ActContext, by: ActBy): Promise<UserRecord> {
  const user = await findUserById(tx, by.user.userId);
  if (user?.isEnabled !== true || !mayAct(context, user, by.companyId)) throw noRight(by.companyId);
  return user;
}

export function beginAct(context: ActContext, name: ActName, by: ActBy): RunningAct {
  const now = context.clock.now();
  return {
    ...{ name, context, by, now },
    async unit(work) {
      return await context.store.write(by.companyId ?? "site", async (tx) => {
        const { id: userId, userName } = await requireRight(tx, context, by);
        const changes: AuditedChange[] = [];
        const result = await work(tx, (change) => void changes.push(change));
        const who = { userId, userName, companyId: by.companyId ?? null, address: by.user.address };
        for (const change of changes)
          await insertAudit(tx, { at: now, kind: name, ...who, ...change, reason: by.reason });
        return result;
      });
    },
  };
}

/** The company that the act is for. Rejects when none was named. */
export function companyOf({ by }: Pick<RunningAct, "by">): number {
  if (by.companyId === undefined) throw new ActRefused("unknown", actWords.notThere);
  return by.companyId;
}

/** What has become of a subject since it was looked at, by the audit. */
export type Meanwhile =
  /** The same user did the same for the same reason: this is the form once more. */
  { readonly kind: "doneBefore" } | { readonly kind: "changed"; readonly why: string };

const searched = 50;

/** `otherwise` is told when nobody in the console has changed it. */
export async function meanwhile(
  { name, context, by }: RunningAct,
  { subject, seenAt }: Seen & { readonly subject: string },
  otherwise: string,
): Promise<Meanwhile> {
  const companyIds = [by.companyId ?? null];
  const since = await listAudit(context.store.read, { companyIds, subject, since: seenAt, limit: searched });
  // Looking at it changes nothing.
  const last = since.find(({ kind }) => kind !== seenKind);
  if (last === undefined) return { kind: "changed", why: otherwise };
  const { kind, userId, userName, reason, at } = last;
  if (kind === name && userId === by.user.userId && reason === by.reason) return { kind: "doneBefore" };
  return { kind: "changed", why: actWords.doneBy({ kind, name: userName ?? "", time: isoTime(at) }) };
}
