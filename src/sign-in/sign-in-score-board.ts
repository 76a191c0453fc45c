/**
 * Points within a sliding window, by key. Bounded in every direction: when too many keys are there, those that
 * scored longest ago go; points of one key that come close together are kept as one entry.
 */
import { createBoundedMap } from "../lib/bounded-map.ts";

interface Points {
  readonly at: number;
  points: number;
}

export interface ScoreBoard {
  /** Adds points and returns the total within the window. */
  add(key: string, points: number, window: ScoreWindow): number;
  /** Milliseconds until fewer than `limit` points are left in the window; 0 when it is so already. */
  msUntilBelow(key: string, limit: number, window: ScoreWindow): number;
  clear(key: string): void;
}

export interface ScoreWindow {
  readonly now: number;
  readonly windowMs: number;
}

/** Entries of one key cover the window with this grain at least. */
const grainsPerWindow = 60;

export function createScoreBoard(maxKeys: number): ScoreBoard {
  const scores = createBoundedMap<Points[]>(maxKeys);

  function livePoints(key: string, { now, windowMs }: ScoreWindow): Points[] {
    const entries = scores.get(key);
    if (entries === undefined) return [];
    // A clock that was set back must not make points last longer than the window.
    const live = entries.filter(({ at }) => at <= now && now - at < windowMs);
    if (live.length === 0) scores.delete(key);
    return live;
  }

  return {
    add(key, points, window) {
      const entries = livePoints(key, window);
      const last = entries.at(-1);
      if (last !== undefined && window.now - last.at < window.windowMs / grainsPerWindow)
        last.points += points;
      else entries.push({ at: window.now, points });
      scores.set(key, entries);
      return entries.reduce((total, entry) => total + entry.points, 0);
    },
    msUntilBelow(key, limit, window) {
      const entries = livePoints(key, window);
      let total = entries.reduce((sum, entry) => sum + entry.points, 0);
      let waitMs = 0;
      for (const entry of entries) {
        if (total < limit) break;
        total -= entry.points;
        waitMs = entry.at + window.windowMs - window.now;
      }
      return waitMs;
    },
    clear(key) {
      scores.delete(key);
    },
  };
}
