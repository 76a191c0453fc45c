/**
 * Tells whether a folder that a full scan found empty is still as it was, by the folder's own times: one call instead of a
 * listing, which is most of what an idle daemon with many companies does.
 *
 *   full scan, empty ──> marked ──same times──> nothing to look for, at most `trustedMs` long
 *                          └──── others ────> full scan
 *
 * Whatever enters a folder or leaves it changes the folder's times. Two things could hide that, and neither hides a file for
 * longer than `trustedMs`: a change within the same tick of the file system's clock as the last one (so a folder that has just
 * changed is not marked), and a file system that does not keep these times (found out by the first file that the full
 * scan finds; the folder is always listed from then on).
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
  /** When `before` was taken, by the clock of the wall and by one that never jumps. */
  readonly now: number;
  readonly nowMs: number;
}

export class EmptyFolder {
  #mark: Times | undefined;
  #trustedUntilMs = 0;
  #isKeepingTimes = true;

  /** Whether its times can say anything now. */
  mayAsk(nowMs: number): boolean {
    return this.#mark !== undefined && nowMs < this.#trustedUntilMs;
  }

  /** Whether nothing can have come since the full scan. */
  isUnchanged(times: Times): boolean {
    return this.#mark !== undefined && isSame(this.#mark, times);
  }

  /** The folder was listed. `look` gives its times as they are now. */
  async listed({ before, isEmpty, now, nowMs }: Listing, look: () => Promise<Times>): Promise<void> {
    const mark = this.#mark;
    this.#mark = undefined;
    if (!isEmpty) {
      // Something has come since the mark, and the times do not tell: not before the listing, and not while it ran.
      if (mark !== undefined && isSame(mark, before) && isSame(mark, await look()))
        this.#isKeepingTimes = false;
      return;
    }
    const sinceChangeMs = now - Math.max(before.mtimeMs, before.ctimeMs);
    if (!this.#isKeepingTimes || sinceChangeMs < longestTickMs) return;
    this.#mark = before;
    this.#trustedUntilMs = nowMs + trustedMs;
  }

  /** The folder could not be read. */
  forget(): void {
    this.#mark = undefined;
  }
}
