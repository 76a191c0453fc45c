/**
 * From which addresses each user has signed in, and so is no stranger.
 *
 * Sign-ins ask the memory; the database has it for the next start. A pair that is new, or was last noted more than an
 * hour ago, is written at once, behind the sign-in; a crash before that costs the pair, and nothing else. What is 90 days
 * old is forgotten. Bounded: the newest pairs and addresses stay.
 */
import { peerKeyOf } from "../lib/address-range.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Store } from "../store/database/database.ts";
import {
  listSignInAddresses,
  pruneSignInAddresses,
  type SignInAddress,
  saveSignInAddresses,
} from "../store/accounts/sign-in-addresses.ts";
import { createBoundedMap } from "../lib/bounded-map.ts";

export interface FamiliarAddresses {
  /** Reads the rows of earlier runs, and removes old ones. */
  load(): Promise<void>;
  /** Whether the user has signed in from the address before. */
  has(address: string, userId: number): boolean;
  /** Whether anybody has signed in from the address during the last day. */
  hasSignedInLately(address: string): boolean;
  /** The user has signed in from the address. */
  note(address: string, userId: number): void;
  /** Resolves when all of it is in the database, or could not be written. */
  settled(): Promise<void>;
}

export interface FamiliarAddressesDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

const maxPairs = 50_000;
const dayMs = 86_400_000;
const keepMs = 90 * dayMs;
/** How exact the time of the last sign-in is kept. */
const grainMs = 3_600_000;

function pairOf(peer: string, userId: number): string {
  return `${peer} ${userId}`;
}

export function createFamiliarAddresses({ store, clock, log }: FamiliarAddressesDeps): FamiliarAddresses {
  const pairs = createBoundedMap<number>(maxPairs);
  const peers = createBoundedMap<number>(maxPairs);
  let unwritten = new Map<string, SignInAddress>();
  let writing: Promise<void> | undefined;
  let prunedAt = Number.NEGATIVE_INFINITY;

  function remember({ peer, userId, lastAt }: SignInAddress): void {
    pairs.set(pairOf(peer, userId), lastAt);
    if ((peers.get(peer) ?? 0) < lastAt) peers.set(peer, lastAt);
  }

  async function prune(): Promise<void> {
    const now = clock.now();
    if (now - prunedAt < dayMs) return;
    prunedAt = now;
    await store.write("site", (tx) => pruneSignInAddresses(tx, { before: now - keepMs, keep: maxPairs }));
  }

  async function write(): Promise<void> {
    while (unwritten.size > 0) {
      const addresses = [...unwritten.values()];
      unwritten = new Map();
      try {
        await store.write("site", (tx) => saveSignInAddresses(tx, addresses));
        await prune();
      } catch (error) {
        // The sign-ins stay valid: after a restart these addresses are strangers until they sign in once.
        log.warn({ err: error, addresses: addresses.length }, "addresses of sign-ins could not be saved");
      }
    }
    writing = undefined;
  }

  return {
    async load() {
      await prune();
      const addresses = await listSignInAddresses(store.read, maxPairs);
      // Oldest first: the newest are to be forgotten last.
      for (const address of addresses.toReversed()) remember(address);
    },
    has: (address, userId) => pairs.has(pairOf(peerKeyOf(address), userId)),
    hasSignedInLately(address) {
      const lastAt = peers.get(peerKeyOf(address));
      return lastAt !== undefined && clock.now() - lastAt < dayMs;
    },
    note(address, userId) {
      const peer = peerKeyOf(address);
      const pair = pairOf(peer, userId);
      const lastAt = clock.now();
      const before = pairs.get(pair);
      if (before !== undefined && Math.abs(lastAt - before) < grainMs) return;
      const noted = { userId, peer, lastAt };
      remember(noted);
      unwritten.set(pair, noted);
      writing ??= write();
    },
    async settled() {
      await writing;
    },
  };
}
