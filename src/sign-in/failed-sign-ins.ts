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
 * All of it is in memory, bounded whatever number of addresses and names come, and begins anew with the process. Names
 * that exist are counted apart from names that do not, so that made-up names cannot push out the count of a real one;
 * both cost the same and are refused alike.
 */
import { createHash } from "node:crypto";
import { type AddressSet, createAddressSet, networkOf, peerKeyOf } from "../lib/address-range.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import type { Clock } from "../lib/clock.ts";
import { dayMs } from "../lib/durations.ts";

/** The options of the section `security.bans`. */
export interface BanOptions {
  readonly enabled: boolean;
  readonly maxScore: number;
  readonly windowMs: number;
  readonly banMs: number;
  readonly growthPercent: number;
  /** Addresses and CIDR ranges that are never counted. */
  readonly allow: readonly string[];
}

/** Points. A wrong password and an unknown user cost the same: the count must not tell who exists. */
export const failureScores = { failedSignIn: 1, silence: 1, brokenLimit: 3 } as const;

/** Who tries to sign in, and whether there is a user of that name. */
export interface SignInPeer {
  readonly address: string;
  readonly userName: string;
  readonly isKnownUser: boolean;
}

/** Some 40 MB when all are full. */
const maxAddresses = 50_000;
const maxUserNames = 10_000;
/** How long after its end a ban makes the next one longer, and how long one lasts at most. */
const banMemoryMs = 7 * dayMs;
const longestBanMs = 30 * dayMs;
/** How often a stranger may try a user that is guessed at. */
const strangersTryEveryMs = 60_000;
/** How many times the score of a /64 bans a /48. */
const wideNetworkFactor = 10;

/** Entries of one key cover the window with this grain at least. */
const grainsPerWindow = 60;

interface ScoreWindow {
  readonly now: number;
  readonly windowMs: number;
}

interface Points {
  readonly at: number;
  points: number;
}

/**
 * Points within a sliding window, by key. Bounded in every direction: when there are too many keys, those go that scored
 * longest ago; points of one key that come close together share one entry.
 */
class ScoreBoard {
  readonly #scores;

  constructor(maxKeys: number) {
    this.#scores = new BoundedMap<Points[]>(maxKeys);
  }

  /** Adds points and returns the total within the window. */
  add(key: string, points: number, window: ScoreWindow): number {
    const entries = this.#livePoints(key, window);
    const last = entries.at(-1);
    if (last !== undefined && window.now - last.at < window.windowMs / grainsPerWindow) last.points += points;
    else entries.push({ at: window.now, points });
    this.#scores.set(key, entries);
    return this.#total(entries);
  }

  reaches(key: string, limit: number, window: ScoreWindow): boolean {
    return this.#total(this.#livePoints(key, window)) >= limit;
  }

  clear(key: string): void {
    this.#scores.delete(key);
  }

  #total(entries: readonly Points[]): number {
    return entries.reduce((total, { points }) => total + points, 0);
  }

  #livePoints(key: string, { now, windowMs }: ScoreWindow): Points[] {
    const entries = this.#scores.get(key);
    if (entries === undefined) return [];
    // A clock that was set back must not make points last longer than the window.
    const live = entries.filter(({ at }) => at <= now && now - at < windowMs);
    if (live.length === 0) this.#scores.delete(key);
    return live;
  }
}

/** Points by user name. One address alone slows nobody: it is banned itself before that. */
class UserCounts {
  readonly #board = new ScoreBoard(maxUserNames);
  readonly #sources = new BoundedMap<{ readonly lastKey: string; readonly spreadUntil: number }>(
    maxUserNames,
  );

  isGuessedAt(name: string, limit: number, window: ScoreWindow): boolean {
    const source = this.#sources.get(name);
    return (
      source !== undefined && source.spreadUntil > window.now && this.#board.reaches(name, limit, window)
    );
  }

  add(name: string, addressKey: string, window: ScoreWindow): void {
    this.#board.add(name, failureScores.failedSignIn, window);
    const before = this.#sources.get(name);
    const isOther = before !== undefined && before.lastKey !== addressKey;
    const spreadUntil = isOther ? window.now + window.windowMs : (before?.spreadUntil ?? 0);
    this.#sources.set(name, { lastKey: addressKey, spreadUntil });
  }
}

/** For monitoring. A network counts as one address. */
export interface BanStatistics {
  /** Since the start. */
  readonly begun: number;
  readonly active: number;
}

/** A ban that lasts. */
export interface Ban {
  /** The address, or the network that counts as one. */
  readonly key: string;
  /** Milliseconds UTC. */
  readonly until: number;
  /** How many bans of it this is the latest of. */
  readonly count: number;
}

/** Bans, for operators. */
export interface SignInBans {
  /** Those that last, in no order. */
  list(): readonly Ban[];
  /** Ends a ban at once, and forgets that there was one. */
  lift(key: string): void;
}

