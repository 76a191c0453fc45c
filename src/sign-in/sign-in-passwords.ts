/**
 * Checks passwords at a bearable price: at most two hashes at a time, and a verdict is remembered for a while, a wrong
 * one too, because a host with a wrong password asks again and again. That of a name that belongs to nobody is hashed and
 * remembered like any other: no time that an answer takes tells who exists.
 *
 * What is remembered is a keyed hash over the user, the stored hash and the password, under a key of this process:
 * memory holds no password, and a new stored hash makes what was remembered before worthless.
 */
import { hash as digestOf, randomBytes } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { isPasswordOf } from "../lib/password-hash.ts";
import { createBoundedMap } from "../lib/bounded-map.ts";
import { createHashQueue, type HashQueueLimits } from "./sign-in-hash-queue.ts";

export interface PasswordQuestion {
  /** Whose password it may be; undefined for nobody, which costs the same. */
  readonly user: { readonly id: number; readonly passwordHash: string | null } | undefined;
  /** The name that was given: what is remembered of a name that belongs to nobody is its own. */
  readonly userName: string;
  readonly password: string;
  /** Who asks, as failed sign-ins are counted: the same question of the same peer is hashed once. */
  readonly peerKey: string;
  readonly isFamiliar: boolean;
  /** Asked again when it is this question's turn: while it waited the peer may have been banned. */
  mayRun(): boolean;
}

/** The key of a remembered password. */
export type PasswordGiven = Pick<PasswordQuestion, "user" | "userName" | "password">;

export type PasswordVerdict = "right" | "wrong" | "notAllowed" | "tooBusy";

export interface PasswordCheck {
  /** A remembered verdict, or undefined. Costs microseconds. */
  recall(question: PasswordGiven): "right" | "wrong" | undefined;
  /** Hashes; the caller has checked that nothing is remembered. */
  check(question: PasswordQuestion): Promise<PasswordVerdict>;
  /** Whether this wrong password of this user has not been asked about before, since the start as far as memory goes. */
  isNewGuess(question: PasswordQuestion): boolean;
}

export interface PasswordCheckDeps {
  readonly clock: Clock;
  /** How long a hashed password is remembered; 0 for not at all. */
  rememberForMs(): number;
  readonly queueLimits?: HashQueueLimits;
}

const maxRemembered = 10_000;
/** At two hashes in 70 ms the last of the queue waits some 4 s. */
const defaultQueueLimits: HashQueueLimits = { maxRunning: 2, maxWaiting: 128, maxWaitingStrangers: 96 };

export function createPasswordCheck(deps: PasswordCheckDeps): PasswordCheck {
  // Before the text, in one hash: half the time of an HMAC, which is stronger only where the result is shown to somebody
  // without the key. These results never leave the memory that the key is in.
  const key = randomBytes(32).toString("base64");
  // Two maps: what guesses leave behind must not push out what the hosts sign in with.
  const verifiedAt = createBoundedMap<number>(maxRemembered);
  const refusedAt = createBoundedMap<number>(maxRemembered);
  const guesses = createBoundedMap<true>(maxRemembered);
  const underWay = new Map<string, Promise<PasswordVerdict>>();
  const queue = createHashQueue(deps.queueLimits ?? defaultQueueLimits);

  function tokenOf({ user, userName, password }: PasswordGiven): string {
    const whose = user === undefined ? JSON.stringify(userName) : `${user.id}\n${user.passwordHash ?? ""}`;
    const text = `${key}\n${whose}\n${password}`;
    return digestOf("sha256", text, "base64");
  }

  function isFresh(at: number | undefined): boolean {
    if (at === undefined) return false;
    const ageMs = deps.clock.now() - at;
    return ageMs >= 0 && ageMs < deps.rememberForMs();
  }

  async function hash(question: PasswordQuestion, token: string): Promise<PasswordVerdict> {
    const answer = queue.run(question.isFamiliar, async () => {
      if (!question.mayRun()) return "notAllowed";
      return (await isPasswordOf(question.password, question.user?.passwordHash ?? null)) ? "right" : "wrong";
    });
    if (answer === undefined) return "tooBusy";
    const verdict = await answer;
    if (deps.rememberForMs() > 0 && verdict === "right") verifiedAt.set(token, deps.clock.now());
    if (deps.rememberForMs() > 0 && verdict === "wrong") refusedAt.set(token, deps.clock.now());
    return verdict;
  }

  return {
    recall(question) {
      const token = tokenOf(question);
      if (isFresh(verifiedAt.get(token))) return "right";
      return isFresh(refusedAt.get(token)) ? "wrong" : undefined;
    },
    isNewGuess(question) {
      const token = tokenOf(question);
      if (guesses.has(token)) return false;
      guesses.set(token, true);
      return true;
    },
    check(question) {
      const token = tokenOf(question);
      // A host that opens fifty connections at once pays for one hash.
      const place = `${question.peerKey} ${token}`;
      const known = underWay.get(place);
      if (known !== undefined) return known;
      const verdict = hash(question, token).finally(() => underWay.delete(place));
      underWay.set(place, verdict);
      return verdict;
    },
  };
}
