/**
 * The addresses from which each user has signed in, and so is no stranger.
 *
 * Sign-ins read the memory; the database keeps it for the next start. A pair that is new, or was last noted more than an
 * hour ago, is written right after the sign-in; a crash before that costs the pair, and nothing else. Pairs are forgotten
 * after 90 days, and the oldest when there are too many.
 */
import { peerKeyOf } from "../lib/address-range.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Store } from "../store/database/database.ts";
import {
  listNewSignInAddresses,
  listSignInAddresses,
  pruneSignInAddresses,
  type SignInAddress,
  saveSignInAddresses,
} from "../store/accounts/sign-in-addresses.ts";
import { BoundedMap } from "../lib/bounded-map.ts";
import { dayMs, hourMs, minuteMs } from "../lib/durations.ts";

export interface FamiliarAddressesDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

const maxPairs = 50_000;
const keepMs = 90 * dayMs;
/** How exact the time of the last sign-in is kept. */
const grainMs = hourMs;

/** Nodes write with their own clocks, and a moment later. */
const clockGraceMs = minuteMs;

function pairOf(peer: string, userId: number): string {
  return `${peer} ${userId}`;
}

export class FamiliarAddresses {
  readonly #deps: FamiliarAddressesDeps;
  readonly #pairs = new BoundedMap<number>(maxPairs);
  readonly #peers = new BoundedMap<number>(maxPairs);
  #unwritten = new Map<string, SignInAddress>();
  #writing: Promise<void> | undefined;
  /** The newest time that is known. */
  #readUntil = 0;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: FamiliarAddressesDeps) {
    this.#deps = deps;
  }

  /** Removes old rows, and reads those of earlier runs. */
  async load(): Promise<void> {
    await this.#prune();
    const addresses = await listSignInAddresses(this.#deps.store.read, maxPairs);
    // Oldest first: the newest are to be forgotten last.
    for (const address of addresses.toReversed()) this.#remember(address);
  }

  /** Reads what other nodes have noted since it was read last. */
  async learn(): Promise<void> {
    const noted = await listNewSignInAddresses(
      this.#deps.store.read,
      this.#readUntil - clockGraceMs,
      maxPairs,
    );
    for (const address of noted) {
      const known = this.#pairs.get(pairOf(address.peer, address.userId));
      if (known === undefined || known < address.lastAt) this.#remember(address);
    }
  }

  /** Whether the user has signed in from the address before. */
  has(address: string, userId: number): boolean {
    return this.#pairs.has(pairOf(peerKeyOf(address), userId));
  }

  /** Whether anybody has signed in from the address during the last day. */
  hasSignedInLately(address: string): boolean {
    const lastAt = this.#peers.get(peerKeyOf(address));
    return lastAt !== undefined && this.#deps.clock.now() - lastAt < dayMs;
  }

  /** The user has signed in from the address. */
  note(address: string, userId: number): void {
    const peer = peerKeyOf(address);
    const pair = pairOf(peer, userId);
    const lastAt = this.#deps.clock.now();
    const before = this.#pairs.get(pair);
    if (before !== undefined && Math.abs(lastAt - before) < grainMs) return;
    const noted = { userId, peer, lastAt };
    this.#remember(noted);
    this.#unwritten.set(pair, noted);
    this.#writing ??= this.#write();
  }

  /** Resolves when all of it is in the database, or could not be written. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  #remember({ peer, userId, lastAt }: SignInAddress): void {
    this.#readUntil = Math.max(this.#readUntil, lastAt);
    this.#pairs.set(pairOf(peer, userId), lastAt);
    if ((this.#peers.get(peer) ?? 0) < lastAt) this.#peers.set(peer, lastAt);
  }

  async #prune(): Promise<void> {
    const { clock, store } = this.#deps;
    const now = clock.now();
    if (now - this.#prunedAt < dayMs) return;
    this.#prunedAt = now;
    await store.write("unowned", (tx) => pruneSignInAddresses(tx, { before: now - keepMs, keep: maxPairs }));
  }

  async #write(): Promise<void> {
    const { store, log } = this.#deps;
    while (this.#unwritten.size > 0) {
      const addresses = [...this.#unwritten.values()];
      this.#unwritten = new Map();
      try {
        await store.write("unowned", (tx) => saveSignInAddresses(tx, addresses));
        await this.#prune();
      } catch (error) {
        // The sign-ins stay valid: after a restart these addresses are strangers until they sign in once.
        log.warn({ err: error, addresses: addresses.length }, "addresses of sign-ins could not be saved");
      }
    }
    this.#writing = undefined;
  }
}
