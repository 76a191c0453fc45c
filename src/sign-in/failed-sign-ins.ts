/**
 * Counts failed sign-ins over all protocols: bans addresses that fail too often, and slows users that are guessed at.
 *
 *   address: counted --maxScore points in the window--> banned --banMs, longer each time--> counted from zero
 *   user:    counted --maxScore points from several addresses--> slowed to strangers --points expire--> counted
 *
 * IPv6 addresses are counted by /64, and by /48 at ten times the score, because who has many networks of 64 bits has
 * them mostly out of one of 48. A stranger may try a slowed user once in a minute: the right password is let in from
 * everywhere at any time, while a thousand addresses together get a thousand guesses a minute and no more.
 *
 * All of it is in memory, bounded whatever number of addresses and names come, and begins anew with the process. User
 * names that exist are counted apart from those that do not, so that made-up names cannot push out the count of a real
 * one; both cost the same and are refused alike.
 */
import { createHash } from "node:crypto";
import { type AddressSet, createAddressSet, networkOf, peerKeyOf } from "../lib/address-range.ts";
import type { Clock } from "../lib/clock.ts";
import { createBoundedMap } from "../lib/bounded-map.ts";
import { createScoreBoard, type ScoreBoard, type ScoreWindow } from "./sign-in-score-board.ts";

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

/** A wrong password and an unknown user cost the same: the count must not tell who exists. */
export const failureScores = { failedSignIn: 1, silence: 1, brokenLimit: 3 } as const;

/** Who tries to sign in, and whether there is a user of that name. */
export interface SignInPeer {
  readonly address: string;
  readonly userName: string;
  readonly isKnownUser: boolean;
}

export interface FailedSignIns {
  configure(options: BanOptions): void;
  /** Milliseconds for which the address is still banned; 0 when it is not. */
  bannedForMs(address: string): number;
  /** Milliseconds until this stranger may try the user; 0 when it may now. */
  slowedForMs(peer: SignInPeer): number;
  /** The stranger tries the user: if that is slowed, it has to wait before it may again. */
  recordTry(peer: SignInPeer): void;
  /** 1 point. */
  recordFailure(peer: SignInPeer): void;
  /** 3 points. */
  recordBrokenLimit(address: string): void;
  /** 1 point, but for an address from which somebody has signed in lately: browsers open connections in advance. */
  recordSilence(address: string): void;
}

/** Some 40 MB when all are full. */
const maxAddresses = 50_000;
const maxUserNames = 10_000;
/** How long after its end a ban makes the next one longer, and how long one lasts at most. */
const banMemoryMs = 7 * 86_400_000;
const longestBanMs = 30 * 86_400_000;
/** How often a stranger may try a user that is guessed at. */
const strangersTryEveryMs = 60_000;
/** How many times the score of a /64 bans a /48. */
const wideNetworkFactor = 10;

interface Ban {
  readonly until: number;
  /** How many bans of the address this is the latest of. */
  readonly count: number;
}

/** A name of any length takes bounded memory. */
function nameKeyOf(userName: string): string {
  return userName.length <= 64 ? userName : createHash("sha256").update(userName).digest("base64");
}

export interface FailedSignInsDeps {
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
  readonly options: BanOptions;
  /** Whether anybody has signed in from the address lately. */
  hasSignedInLately(address: string): boolean;
}

type Settings = BanOptions & { readonly allowed: AddressSet };

function toSettings(options: BanOptions): Settings {
  return { ...options, allowed: createAddressSet(options.allow) };
}

interface Bans {
  remainingMs(key: string | undefined): number;
  start(key: string, settings: BanOptions): number;
}

function createBans(clock: Clock): Bans {
  const bans = createBoundedMap<Ban>(maxAddresses);
  return {
    remainingMs(key) {
      const ban = key === undefined ? undefined : bans.get(key);
      return ban === undefined ? 0 : Math.max(0, ban.until - clock.now());
    },
    start(key, { banMs, growthPercent }) {
      const now = clock.now();
      const before = bans.get(key);
      const earlier = before === undefined || now - before.until > banMemoryMs ? 0 : before.count;
      const lastsMs = Math.min(longestBanMs, Math.round(banMs * (1 + growthPercent / 100) ** earlier));
      bans.set(key, { until: now + lastsMs, count: earlier + 1 });
      return lastsMs;
    },
  };
}

interface UserCounts {
  isGuessedAt(name: string, limit: number, window: ScoreWindow): boolean;
  add(name: string, failure: { points: number; addressKey: string }, window: ScoreWindow): void;
}

