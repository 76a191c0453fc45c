/**
 * Sessions of the console (specification/console.md#sessions).
 *
 *   signed in -> open -> ended: by the user; idle, or open for too long; or because the password, the roles or `enabled`
 *                        of the user have changed
 *
 * The browser has a random id, the database its hash: who reads the database, or a backup of it, holds no session.
 * A session survives a restart of the daemon. All of it is written before the answer, but for when it was used last: that
 * is written once a minute, and a crash costs no more than this minute.
 */
import { hash as digestOf, randomBytes } from "node:crypto";
import { auditSubjectText } from "../domain/audit/audit-subject.ts";
import type { Clock } from "../lib/clock.ts";
import { hourMs, minuteMs } from "../lib/durations.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import { given } from "../lib/given.ts";
import type { Logger } from "../lib/logs/log.ts";
import { insertAudit, type NewAuditEntry } from "../store/accounts/audit.ts";
import {
  type ConsoleSessionRow,
  deleteOldestSessions,
  deleteOldSessions,
  deleteSession,
  deleteSessionsOf,
  findSession,
  insertSession,
  noteSessionSeen,
} from "../store/accounts/console-sessions.ts";
import { findUserById, type UserRecord } from "../store/accounts/users.ts";
import type { Store } from "../store/database/database.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import type { Membership, SignIn, SignInOutcome } from "./sign-in.ts";
import { badCredentials } from "./sign-in-refusals.ts";
import { passwordVersionOf } from "./sign-in-review.ts";

/** A session ends when nothing was asked in it for so long. */
const sessionIdleMs = 30 * minuteMs;
/** And in any case after this. */
export const sessionMaxMs = 12 * hourMs;
/** How exact it is known when a session was used last. */
const seenGrainMs = minuteMs;
/** A user that signs in again and again has as many sessions, the newest ones. */
const maxSessionsOfUser = 20;
const maxAgentLength = 200;
const maxNamesCounted = 1_000;
const maxSessionsNoted = 10_000;

export interface ConsoleSessionsDeps {
  readonly store: Pick<Store, "read" | "write" | "writeSoon">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
  readonly signIn: Pick<SignIn, "withPassword">;
}

/** Where a request comes from. */
export interface SessionPeer {
  readonly address: string;
  /** What the browser says of itself. */
  readonly agent: string;
}

/** An open session, with its user as it is at this moment. */
export interface ConsoleSession {
  /** The id, which the browser holds. */
  readonly id: string;
  readonly userId: number;
  readonly userName: string;
  readonly memberships: readonly Membership[];
  readonly mustChangePassword: boolean;
}

export type ConsoleSignIn =
  | { readonly kind: "signedIn"; readonly session: ConsoleSession }
  | Extract<SignInOutcome, { kind: "refused" }>;

type Who = Pick<ConsoleSession, "userId" | "userName" | "memberships">;

/** Of as many bits as a key: it cannot be guessed. */
function newSessionId(): string {
  return randomBytes(32).toString("base64url");
}

function hashOf(text: string): string {
  return digestOf("sha256", text, "hex");
}

/** Another one after each change of what the session rests on. */
function basisOf(record: UserRecord): string {
  const roles = record.memberships.map(({ companyId, roles: names }) => [companyId, ...names]);
  return digestOf("sha256", JSON.stringify([passwordVersionOf(record), record.isEnabled, roles]), "hex");
}

function sessionOf(id: string, record: UserRecord): ConsoleSession {
  const { id: userId, userName, memberships, mustChangePassword } = record;
  return { id, userId, userName, memberships, mustChangePassword };
}

/** An entry for each company of the user, so that its administrators see it; for nobody's company, one of none. */
async function noteInAudit(
  tx: Transaction,
  { userId, userName, memberships }: Who,
  entry: Omit<NewAuditEntry, "userId" | "userName" | "companyId">,
): Promise<void> {
  const companies = memberships.length === 0 ? [null] : memberships.map(({ companyId }) => companyId);
  const subject = auditSubjectText({ kind: "user", name: userName });
  for (const companyId of companies)
    await insertAudit(tx, { ...entry, userId, userName, companyId, subject });
}

export class ConsoleSessions {
  readonly #deps: ConsoleSessionsDeps;
  /** Refused sign-ins by the hash of the name that was given, since one of that name has succeeded. */
  readonly #refused = new BoundedMap<number>(maxNamesCounted);
  /** When the last use of a session was to be written, by its hash: requests come in bundles. */
  readonly #notedAt = new BoundedMap<number>(maxSessionsNoted);

  constructor(deps: ConsoleSessionsDeps) {
    this.#deps = deps;
  }

