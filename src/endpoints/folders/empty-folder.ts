/**
 * Tells by a folder's own times whether it is still empty, as a full scan found it: one call instead of a listing, which is
 * most of what an idle daemon with many companies does.
 *
 *   full scan, empty ──> marked ──same times──> no scan, for at most `trustedMs`
 *                          └──── others ────> full scan
 *
 * Whatever enters or leaves a folder changes the folder's times. Three things could hide that, for `trustedMs` at most: a
 * second change within one tick of the file system's clock (so a folder that has just changed is not marked), storage of other
 * machines that tells the times late, or by clocks that differ, and a file system that does not keep them (the first file that
 * a full scan finds shows that; from then on the folder is always scanned).
 */
import type { Stats } from "node:fs";

type Times = Pick<Stats, "dev" | "ino" | "mtimeMs" | "ctimeMs">;

/** No file system counts in longer ticks than the 2 s of FAT. */
const longestTickMs = 3_000;
const trustedMs = 60_000;

function isSame(one: Times, other: Times): boolean {
  return (
    one.dev === other.dev &&
    one.ino === other.ino &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs
  );
}

/** A full scan of the folder. */
export interface Listing {
  /** As it was before it was listed. */
  readonly before: Times;
  readonly isEmpty: boolean;
  /** When `before` was taken, by the wall clock (`now`) and by a monotonic one (`nowMs`). */
  readonly now: number;
  readonly nowMs: number;
}

export class EmptyFolder {
  #mark: Times | undefined;
  #trustedUntilMs = 0;
  #isKeepingTimes = true;

  /** Whether the folder is marked, and not for longer than `trustedMs`. */
  mayAsk(nowMs: number): boolean {
    return this.#mark !== undefined && nowMs < this.#trustedUntilMs;
  }

  /** Whether no file can have come since the full scan. */
  isUnchanged(times: Times): boolean {
    return this.#mark !== undefined && isSame(this.#mark, times);
  }

  /** Takes the result of a full scan. `timesNow` reads the times of the folder once more. */
  async listed({ before, isEmpty, now, nowMs }: Listing, timesNow: () => Promise<Times>): Promise<void> {
    const mark = this.#mark;
    this.#mark = undefined;
    if (!isEmpty) {
      // A file has come since the mark, and the times have changed neither before the scan nor while it ran.
      if (mark !== undefined && isSame(mark, before) && isSame(mark, await timesNow()))
        this.#isKeepingTimes = false;
      return;
    }
    const sinceChangeMs = now - Math.max(before.mtimeMs, before.ctimeMs);
    if (!this.#isKeepingTimes || sinceChangeMs < longestTickMs) return;
    this.#mark = before;
    this.#trustedUntilMs = nowMs + trustedMs;
  }

  /** Drops the mark: the folder could not be read. */
  forget(): void {
    this.#mark = undefined;
  }
}
