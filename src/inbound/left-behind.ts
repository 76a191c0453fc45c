/**
 * Files that stand in `inbound/` under their final names and are in no ledger: the process died between the answer to
 * their close and their entry. The first scan of the folder brings them, but only when they have settled, and a host that
 * sends on at once would be quicker: the deletion of a stop would be decided before its creation. So nothing of a company
 * is decided until what was left behind is in line, or has had its time.
 */
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { isUnfinishedName } from "../domain/unfinished-name.ts";
import { systemCodeOf } from "../lib/errors.ts";
import { againFolderName } from "./place-arrival.ts";

const portion = 2_048;

async function eachEntry(folder: string, visit: (entry: Dirent) => void): Promise<void> {
  try {
    for await (const entry of await opendir(folder, { bufferSize: portion })) visit(entry);
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
}

/** Paths of regular files under final names in the folder and in its `.again`, without those that are known. */
export async function findLeftBehind(
  inbound: string,
  isKnown: (path: string) => boolean,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const folder of [inbound, join(inbound, againFolderName)]) {
    await eachEntry(folder, (entry) => {
      const path = join(folder, entry.name);
      if (entry.isFile() && !isUnfinishedName(entry.name) && !isKnown(path)) found.add(path);
    });
  }
  return found;
}

interface Held {
  readonly missing: Set<string>;
  readonly timer: NodeJS.Timeout;
  release(): void;
}

export class LeftBehind {
  readonly #held = new Set<Held>();

  /** Calls `release` once all paths have arrived, or after that time: what never settles holds up nothing. */
  hold(paths: ReadonlySet<string>, options: { readonly longestMs: number; release(): void }): void {
    if (paths.size === 0) {
      options.release();
      return;
    }
    const timer = setTimeout(() => this.#giveUp(held), options.longestMs);
    const held: Held = { missing: new Set(paths), timer, release: options.release };
    this.#held.add(held);
  }

  arrived(path: string): void {
    for (const held of this.#held) {
      if (held.missing.delete(path) && held.missing.size === 0) this.#giveUp(held);
    }
  }

  clear(): void {
    for (const held of this.#held) clearTimeout(held.timer);
    this.#held.clear();
  }

  #giveUp(held: Held): void {
    clearTimeout(held.timer);
    this.#held.delete(held);
    held.release();
  }
}
