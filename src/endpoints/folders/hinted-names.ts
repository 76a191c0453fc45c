/**
 * The names that the watch of one folder has reported, collected for a moment and then scanned together. Our own removal of
 * a source is reported too, and is no news.
 */

const hintPauseMs = 100;
/** With more names than this a full scan is cheaper. */
const maxNames = 1_000;

export interface HintedNamesDeps {
  readonly ready: () => void;
  /** There are too many names: the whole folder is to be scanned. */
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

  /** Returns the names collected so far, and forgets them. */
  take(): string[] {
    const names = [...this.#names];
    this.#names.clear();
    return names;
  }

  /** The taker is about to remove this file. */
  expectRemoval(name: string): void {
    this.#removals.add(name);
  }

  /** Whether a removal of this name was expected; it is so once. */
  endRemoval(name: string): boolean {
    return this.#removals.delete(name);
  }

  /** Forgets the removals that the watch has not reported by now. */
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