/** Points by user name. One address alone slows nobody: it is banned itself before that. */
function createUserCounts(board: ScoreBoard): UserCounts {
  const sources = createBoundedMap<{ readonly lastKey: string; readonly spreadUntil: number }>(maxUserNames);
  return {
    isGuessedAt(name, limit, window) {
      const source = sources.get(name);
      if (source === undefined || source.spreadUntil <= window.now) return false;
      return board.msUntilBelow(name, limit, window) > 0;
    },
    add(name, { points, addressKey }, window) {
      board.add(name, points, window);
      const before = sources.get(name);
      const isOther = before !== undefined && before.lastKey !== addressKey;
      const spreadUntil = isOther ? window.now + window.windowMs : (before?.spreadUntil ?? 0);
      sources.set(name, { lastKey: addressKey, spreadUntil });
    },
  };
}

function widerNetworkOf(address: string): string | undefined {
  return networkOf(address, 48);
}

/** Makes the counter. Options can be replaced at any time; what was counted and banned stays. */
export function createFailedSignIns(deps: FailedSignInsDeps): FailedSignIns {
  const { clock, log, hasSignedInLately } = deps;
  let settings = toSettings(deps.options);
  const addresses = createScoreBoard(maxAddresses);
  const knownUsers = createUserCounts(createScoreBoard(maxUserNames));
  const unknownUsers = createUserCounts(createScoreBoard(maxUserNames));
  /** When a stranger last tried a user. */
  const triedAt = createBoundedMap<number>(maxAddresses);
  const bans = createBans(clock);

  const isCounted = (address: string) => settings.enabled && !settings.allowed.has(address);
  const window = (): ScoreWindow => ({ now: clock.now(), windowMs: settings.windowMs });
  const usersLike = (peer: SignInPeer) => (peer.isKnownUser ? knownUsers : unknownUsers);
  const pairOf = ({ address, userName }: SignInPeer) => `${peerKeyOf(address)} ${nameKeyOf(userName)}`;

  function isGuessedAt(peer: SignInPeer): boolean {
    return usersLike(peer).isGuessedAt(nameKeyOf(peer.userName), settings.maxScore, window());
  }

  function count(address: string, key: string, { points, limit }: { points: number; limit: number }): void {
    // Attempts that were running when the ban began must not make the next one come sooner.
    if (bans.remainingMs(key) > 0 || addresses.add(key, points, window()) < limit) return;
    addresses.clear(key);
    const bannedForMs = bans.start(key, settings);
    log.warn({ address, countedAs: key, bannedForMs }, "address banned after too many failed sign-ins");
  }

  function countAddress(address: string, points: number): void {
    const wider = widerNetworkOf(address);
    count(address, peerKeyOf(address), { points, limit: settings.maxScore });
    if (wider !== undefined) count(address, wider, { points, limit: settings.maxScore * wideNetworkFactor });
  }

  return {
    configure(options) {
      settings = toSettings(options);
    },
    bannedForMs(address) {
      const own = bans.remainingMs(peerKeyOf(address));
      const wider = bans.remainingMs(widerNetworkOf(address));
      // Hosts are not to suffer from their neighbours.
      const remainingMs = wider > own && !hasSignedInLately(address) ? wider : own;
      return remainingMs > 0 && isCounted(address) ? remainingMs : 0;
    },
    slowedForMs(peer) {
      const last = triedAt.get(pairOf(peer));
      if (last === undefined) return 0;
      const remainingMs = Math.min(strangersTryEveryMs, last + strangersTryEveryMs - clock.now());
      return remainingMs > 0 && isCounted(peer.address) && isGuessedAt(peer) ? remainingMs : 0;
    },
    recordTry(peer) {
      if (isGuessedAt(peer)) triedAt.set(pairOf(peer), clock.now());
    },
    recordFailure(peer) {
      if (!isCounted(peer.address)) return;
      const points = failureScores.failedSignIn;
      const addressKey = peerKeyOf(peer.address);
      usersLike(peer).add(nameKeyOf(peer.userName), { points, addressKey }, window());
      countAddress(peer.address, points);
    },
    recordBrokenLimit(address) {
      if (isCounted(address)) countAddress(address, failureScores.brokenLimit);
    },
    recordSilence(address) {
      if (isCounted(address) && !hasSignedInLately(address)) countAddress(address, failureScores.silence);
    },
  };
}
