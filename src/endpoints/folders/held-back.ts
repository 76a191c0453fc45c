/**
 * Files that could not be taken: each is reported once, with what to do, and tried again after pauses that grow from one
 * scan to an hour, so that a read-only share costs nothing.
 */
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/log.ts";

const longestPauseMs = 3_600_000;

const permission =
  "give the user of dropgate the right to read the file and to write in its folder (a folder with the sticky bit lets only owners move files)";

const remedies: Readonly<Record<string, string>> = {
  EACCES: permission,
  EPERM: permission,
  EROFS: "mount the file system writable, so that files that were taken can be removed",
  EBUSY: "another program holds the file; it is taken as soon as it is free",
  ETXTBSY: "another program holds the file; it is taken as soon as it is free",
  ENOSPC: "make room on the disk of the state directory",
  EDQUOT: "make room on the disk of the state directory, or raise the quota",
  EIO: "look after the disk or the share: reading or writing failed",
};

export function remedyFor(error: unknown): string {
  return remedies[systemCodeOf(error) ?? ""] ?? "look at the reason; the file is tried again";
}

interface Held {
  readonly attempts: number;
  readonly untilMs: number;
  scan: number;
}

export class HeldBack {
  readonly #log: Logger;
  readonly #held = new Map<string, Held>();
  #scan = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Whether the file is to be left for now. */
  isResting(name: string, nowMs: number): boolean {
    const held = this.#held.get(name);
    if (held === undefined) return false;
    held.scan = this.#scan;
    return nowMs < held.untilMs;
  }

  /** The file could not be taken. */
  failed(name: string, error: unknown, at: { readonly nowMs: number; readonly scanMs: number }): void {
    const attempts = (this.#held.get(name)?.attempts ?? 0) + 1;
    const pauseMs = Math.min(at.scanMs * 2 ** (attempts - 1), longestPauseMs);
    this.#held.set(name, { attempts, untilMs: at.nowMs + pauseMs, scan: this.#scan });
    if (attempts > 1) return;
    this.#log.warn(
      { file: name, systemCode: systemCodeOf(error), reason: messageOf(error), remedy: remedyFor(error) },
      "a file cannot be taken; it stays where it is and is tried again",
    );
  }

  taken(name: string): void {
    this.#held.delete(name);
  }

  /** Forgets what was not seen since the last call. To be called at the end of each full scan. */
  endScan(): void {
    for (const [name, held] of this.#held) if (held.scan < this.#scan) this.#held.delete(name);
    this.#scan += 1;
  }
}