  /** Signs in as everywhere (scores, bans, delay), and begins a session with an id of its own. */
  async signIn(
    { userName, password }: { readonly userName: string; readonly password: string },
    peer: SessionPeer,
    signal?: AbortSignal,
  ): Promise<ConsoleSignIn> {
    const { address } = peer;
    const attempt = { userName, password, address, protocol: "http", canChangePassword: true } as const;
    const outcome = await this.#deps.signIn.withPassword(attempt, signal);
    // A name that strangers make up is as long as a form.
    const nameHash = hashOf(userName);
    const refusedBefore = this.#refused.get(nameHash) ?? 0;
    if (outcome.kind === "refused") {
      this.#refused.set(nameHash, refusedBefore + 1);
      return outcome;
    }
    this.#refused.delete(nameHash);
    const session = await this.open(outcome.user.userId, peer, async (tx, now) =>
      noteInAudit(tx, outcome.user, { at: now, kind: "signedIn", address, after: { refusedBefore } }),
    );
    return { kind: "signedIn", session };
  }

  /** Whether the password is the user's; a wrong one counts as at a sign-in. */
  async confirm(
    { userId, userName, memberships }: Who,
    { password, address }: { readonly password: string; readonly address: string },
  ): Promise<Extract<SignInOutcome, { kind: "refused" }> | undefined> {
    const companyCode = memberships[0]?.companyCode;
    const attempt = { userName, password, address, protocol: "http", canChangePassword: true } as const;
    const outcome = await this.#deps.signIn.withPassword({ ...attempt, ...given({ companyCode }) });
    if (outcome.kind === "refused") return outcome;
    return outcome.user.userId === userId ? undefined : badCredentials;
  }

  /** Begins a session. `also` is written with it. Ends those that are too old, and the oldest of the user if they are many. */
  async open(
    userId: number,
    { address, agent }: SessionPeer,
    also?: (tx: Transaction, now: number) => Promise<void>,
  ): Promise<ConsoleSession> {
    const { store, clock } = this.#deps;
    const [id, now] = [newSessionId(), clock.now()];
    const record = await store.write("site", async (tx) => {
      const found = await findUserById(tx, userId);
      if (found === undefined) throw new Error(`the user ${userId} of the session is not there any more`);
      await deleteOldSessions(tx, { created: now - sessionMaxMs, seen: now - sessionIdleMs });
      await deleteOldestSessions(tx, { userId, keep: maxSessionsOfUser - 1 });
      await insertSession(tx, {
        ...{ idHash: hashOf(id), userId, basis: basisOf(found), createdAt: now, seenAt: now, address },
        agent: agent.slice(0, maxAgentLength),
      });
      await also?.(tx, now);
      return found;
    });
    return sessionOf(id, record);
  }

  /**
   * The session of the id; undefined when there is none, or it has ended. `isBackground`: nobody has done anything, the page
   * asks by itself, so that the session goes on to grow idle.
   */
  async find(
    id: string,
    { isBackground }: { readonly isBackground: boolean },
  ): Promise<ConsoleSession | undefined> {
    const { store, clock } = this.#deps;
    const idHash = hashOf(id);
    const row = await findSession(store.read, idHash);
    if (row === undefined) return undefined;
    const record = await findUserById(store.read, row.userId);
    const now = clock.now();
    const isOver = now - row.createdAt >= sessionMaxMs || now - row.seenAt >= sessionIdleMs;
    if (isOver || record === undefined || !record.isEnabled || basisOf(record) !== row.basis) {
      await store.write("unowned", (tx) => deleteSession(tx, { idHash }));
      return undefined;
    }
    if (!isBackground) this.#noteSeen(row, now);
    return sessionOf(id, record);
  }

  /** The user signs out: here, or everywhere. */
  async end(session: ConsoleSession, { address, isEverywhere }: { address: string; isEverywhere: boolean }) {
    const { store, clock } = this.#deps;
    const at = clock.now();
    await store.write("site", async (tx) => {
      if (isEverywhere) await deleteSessionsOf(tx, session.userId);
      else await deleteSession(tx, { idHash: hashOf(session.id) });
      await noteInAudit(tx, session, {
        at,
        kind: isEverywhere ? "signedOutEverywhere" : "signedOut",
        address,
      });
    });
  }

  #noteSeen({ idHash, seenAt }: ConsoleSessionRow, now: number): void {
    const notedAt = Math.max(seenAt, this.#notedAt.get(idHash) ?? 0);
    if (now - notedAt < seenGrainMs) return;
    this.#notedAt.set(idHash, now);
    const noted = this.#deps.store.writeSoon("unowned", (tx) => noteSessionSeen(tx, { idHash, seenAt: now }));
    noted.catch((error: unknown) => {
      // The session goes on; it only looks idle sooner.
      this.#deps.log.warn({ err: error }, "the last use of a console session could not be noted");
    });
  }
}
