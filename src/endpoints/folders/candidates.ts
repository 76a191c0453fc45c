/**
 * The settle rule: a file is complete when two checks that lie `settleMs` apart find the same size, mtime and inode
 * (specification/file-exchange.md#complete-files). The mtime is only compared with itself, never with the clock: Samba
 * allocates the full size first, and SFTP clients keep old times.
 *
 *   first check ──settleMs──> same in the next check ──> settled
 *        ^                              │
 *        └── changed: from here again ──┘
 *
 * Times are milliseconds of a clock that never jumps.
 */
import type { Stats } from "node:fs";
import { cameAtMs } from "../../inbound/places/copy-mode.ts";
import { againFolderName } from "../../inbound/places/place-arrival.ts";

/** What a check found of a file. */
export interface FileState {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  /** When it got its name, at the latest. */
  readonly ctimeMs: number;
  /** When it came, should an earlier run have left it. */
  readonly cameAtMs: number;
}

export function fileStateOf(stats: Stats): FileState {
  const { size, mtimeMs, ino, ctimeMs } = stats;
  return { size, mtimeMs, ino, ctimeMs, cameAtMs: cameAtMs(stats) };
}

export function isSameState(one: FileState, other: FileState): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ino === other.ino;
}

/** How many files of one folder are watched for completeness at once; more are found when these are taken. */
const maxCandidates = 200_000;

interface Candidate {
  readonly state: FileState;
  readonly checkedAtMs: number;
  readonly isRecovered: boolean;
}

export interface SettledFile {
  /** As it was added: relative to the folder. */
  readonly name: string;
  readonly state: FileState;
  readonly isRecovered: boolean;
}

export class Candidates {
  readonly #files = new Map<string, Candidate>();
  /** Whether one of `.again` was found and not handed over: scans of the folder do not find it again. */
  hasLeftAgain = false;
  /** Whether sources of `inbound/` may lie aside: until a sweep has dealt with them, nothing of it is taken. */
  mayLieAside: boolean;
  readonly #isInbox: boolean;

  constructor({ isInbox }: { readonly isInbox: boolean }) {
    this.#isInbox = isInbox;
    this.mayLieAside = isInbox;
  }

  get size(): number {
    return this.#files.size;
  }

  get isFull(): boolean {
    return this.#files.size >= maxCandidates;
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  /** The first check of a file; `atMs`: when it was, or since when the file has not changed. */
  add(name: string, state: FileState, at: { readonly atMs: number; readonly isRecovered: boolean }): void {
    if (this.isFull) return;
    this.#files.set(name, { state, checkedAtMs: at.atMs, isRecovered: at.isRecovered });
  }

  drop(name: string): void {
    this.#files.delete(name);
    this.#noteLeft(name);
  }

  /** Files are in between their names: the next scan looks there. */
  noteBetween(left: { readonly isLeftInAgain: boolean; readonly isLeftAside: boolean }): void {
    if (!this.#isInbox) return;
    this.hasLeftAgain ||= left.isLeftInAgain;
    this.mayLieAside ||= left.isLeftAside;
  }

  /** All are to be found again. */
  clear(): void {
    for (const name of this.#files.keys()) this.drop(name);
  }

  /** Files that had settled are not handed over. */
  left(names: readonly string[]): void {
    for (const name of names) this.#noteLeft(name);
  }

  #noteLeft(name: string): void {
    if (name.startsWith(`${againFolderName}/`)) this.hasLeftAgain = true;
  }

  /** When the next check is due; undefined without candidates. */
  dueAtMs(settleMs: number): number | undefined {
    let earliest: number | undefined;
    for (const { checkedAtMs } of this.#files.values()) {
      if (earliest === undefined || checkedAtMs < earliest) earliest = checkedAtMs;
    }
    return earliest === undefined ? undefined : earliest + settleMs;
  }

  /** The names whose last check is at least `settleMs` ago. */
  due(nowMs: number, settleMs: number): string[] {
    const names: string[] = [];
    for (const [name, { checkedAtMs }] of this.#files) if (nowMs - checkedAtMs >= settleMs) names.push(name);
    return names;
  }

  /** The next check of a file. Returns the file when it has settled, and drops it from the candidates. */
  checkAgain(name: string, state: FileState, atMs: number): SettledFile | undefined {
    const before = this.#files.get(name);
    if (before === undefined) return undefined;
    const { isRecovered } = before;
    if (!isSameState(before.state, state)) {
      this.#files.set(name, { state, checkedAtMs: atMs, isRecovered });
      return undefined;
    }
    this.#files.delete(name);
    return { name, state, isRecovered };
  }
}
