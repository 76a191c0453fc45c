/**
 * A set of paths, many of which are in few directories. It counts: a name may be used again before the former file of
 * that name is done, and two uploads may want the same name at the same moment; when one releases it, the other keeps
 * it.
 */
import { basename, dirname } from "node:path";

export class CountedPaths {
  readonly #namesByDirectory = new Map<string, Set<string>>();
  /** Additions beyond the first, which are rare. */
  readonly #more = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#namesByDirectory.size === 0;
  }

  has(path: string): boolean {
    return this.#namesByDirectory.get(dirname(path))?.has(basename(path)) ?? false;
  }

  /** How often the path was added, and not taken back. */
  count(path: string): number {
    return this.has(path) ? 1 + (this.#more.get(path) ?? 0) : 0;
  }

  add(directory: string, name: string): void {
    const names = this.#namesByDirectory.get(directory);
    if (names === undefined) this.#namesByDirectory.set(directory, new Set([name]));
    else if (names.has(name)) this.#addMore(`${directory}/${name}`, 1);
    else names.add(name);
  }

  /** Takes one addition back. */
  delete(directory: string, name: string): void {
    const names = this.#namesByDirectory.get(directory);
    if (names === undefined) return;
    const path = `${directory}/${name}`;
    if (this.#more.has(path)) {
      this.#addMore(path, -1);
      return;
    }
    names.delete(name);
    if (names.size === 0) this.#namesByDirectory.delete(directory);
  }

  #addMore(path: string, by: 1 | -1): void {
    const count = (this.#more.get(path) ?? 0) + by;
    if (count > 0) this.#more.set(path, count);
    else this.#more.delete(path);
  }
}
