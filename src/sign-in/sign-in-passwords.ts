/**
 * Checks passwords at a bearable price: at most two hashes at a time, and a verdict is remembered for a while, a wrong
 * one too, because a host with a wrong password asks again and again. The password of a name that belongs to nobody is
 * hashed and remembered like any other: the time of an answer does not tell who exists.
 *
 * Memory keeps a keyed hash over the user, the stored hash and the password, under a key of this process: it holds no
 * password, and a new stored hash makes older entries worthless.
 */
import { hash as digestOf, randomBytes } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import { isPasswordOf } from "../lib/password-hash.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import { createHashQueue, type HashQueue, type HashQueueLimits } from "./sign-in-hash-queue.ts";

export interface PasswordQuestion {
  /** Whose password it may be; undefined for nobody, which costs the same. */
  readonly user: { readonly id: number; readonly passwordHash: string | null } | undefined;
  /** The name that was given: what is remembered of a name that belongs to nobody is its own. */
  readonly userName: string;
  readonly password: string;
  /** The peer, as failed sign-ins are counted: the same question of one peer is hashed once. */
  readonly peerKey: string;
  readonly isFamiliar: boolean;
  /** Checked again when its turn comes: the peer may have been banned while it waited. */
  mayRun(): boolean;
}

/** The key of a remembered password. */
export type PasswordGiven = Pick<PasswordQuestion, "user" | "userName" | "password">;

export type PasswordVerdict = "right" | "wrong" | "notAllowed" | "tooBusy";

export interface PasswordCheckDeps {
  readonly clock: Clock;
  /** How long a hashed password is remembered; 0 for not at all. */
  rememberForMs(): number;
  readonly queueLimits?: HashQueueLimits;
}

const maxRemembered = 10_000;
/** At two hashes in 70 ms the last of the queue waits some 4 s. */
const defaultQueueLimits: HashQueueLimits = { maxRunning: 2, maxWaiting: 128, maxWaitingStrangers: 96 };

export class PasswordCheck {
  readonly #deps: PasswordCheckDeps;
  readonly #queue: HashQueue;
  // Before the text, in one hash: half the time of an HMAC, which is stronger only where somebody without the key sees the
  // result. These results never leave the memory that the key is in.
  readonly #key = randomBytes(32).toString("base64");
  // Two maps: guesses must not push out what the hosts sign in with.
  readonly #verifiedAt = new BoundedMap<number>(maxRemembered);
  readonly #refusedAt = new BoundedMap<number>(maxRemembered);
  readonly #guesses = new BoundedMap<true>(maxRemembered);
  readonly #underWay = new Map<string, Promise<PasswordVerdict>>();

  constructor(deps: PasswordCheckDeps) {
    this.#deps = deps;
    this.#queue = createHashQueue(deps.queueLimits ?? defaultQueueLimits);
  }

  /** A remembered verdict, or undefined. Costs microseconds. */
  recall(question: PasswordGiven): "right" | "wrong" | undefined {
    const token = this.#tokenOf(question);
    if (this.#isFresh(this.#verifiedAt.get(token))) return "right";
    return this.#isFresh(this.#refusedAt.get(token)) ? "wrong" : undefined;
  }

  /** Whether nobody has asked about this wrong password of this user before, since the start as far as memory goes. */
  isNewGuess(question: PasswordQuestion): boolean {
    const token = this.#tokenOf(question);
    if (this.#guesses.has(token)) return false;
    this.#guesses.set(token, true);
    return true;
  }

  /** Hashes; the caller has checked that no verdict is remembered. */
  check(question: PasswordQuestion): Promise<PasswordVerdict> {
    const token = this.#tokenOf(question);
    // A host that opens fifty connections at once pays for one hash.
    const place = `${question.peerKey} ${token}`;
    const known = this.#underWay.get(place);
    if (known !== undefined) return known;
    const verdict = this.#hash(question, token).finally(() => this.#underWay.delete(place));
    this.#underWay.set(place, verdict);
    return verdict;
  }

  #tokenOf({ user, userName, password }: PasswordGiven): string {
    const whose = user === undefined ? JSON.stringify(userName) : `${user.id}\n${user.passwordHash ?? ""}`;
    return digestOf("sha256", `${this.#key}\n${whose}\n${password}`, "base64");
  }

  #isFresh(at: number | undefined): boolean {
    if (at === undefined) return false;
    const ageMs = this.#deps.clock.now() - at;
    return ageMs >= 0 && ageMs < this.#deps.rememberForMs();
  }

  async #hash(question: PasswordQuestion, token: string): Promise<PasswordVerdict> {
    const answer = this.#queue.run(question.isFamiliar, async () => {
      if (!question.mayRun()) return "notAllowed";
      return (await isPasswordOf(question.password, question.user?.passwordHash ?? null)) ? "right" : "wrong";
    });
    if (answer === undefined) return "tooBusy";
    const verdict = await answer;
    if (this.#deps.rememberForMs() > 0 && verdict === "right")
      this.#verifiedAt.set(token, this.#deps.clock.now());
    if (this.#deps.rememberForMs() > 0 && verdict === "wrong")
      this.#refusedAt.set(token, this.#deps.clock.now());
    return verdict;
  }
}
