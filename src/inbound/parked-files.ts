import type { WaitingFile } from "./waiting-file.ts";

/** Files that are looked at again after a pause. */
export class ParkedFiles {
  readonly #timers = new Map<WaitingFile, NodeJS.Timeout>();
  readonly #comeBack: (file: WaitingFile) => void;

  constructor(comeBack: (file: WaitingFile) => void) {
    this.#comeBack = comeBack;
  }

  get size(): number {
    return this.#timers.size;
  }

  add(file: WaitingFile, pauseMs: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(file);
      this.#comeBack(file);
    }, pauseMs);
    this.#timers.set(file, timer);
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
