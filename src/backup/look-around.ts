/** What lies in folders of a state that the ledger does not name file by file: arrivals, receipts, what waits for hosts. */
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hasControlCharacterInName, isUnfinishedName } from "../domain/files/unfinished-name.ts";
import { isMissing } from "../lib/errors.ts";
import { againFolderName } from "../inbound/places/place-arrival.ts";

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (!isMissing(error)) throw error;
    return [];
  }
}

/** Regular files below a folder of the state directory, by their paths in that. */
export function* filesBelow(stateDir: string, folder: string): Generator<string> {
  for (const entry of entriesIn(join(stateDir, folder))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) yield* filesBelow(stateDir, path);
    else if (entry.isFile()) yield path;
  }
}

/** Files that have arrived in `inbound/` of a company, by their paths in the state directory. */
export function arrivedIn(stateDir: string, company: string): readonly string[] {
  const inbound = `companies/${company}/inbound`;
  const again = `${inbound}/${againFolderName}`;
  const isWhole = (name: string) => !isUnfinishedName(name) && !hasControlCharacterInName(name);
  const named = (folder: string, isTaken: (name: string) => boolean) =>
    entriesIn(join(stateDir, folder))
      .filter((entry) => entry.isFile() && isTaken(entry.name))
      .map(({ name }) => `${folder}/${name}`);
  return [...named(inbound, isWhole), ...named(again, () => true)];
}

/** The folders of a company whose files nobody has in a list. */
export function unlistedFolders(company: string) {
  return { receipts: `companies/${company}/receipts`, outbound: `companies/${company}/outbound` } as const;
}

/** What identifies a file in spite of its name; undefined when it is gone. With its time: numbers of inodes come again. */
export function identityOf(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}:${stats.mtimeMs}`;
}

export interface Surroundings {
  /** Files in `inbound/`, by their paths in the state directory. */
  readonly arrived: ReadonlySet<string>;
  /** Receipts and what lies in `outbound/`, with the identity of each. */
  readonly identities: ReadonlyMap<string, string>;
}

/** Looks before the database is copied: all of this belongs to what the copy knows, or is about to know. */
export function lookAround(stateDir: string, companies: readonly string[]): Surroundings {
  const arrived = new Set<string>();
  const identities = new Map<string, string>();
  for (const company of companies) {
    for (const path of arrivedIn(stateDir, company)) arrived.add(path);
    for (const folder of Object.values(unlistedFolders(company))) {
      for (const path of filesBelow(stateDir, folder)) {
        const identity = identityOf(join(stateDir, path));
        if (identity !== undefined) identities.set(path, identity);
      }
    }
  }
  return { arrived, identities };
}
