/**
 * Counts failed sign-ins over all protocols: bans addresses that fail too often, and slows users whose password is guessed.
 *
 *   address: counted --maxScore points in the window--> banned --banMs, longer each time--> counted from zero
 *   user:    counted --maxScore points from several addresses--> slowed to strangers --points expire--> counted
 *
 * IPv6 addresses are counted by /64, and by /48 at ten times the score, because who has many networks of 64 bits has
 * them mostly out of one of 48. A stranger may try a slowed user once a minute: the right password is let in from
 * everywhere at any time, while a thousand addresses together get a thousand guesses a minute and no more.
 *
 * All of it is in memory, bounded whatever number of addresses and names come, and begins anew with the process. Where several
 * nodes share a database, `FailureWatch` is told what the others have to know, and `take` and `takeBan` have what they tell
 * (`failures/shared-failures.ts`).
 */
import { type AddressSet, createAddressSet, networkOf, peerKeyOf } from "../lib/address-range.ts";
import type { Clock } from "../lib/clock.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import { type Ban, type BanLength, Bans, type BanStatistics, type KeptBan } from "./failures/bans.ts";
import type { CountedFailure, FailureWatch } from "./failures/failure-watch.ts";
import { type GuessedName, GuessedUsers, subjectOf } from "./failures/guessed-users.ts";
import { ScoreBoard, type Scored, type ScoreWindow } from "./failures/score-board.ts";

/** The options of the section `security.bans`. */
export interface BanOptions extends BanLength {
  readonly enabled: boolean;
  readonly maxScore: number;
  readonly windowMs: number;
  /** Addresses and CIDR ranges that are never counted. */
  readonly allow: readonly string[];
}

/** Points. A wrong password and an unknown user cost the same: the count must not tell who exists. */
export const failureScores = { failedSignIn: 1, silence: 1, brokenLimit: 3 } as const;

/** Who tries to sign in, and whether there is a user of that name. */
export interface SignInPeer extends GuessedName {
  readonly address: string;
}

const maxAddresses = 50_000;
/** How many times the score of a /64 bans a /48. */
const wideNetworkFactor = 10;

/** Bans, for operators. */
export interface SignInBans {
  /** Those that last, in no order. */
  list(): readonly Ban[];
  /** Ends a ban at once, and forgets that there was one. */
  lift(key: string): void;
  /** Has other nodes end it too: within the unit of a transaction for the site, before `lift`. */
  noteLifted(tx: Transaction, key: string): Promise<void>;
}

/** Of an address, or of the network that it counts as. */
function widerNetworkOf(address: string): string | undefined {
  return networkOf(address.split("/", 1)[0] ?? "", 48);
}

export interface FailedSignInsDeps {
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly options: BanOptions;
  /** Whether anybody has signed in from the address lately. */
  hasSignedInLately(address: string): boolean;
  /** Left out where no other node counts. */
  readonly watch?: FailureWatch | undefined;
}

export class FailedSignIns {
  readonly #deps: FailedSignInsDeps;
  readonly #addresses = new ScoreBoard(maxAddresses);
  readonly #users = new GuessedUsers();
  readonly #bans: Bans;
  #options: BanOptions;
  #allowed: AddressSet;

  constructor(deps: FailedSignInsDeps) {
    this.#deps = deps;
    this.#bans = new Bans(deps.clock);
    this.#options = deps.options;
    this.#allowed = createAddressSet(deps.options.allow);
  }

  get bans(): BanStatistics {
    return this.#bans.statistics();
  }

  /** How long points count. */
  get windowMs(): number {
    return this.#options.windowMs;
  }

  activeBans(): readonly Ban[] {
    return this.#bans.active();
  }

  /** Ends a ban at once. The address counts from zero, and its next ban is as long as a first one. */
  liftBan(key: string): void {
    this.#bans.lift(key);
    this.#addresses.clear(key);
    this.#deps.watch?.lifted(key);
  }

  /** Replaces the options; what was counted and banned stays. */
  configure(options: BanOptions): void {
    this.#options = options;
    this.#allowed = createAddressSet(options.allow);
  }

  /** Milliseconds for which the address is still banned; 0 when it is not. */
  bannedForMs(address: string): number {
    const own = this.#bans.remainingMs(peerKeyOf(address));
    const wider = this.#bans.remainingMs(widerNetworkOf(address));
    // Hosts are not to suffer from their neighbours.
    const remainingMs = wider > own && !this.#deps.hasSignedInLately(address) ? wider : own;
    return remainingMs > 0 && this.#isCounted(address) ? remainingMs : 0;
  }