class Bans {
  readonly #clock: Clock;
  readonly #bans = new BoundedMap<Ban>(maxAddresses);
  #begun = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  statistics(): BanStatistics {
    const now = this.#clock.now();
    let active = 0;
    for (const { until } of this.#bans.values()) if (until > now) active += 1;
    return { begun: this.#begun, active };
  }

  active(): readonly Ban[] {
    const now = this.#clock.now();
    return [...this.#bans.values()].filter(({ until }) => until > now);
  }

  lift(key: string): void {
    this.#bans.delete(key);
  }

  remainingMs(key: string | undefined): number {
    const ban = key === undefined ? undefined : this.#bans.get(key);
    return ban === undefined ? 0 : Math.max(0, ban.until - this.#clock.now());
  }

  /** Begins a ban; returns how long it lasts. */
  start(key: string, { banMs, growthPercent }: BanOptions): number {
    const now = this.#clock.now();
    const before = this.#bans.get(key);
    const earlier = before === undefined || now - before.until > banMemoryMs ? 0 : before.count;
    const lastsMs = Math.min(longestBanMs, Math.round(banMs * (1 + growthPercent / 100) ** earlier));
    this.#bans.set(key, { key, until: now + lastsMs, count: earlier + 1 });
    this.#begun += 1;
    return lastsMs;
  }
}

/** A name of any length takes bounded memory. */
function nameKeyOf(userName: string): string {
  return userName.length <= 64 ? userName : createHash("sha256").update(userName).digest("base64");
}

function pairOf({ address, userName }: SignInPeer): string {
  return `${peerKeyOf(address)} ${nameKeyOf(userName)}`;
}

function widerNetworkOf(address: string): string | undefined {
  return networkOf(address, 48);
}

export interface FailedSignInsDeps {
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly options: BanOptions;
  /** Whether anybody has signed in from the address lately. */
  hasSignedInLately(address: string): boolean;
}

export class FailedSignIns {
  readonly #deps: FailedSignInsDeps;
  readonly #addresses = new ScoreBoard(maxAddresses);
  readonly #knownUsers = new UserCounts();
  readonly #unknownUsers = new UserCounts();
  /** When a stranger last tried a user. */
  readonly #triedAt = new BoundedMap<number>(maxAddresses);
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

  activeBans(): readonly Ban[] {
    return this.#bans.active();
  }

  /** Ends a ban at once. The address counts from zero, and its next ban is as long as a first one. */
  liftBan(key: string): void {
    this.#bans.lift(key);
    this.#addresses.clear(key);
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
    const last = this.#triedAt.get(pairOf(peer));
    if (last === undefined) return 0;
    const remainingMs = Math.min(strangersTryEveryMs, last + strangersTryEveryMs - this.#deps.clock.now());
    return remainingMs > 0 && this.#isCounted(peer.address) && this.#isGuessedAt(peer) ? remainingMs : 0;
  }

  /** The stranger tries the user: if that is slowed, it has to wait before it may again. */
  recordTry(peer: SignInPeer): void {
    if (this.#isGuessedAt(peer)) this.#triedAt.set(pairOf(peer), this.#deps.clock.now());
  }

  recordFailure(peer: SignInPeer): void {
    if (!this.#isCounted(peer.address)) return;
    this.#usersLike(peer).add(nameKeyOf(peer.userName), peerKeyOf(peer.address), this.#window());
    this.#countAddress(peer.address, failureScores.failedSignIn);
  }

  recordBrokenLimit(address: string): void {
    if (this.#isCounted(address)) this.#countAddress(address, failureScores.brokenLimit);
  }

  /** Counts nothing for an address from which somebody has signed in lately: browsers open connections in advance. */
  recordSilence(address: string): void {
    if (this.#isCounted(address) && !this.#deps.hasSignedInLately(address))
      this.#countAddress(address, failureScores.silence);
  }

  #isCounted(address: string): boolean {
    return this.#options.enabled && !this.#allowed.has(address);
  }

  #window(): ScoreWindow {
    return { now: this.#deps.clock.now(), windowMs: this.#options.windowMs };
  }

  #usersLike({ isKnownUser }: SignInPeer): UserCounts {
    return isKnownUser ? this.#knownUsers : this.#unknownUsers;
  }

  #isGuessedAt(peer: SignInPeer): boolean {
    const { maxScore } = this.#options;
    return this.#usersLike(peer).isGuessedAt(nameKeyOf(peer.userName), maxScore, this.#window());
  }

  #countAddress(address: string, points: number): void {
    const { maxScore } = this.#options;
    const wider = widerNetworkOf(address);
    this.#count(address, peerKeyOf(address), { points, limit: maxScore });
    if (wider !== undefined) this.#count(address, wider, { points, limit: maxScore * wideNetworkFactor });
  }

  #count(address: string, key: string, { points, limit }: { points: number; limit: number }): void {
    // Attempts that were running when the ban began must not make the next one come sooner.
    if (this.#bans.remainingMs(key) > 0 || this.#addresses.add(key, points, this.#window()) < limit) return;
    this.#addresses.clear(key);
    const bannedForMs = this.#bans.start(key, this.#options);
    this.#deps.log.warn(
      { address, countedAs: key, bannedForMs },
      "address banned after too many failed sign-ins",
    );
  }
}
