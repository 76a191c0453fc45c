/** Points within a sliding window, by key. */
import { BoundedMap } from "../../lib/bounded-map.ts";

/** Entries of one key cover the window with this grain at least. */
const grainsPerWindow = 60;

export interface ScoreWindow {
  readonly now: number;
  readonly windowMs: number;
}

export interface Scored {
  readonly points: number;
  /** Milliseconds UTC; not later than the window's `now`. */
  readonly at: number;
}

interface Points {
  readonly at: number;
  points: number;
}

/**
 * Bounded in every direction: when there are too many keys, those go that scored longest ago; points of one key that come close
 * together share one entry.
 */
export class ScoreBoard {
  readonly #scores;

  constructor(maxKeys: number) {
    this.#scores = new BoundedMap<Points[]>(maxKeys);
  }

  /** Adds points and returns the total within the window. */
  add(key: string, { points, at }: Scored, window: ScoreWindow): number {
    const entries = this.#livePoints(key, window);
    const last = entries.at(-1);
    if (last !== undefined && Math.abs(at - last.at) < window.windowMs / grainsPerWindow)
      last.points += points;
    else entries.push({ at, points });
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