  /** Milliseconds until this stranger may try the user; 0 when it may now. */
  slowedForMs(peer: SignInPeer): number {
    const waitsForMs = this.#users.waitsForMs(
      subjectOf(peer),
      peerKeyOf(peer.address),
      this.#deps.clock.now(),
    );
    return waitsForMs > 0 && this.#isCounted(peer.address) && this.#isGuessedAt(peer) ? waitsForMs : 0;
  }

  /** The stranger tries the user: if that is slowed, it has to wait before it may again. */
  recordTry(peer: SignInPeer): void {
    if (!this.#isGuessedAt(peer)) return;
    this.#users.noteTry(subjectOf(peer), peerKeyOf(peer.address), this.#deps.clock.now());
  }

  recordFailure(peer: SignInPeer): void {
    this.#record(peer.address, { points: failureScores.failedSignIn, subject: subjectOf(peer) });
  }

  recordBrokenLimit(address: string): void {
    this.#record(address, { points: failureScores.brokenLimit });
  }

  /** Counts nothing for an address from which somebody has signed in lately: browsers open connections in advance. */
  recordSilence(address: string): void {
    if (!this.#deps.hasSignedInLately(address)) this.#record(address, { points: failureScores.silence });
  }

  /** Counts what another node has counted. */
  take({ peer, subject, points, at }: CountedFailure): void {
    const { now, windowMs } = this.#window();
    // Clocks of nodes differ by some milliseconds.
    const scored = { points, at: Math.min(at, now) };
    if (!this.#options.enabled || now - scored.at >= windowMs) return;
    if (subject !== undefined) this.#users.add(subject, peer, scored, { now, windowMs });
    this.#countPeer(peer, peer, scored);
  }

  /** A ban as it is noted for all nodes. */
  takeBan(noted: KeptBan): void {
    if (this.#bans.take(noted)) this.#addresses.clear(noted.key);
  }

  /** The last ban of an address or network, or that it was lifted. */
  banOf(key: string): KeptBan | undefined {
    return this.#bans.get(key);
  }

  #isCounted(address: string): boolean {
    return this.#options.enabled && !this.#allowed.has(address);
  }

  #window(): ScoreWindow {
    return { now: this.#deps.clock.now(), windowMs: this.#options.windowMs };
  }

  #isGuessedAt(peer: SignInPeer): boolean {
    return this.#users.isGuessedAt(subjectOf(peer), this.#options.maxScore, this.#window());
  }

  #record(
    address: string,
    { points, subject }: { readonly points: number; readonly subject?: string },
  ): void {
    if (!this.#isCounted(address)) return;
    const [peer, at] = [peerKeyOf(address), this.#deps.clock.now()];
    if (subject !== undefined) this.#users.add(subject, peer, { points, at }, this.#window());
    // Who is banned already has nothing to add.
    if (this.#bans.remainingMs(peer) === 0) this.#deps.watch?.counted({ peer, subject, points, at });
    this.#countPeer(address, peer, { points, at });
  }

  #countPeer(address: string, peer: string, scored: Scored): void {
    const { maxScore } = this.#options;
    const wider = widerNetworkOf(peer);
    this.#count(address, peer, { scored, limit: maxScore });
    if (wider !== undefined) this.#count(address, wider, { scored, limit: maxScore * wideNetworkFactor });
  }

  /** Of a time before the last ban began or was lifted: another node told of it late. */
  #isSettled(key: string, { at }: Scored): boolean {
    const since = this.#bans.get(key)?.since ?? 0;
    return at < since && since <= this.#deps.clock.now();
  }

  #count(address: string, key: string, { scored, limit }: { scored: Scored; limit: number }): void {
    // Attempts that were running when the ban began must not make the next one come sooner.
    if (this.#bans.remainingMs(key) > 0 || this.#isSettled(key, scored)) return;
    if (this.#addresses.add(key, scored, this.#window()) < limit) return;
    this.#addresses.clear(key);
    const bannedForMs = this.#bans.start(key, this.#options);
    this.#deps.watch?.banned(key);
    this.#deps.log.warn(
      { address, countedAs: key, bannedForMs },
      "address banned after too many failed sign-ins",
    );
  }
}
