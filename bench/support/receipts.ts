/** When each receipt got its name, as the system tells it; asking for each again and again would take the processors. */
import { type FSWatcher, watch } from "node:fs";

const giveUpMs = 60_000;

export class Receipts {
  readonly #seenAt = new Map<string, number>();
  readonly #awaited = new Map<string, (at: number) => void>();
  readonly #watcher: FSWatcher;

  constructor(folder: string) {
    this.#watcher = watch(folder, (_, fileName) => {
      if (fileName === null || fileName.startsWith(".") || this.#seenAt.has(fileName)) return;
      const at = performance.now();
      this.#seenAt.set(fileName, at);
      this.#awaited.get(fileName)?.(at);
    });
  }

  /** When the receipt of the stop file was there. Rejects when there is none after a minute. */
  async of(name: string): Promise<number> {
    const fileName = name.replace(/\.xml$/, ".receipt.xml");
    const seen = this.#seenAt.get(fileName);
    if (seen !== undefined) return seen;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#awaited.set(fileName, resolve);
    const timer = setTimeout(() => reject(new Error(`no receipt for ${name}`)), giveUpMs);
    return await promise.finally(() => clearTimeout(timer));
  }

  close(): void {
    this.#watcher.close();
  }
}
