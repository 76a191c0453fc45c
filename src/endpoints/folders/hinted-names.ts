/**
 * What the watch of one folder has told of: names are collected for a moment, then looked at together. A source that we remove
 * is told of as well, and is no news.
 */

/** Hints are collected for so long before the named entries are looked at. */
const hintPauseMs = 100;
/** With more names than this a scan is the cheaper look. */
const maxNames = 1_000;

export interface HintedNamesDeps {
  /** The names may be taken and looked at. */
  readonly ready: () => void;
  /** There are too many to be looked at one by one. */
  readonly tooMany: () => void;
}

export class HintedNames {
  readonly #deps: HintedNamesDeps;
  readonly #names = new Set<string>();
  readonly #removals = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: HintedNamesDeps) {
    this.#deps = deps;
  }

  add(name: string): void {
    if (this.#names.size <= maxNames) this.#names.add(name);
    this.#timer ??= setTimeout(() => this.#collected(), hintPauseMs);
  }

  /** The names collected so far; they are forgotten here. */
  take(): string[] {
    const names = [...this.#names];
    this.#names.clear();
    return names;
  }

  /** We are about to remove a file. */
  expectRemoval(name: string): void {
    this.#removals.add(name);
  }

  /** Whether the hint is that of our own removal; each is told once. False as well when it was not removed after all. */
  endRemoval(name: string): boolean {
    return this.#removals.delete(name);
  }

  /** What the watch has not told of by now it does not tell. */
  forgetRemovals(): void {
    this.#removals.clear();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #collected(): void {
    this.#timer = undefined;
    if (this.#names.size <= maxNames) {
      this.#deps.ready();
      return;
    }
    this.#names.clear();
    this.#deps.tooMany();
  }
}
