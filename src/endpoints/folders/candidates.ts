/**
 * The settle rule: a file is complete when size, mtime and inode are the same in two looks that lie `settleMs` apart
 * (specification/file-exchange.md#complete-files). Both looks are ours. The mtime is only compared with itself, never
 * with the clock: Samba allocates the full size first, and SFTP clients keep old times.
 *
 *   first look ──settleMs──> same in the next look ──> settled
 *        ^                              │
 *        └── changed: from here again ──┘
 *
 * Times are milliseconds of a clock that never jumps.
 */
import type { Stats } from "node:fs";

/** What a look at a file saw. */
export interface Look {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  /** When it got its name, at the latest. */
  readonly ctimeMs: number;
}

export function lookOf(stats: Stats): Look {
  return { size: stats.size, mtimeMs: stats.mtimeMs, ino: stats.ino, ctimeMs: stats.ctimeMs };
}

export function isSameLook(one: Look, other: Look): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ino === other.ino;
}

/** How many files of one folder are watched for completeness at once; more are found when these are taken. */
const maxCandidates = 200_000;

interface Candidate {
  readonly look: Look;
  readonly lookedAtMs: number;
  readonly isRecovered: boolean;
}

export interface SettledFile {
  /** As it was added: relative to the folder. */
  readonly name: string;
  readonly look: Look;
  readonly isRecovered: boolean;
}

export class Candidates {
  readonly #files = new Map<string, Candidate>();

  get size(): number {
    return this.#files.size;
  }

  get isFull(): boolean {
    return this.#files.size >= maxCandidates;
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  /** A first look. `atMs` must not be before the look was taken. */
  add(name: string, look: Look, at: { readonly atMs: number; readonly isRecovered: boolean }): void {
    if (this.isFull) return;
    this.#files.set(name, { look, lookedAtMs: at.atMs, isRecovered: at.isRecovered });
  }

  drop(name: string): void {
    this.#files.delete(name);
  }

  /** When the next look is worth it; undefined when there is nothing to look at. */
  dueAtMs(settleMs: number): number | undefined {
    let earliest: number | undefined;
    for (const { lookedAtMs } of this.#files.values()) {
      if (earliest === undefined || lookedAtMs < earliest) earliest = lookedAtMs;
    }
    return earliest === undefined ? undefined : earliest + settleMs;
  }

  /** The names whose last look is long enough ago. */
  due(nowMs: number, settleMs: number): string[] {
    const names: string[] = [];
    for (const [name, { lookedAtMs }] of this.#files) if (nowMs - lookedAtMs >= settleMs) names.push(name);
    return names;
  }

  /** A next look at a file that was due. Gives the file when it has settled; it is no candidate any more then. */
  lookAgain(name: string, look: Look, atMs: number): SettledFile | undefined {
    const before = this.#files.get(name);
    if (before === undefined) return undefined;
    const { isRecovered } = before;
    if (!isSameLook(before.look, look)) {
      this.#files.set(name, { look, lookedAtMs: atMs, isRecovered });
      return undefined;
    }
    this.#files.delete(name);
    return { name, look, isRecovered };
  }
}
