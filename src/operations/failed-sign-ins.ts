/**
 * Counts failed sign-ins over all protocols and bans those that fail too often (decisions 1).
 *
 *   address: counted --maxScore points in the window--> banned --banMs, longer each time--> counted from zero
 *   user:    counted --maxScore points from several addresses--> closed to strangers --points expire--> counted
 *
 * A stranger is an address from which this user has not signed in successfully: the real host goes on working while
 * the whole world guesses its password. IPv6 addresses are counted by /64. All of it is in memory, bounded whatever
 * number of addresses and names come, and begins anew with the process. User names that exist are counted apart from
 * those that do not, so that made-up names cannot push out the count of a real one; both are refused alike.
 */
import { createHash } from "node:crypto";
import { type AddressSet, createAddressSet, peerKeyOf } from "../lib/address-range.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import { createBoundedMap } from "./sign-in-bounded-map.ts";
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

export const failureScores = { wrongPassword: 1, unknownUser: 2, brokenLimit: 3, silence: 1 } as const;

/** Who tried to sign in, and whether there is a user of that name. */
export interface SignInPeer {
  readonly address: string;
  readonly userName: string;
  readonly isKnownUser: boolean;
  /** Which of the users of that name is meant: an address is familiar to the one it has signed in to, not to the others. */
  readonly userId?: number | undefined;
}

export interface FailedSignIns {
  configure(options: BanOptions): void;
  /** Milliseconds for which the address is still banned; 0 when it is not. */
  bannedForMs(address: string): number;
  /** Milliseconds for which the user is closed to this address; 0 when it is not. */
  closedForMs(peer: SignInPeer): number;
  /** Whether this user has signed in from this address before. */
  isFamiliar(peer: SignInPeer): boolean;
  /** A wrong password (1 point) or, for a user that is not known, 2. */
  recordFailure(peer: SignInPeer): void;
  recordSuccess(peer: SignInPeer): void;
  /** 3 points. */
  recordBrokenLimit(address: string): void;
  /** 1 point, but for an address from which somebody has signed in lately: browsers open connections in advance. */
  recordSilence(address: string): void;
  /** Whether anybody has signed in from the address during the last day. */
  hasSignedInLately(address: string): boolean;
}

/** Some 40 MB when all are full. */
const maxAddresses = 50_000;
const maxUserNames = 10_000;
const maxFamiliarPairs = 50_000;
/** How long after its end a ban makes the next one longer, and how long one lasts at most. */
const banMemoryMs = 7 * 86_400_000;
const longestBanMs = 30 * 86_400_000;
/** For how long somebody who signed in speaks for the address. */
const latelyMs = 86_400_000;

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
  readonly log: Pick<Logger, "warn">;
  readonly options: BanOptions;
}

type Settings = BanOptions & { readonly allowed: AddressSet };

function toSettings(options: BanOptions): Settings {
  return { ...options, allowed: createAddressSet(options.allow) };
}

interface Bans {
  remainingMs(key: string): number;
  start(key: string, settings: BanOptions): number;
}

function createBans(clock: Clock): Bans {
  const bans = createBoundedMap<Ban>(maxAddresses);
  return {
    remainingMs(key) {
      const ban = bans.get(key);
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
  msUntilOpen(name: string, limit: number, window: ScoreWindow): number;
  add(name: string, failure: { points: number; addressKey: string }, window: ScoreWindow): void;
}

/** Points by user name. One address alone closes nothing: it is banned itself before that. */
function createUserCounts(board: ScoreBoard): UserCounts {
  const sources = createBoundedMap<{ readonly lastKey: string; readonly spreadUntil: number }>(maxUserNames);
  return {
    msUntilOpen(name, limit, window) {
      const source = sources.get(name);
      if (source === undefined || source.spreadUntil <= window.now) return 0;
      return Math.min(board.msUntilBelow(name, limit, window), source.spreadUntil - window.now);
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

/** Makes the counter. Options can be replaced at any time; what was counted and banned stays. */
export function createFailedSignIns(deps: FailedSignInsDeps): FailedSignIns {
  const { clock, log } = deps;
  let settings = toSettings(deps.options);
  const addresses = createScoreBoard(maxAddresses);
  const knownUsers = createUserCounts(createScoreBoard(maxUserNames));
  const unknownUsers = createUserCounts(createScoreBoard(maxUserNames));
  const familiar = createBoundedMap<true>(maxFamiliarPairs);
  /** When somebody last signed in from an address. */
  const signedInAt = createBoundedMap<number>(maxAddresses);
  const bans = createBans(clock);

  const isCounted = (address: string) => settings.enabled && !settings.allowed.has(address);
  const window = (): ScoreWindow => ({ now: clock.now(), windowMs: settings.windowMs });
  const usersLike = (peer: SignInPeer) => (peer.isKnownUser ? knownUsers : unknownUsers);
  const pairOf = ({ address, userName, userId }: SignInPeer) =>
    `${peerKeyOf(address)} ${userId ?? ""} ${nameKeyOf(userName)}`;

  function hasSignedInLately(address: string): boolean {
    const at = signedInAt.get(peerKeyOf(address));
    return at !== undefined && clock.now() - at < latelyMs;
  }

  function countAddress(address: string, points: number): void {
    const key = peerKeyOf(address);
    // What was under way when the ban began must not make the next one come sooner.
    if (bans.remainingMs(key) > 0 || addresses.add(key, points, window()) < settings.maxScore) return;
    addresses.clear(key);
    const bannedForMs = bans.start(key, settings);
    log.warn({ address, countedAs: key, bannedForMs }, "address banned after too many failed sign-ins");
  }

  return {
    configure(options) {
      settings = toSettings(options);
    },
    bannedForMs(address) {
      const remainingMs = bans.remainingMs(peerKeyOf(address));
      return remainingMs > 0 && isCounted(address) ? remainingMs : 0;
    },
    closedForMs(peer) {
      const openInMs = usersLike(peer).msUntilOpen(nameKeyOf(peer.userName), settings.maxScore, window());
      return openInMs > 0 && isCounted(peer.address) && !familiar.has(pairOf(peer)) ? openInMs : 0;
    },
    isFamiliar: (peer) => familiar.has(pairOf(peer)),
    recordFailure(peer) {
      if (!isCounted(peer.address)) return;
      const points = peer.isKnownUser ? failureScores.wrongPassword : failureScores.unknownUser;
      const addressKey = peerKeyOf(peer.address);
      usersLike(peer).add(nameKeyOf(peer.userName), { points, addressKey }, window());
      countAddress(peer.address, points);
    },
    recordSuccess(peer) {
      familiar.set(pairOf(peer), true);
      signedInAt.set(peerKeyOf(peer.address), clock.now());
    },
    recordBrokenLimit(address) {
      if (isCounted(address)) countAddress(address, failureScores.brokenLimit);
    },
    recordSilence(address) {
      if (isCounted(address) && !hasSignedInLately(address)) countAddress(address, failureScores.silence);
    },
    hasSignedInLately,
  };
}
