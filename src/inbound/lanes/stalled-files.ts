/**
 * Files that cannot go on at the moment, and the later files of their stops, which wait for them.
 *
 *   in line ──cannot be read or decided──> parked ──read again, and well──> in line
 *      │                                           │  ^
 *      │                                           └──┘ still not
 *      └──a file of one of its stops is parked before it──> kept back ──that file is in line again──> in line
 *
 * So the order of each stop holds through faults, and no other stop waits. A file that is kept back keeps back the later
 * files of all *its* stops in turn. Nothing here is kept over a crash: all of them are waiting in the ledger, and the next
 * start puts them in line in their order.
 */
import { compareEntries } from "./lane.ts";
import type { WaitingFile } from "./waiting-file.ts";

interface Parked {
  readonly timer: NodeJS.Timeout | undefined;
  readonly stopKeys: readonly string[];
  readonly followers: Set<WaitingFile>;
}

interface KeptBack {
  readonly root: WaitingFile;
  readonly stopKeys: readonly string[];
}

/** Files by each of their stops. */
class ByStop {
  readonly #files = new Map<string, Set<WaitingFile>>();

  add(file: WaitingFile, stopKeys: readonly string[]): void {
    for (const key of stopKeys) {
      const files = this.#files.get(key);
      if (files === undefined) this.#files.set(key, new Set([file]));
      else files.add(file);
    }
  }

  delete(file: WaitingFile, stopKeys: readonly string[]): void {
    for (const key of stopKeys) {
      const files = this.#files.get(key);
      files?.delete(file);
      if (files?.size === 0) this.#files.delete(key);
    }
  }

  findBefore(file: WaitingFile, stopKeys: readonly string[]): WaitingFile | undefined {
    for (const key of stopKeys) {
      for (const other of this.#files.get(key) ?? []) if (goesBefore(other, file)) return other;
    }
    return undefined;
  }
}

/** Whether the other comes first in the order of files. Before it has been read, its place in its second is not known. */
function goesBefore(other: WaitingFile, file: WaitingFile): boolean {
  if (other.nameTime !== file.nameTime) return other.nameTime < file.nameTime;
  return other.key === undefined || compareEntries(other, file) < 0;
}

export class StalledFiles {
  readonly #parked = new Map<WaitingFile, Parked>();
  readonly #keptBack = new Map<WaitingFile, KeptBack>();
  readonly #parkedByStop = new ByStop();
  readonly #keptBackByStop = new ByStop();
  readonly #lookAgain: (file: WaitingFile) => void;

  constructor(lookAgain: (file: WaitingFile) => void) {
    this.#lookAgain = lookAgain;
  }

  get size(): number {
    return this.#parked.size + this.#keptBack.size;
  }

  get keptBackCount(): number {
    return this.#keptBack.size;
  }

  /** Each file that is kept back, with the one that it waits for. */
  *keptBack(): Generator<{ readonly file: WaitingFile; readonly behind: WaitingFile }> {
    for (const [file, { root }] of this.#keptBack) yield { file, behind: root };
  }

  has(file: WaitingFile): boolean {
    return this.#parked.has(file);
  }

  /**
   * Parks a file, also one that is parked already, and reads it again after the pause. Without a pause it stands for a file
   * that a scan has seen in a folder and not taken yet: its owner releases it.
   */
  park(file: WaitingFile, { stopKeys, pauseMs }: { stopKeys: readonly string[]; pauseMs?: number }): void {
    const before = this.#parked.get(file);
    if (before !== undefined) {
      clearTimeout(before.timer);
      this.#parkedByStop.delete(file, before.stopKeys);
    }
    const timer = pauseMs === undefined ? undefined : setTimeout(() => this.#lookAgain(file), pauseMs);
    this.#parked.set(file, { timer, stopKeys, followers: before?.followers ?? new Set() });
    this.#parkedByStop.add(file, stopKeys);
  }

  /** Keeps the file back if an earlier one of one of its stops is stalled; says whether. */
  keepsBack(file: WaitingFile, stopKeys: readonly string[]): boolean {
    if (this.#parked.size === 0) return false;
    const other =
      this.#parkedByStop.findBefore(file, stopKeys) ?? this.#keptBackByStop.findBefore(file, stopKeys);
    if (other === undefined) return false;
    const root = this.#keptBack.get(other)?.root ?? other;
    this.#keptBack.set(file, { root, stopKeys });
    this.#keptBackByStop.add(file, stopKeys);
    this.#parked.get(root)?.followers.add(file);
    return true;
  }

  /** The parked file can go on: gives those that waited for it, which go in line with it. */
  release(file: WaitingFile): readonly WaitingFile[] {
    const parked = this.#parked.get(file);
    if (parked === undefined) return [];
    clearTimeout(parked.timer);
    this.#parked.delete(file);
    this.#parkedByStop.delete(file, parked.stopKeys);
    for (const follower of parked.followers) {
      this.#keptBackByStop.delete(follower, this.#keptBack.get(follower)?.stopKeys ?? []);
      this.#keptBack.delete(follower);
    }
    return [...parked.followers];
  }

  /** Ends all timers. */
  clear(): void {
    for (const { timer } of this.#parked.values()) clearTimeout(timer);
  }
}
