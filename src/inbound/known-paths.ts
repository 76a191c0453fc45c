/** A set of paths, many of which lie in few directories. */
import { basename, dirname } from "node:path";

export class KnownPaths {
  readonly #namesByDirectory = new Map<string, Set<string>>();

  has(path: string): boolean {
    return this.#namesByDirectory.get(dirname(path))?.has(basename(path)) ?? false;
  }

  add(directory: string, name: string): void {
    const names = this.#namesByDirectory.get(directory);
    if (names === undefined) this.#namesByDirectory.set(directory, new Set([name]));
    else names.add(name);
  }

  delete(directory: string, name: string): void {
    const names = this.#namesByDirectory.get(directory);
    if (names === undefined) return;
    names.delete(name);
    if (names.size === 0) this.#namesByDirectory.delete(directory);
  }
}
