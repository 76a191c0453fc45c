/** Addresses and networks that are banned, and how long each next ban lasts. */
import { BoundedMap } from "../../lib/bounded-map.ts";
import type { Clock } from "../../lib/clock.ts";
import { dayMs } from "../../lib/durations.ts";

const maxBans = 50_000;
/** How long after its end a ban makes the next one longer, and how long one lasts at most. */
export const banMemoryMs = 7 * dayMs;
const longestBanMs = 30 * dayMs;

/** A ban that lasts. */
export interface Ban {
  /** The address, or the network that counts as one. */
  readonly key: string;
  /** Milliseconds UTC. */
  readonly until: number;
  /** How many bans of it this is the latest of. */
  readonly count: number;
}

/** A ban, or the end of one: that was lifted when it is over with a `count` of 0. */
export interface KeptBan extends Ban {
  /** When it began, or was lifted: what the address did before does not count any more. */
  readonly since: number;
}

/** For monitoring. A network counts as one address. */
export interface BanStatistics {
  /** Since the start. */
  readonly begun: number;
  readonly active: number;
}

export interface BanLength {
  readonly banMs: number;
  readonly growthPercent: number;
}

export class Bans {
  readonly #clock: Clock;
  readonly #bans = new BoundedMap<KeptBan>(maxBans);
  #begun = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  statistics(): BanStatistics {
    return { begun: this.#begun, active: this.active().length };
  }

  active(): readonly Ban[] {
    const now = this.#clock.now();
    const lasting = [...this.#bans.values()].filter(({ until }) => until > now);
    return lasting.map(({ key, until, count }) => ({ key, until, count }));
  }

  get(key: string): KeptBan | undefined {
    return this.#bans.get(key);
  }

  remainingMs(key: string | undefined): number {
    const ban = key === undefined ? undefined : this.#bans.get(key);
    return ban === undefined ? 0 : Math.max(0, ban.until - this.#clock.now());
  }

  lift(key: string): void {
    this.#bans.set(key, { key, until: 0, count: 0, since: this.#clock.now() });
  }

  /** Begins a ban; returns how long it lasts. */
  start(key: string, { banMs, growthPercent }: BanLength): number {
    const now = this.#clock.now();
    const before = this.#bans.get(key);
    const earlier = before === undefined || now - before.until > banMemoryMs ? 0 : before.count;
    const lastsMs = Math.min(longestBanMs, Math.round(banMs * (1 + growthPercent / 100) ** earlier));
    this.#bans.set(key, { key, until: now + lastsMs, count: earlier + 1, since: now });
    this.#begun += 1;
    return lastsMs;
  }

  /** Takes over what a node has noted for all; whether that is news. */
  take(noted: KeptBan): boolean {
    const known = this.#bans.get(noted.key);
    const isLifted = noted.count === 0;
    // A ban that began here after the other was lifted is the newer one.
    if (isLifted && known !== undefined && known.since > noted.since) return false;
    const isForgiven = known === undefined || noted.since - known.until > banMemoryMs;
    if (isLifted || isForgiven) {
      this.#bans.set(noted.key, noted);
      return true;
    }
    const [until, count] = [Math.max(known.until, noted.until), Math.max(known.count, noted.count)];
    if (until === known.until && count === known.count) return false;
    this.#bans.set(noted.key, { ...noted, until, count });
    return true;
  }
}
