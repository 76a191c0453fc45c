/** What lies in folders of a state that the ledger does not name file by file: arrivals, receipts, what waits for hosts. */
import { type Dirent, lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { hasControlCharacterInName, isUnfinishedName } from "../domain/files/unfinished-name.ts";
import { isMissing } from "../lib/errors.ts";
import { cameAtMs } from "../inbound/places/copy-mode.ts";
import type { Locations } from "../inbound/places/locations.ts";
import { againFolderName, asideFolderName } from "../inbound/places/place-arrival.ts";
import type { Reader } from "../store/database/database.ts";
import { lastFileId } from "../store/ledger/file-queries.ts";
import { listOpenSources } from "../store/ledger/files.ts";

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

/**
 * Files that have arrived in `inbound/` of a company, by their paths in the state directory. Listed twice: a scan sets a file
 * aside for a moment, and puts a copy in its place.
 */
function arrivedIn(locations: Locations, company: string): ReadonlySet<string> {
  const inbound = locations.toLedger(locations.inboundDirectory(company));
  const isWhole = (name: string) => !isUnfinishedName(name) && !hasControlCharacterInName(name);
  const named = (folder: string, isTaken: (name: string) => boolean) =>
    entriesIn(locations.fromLedger(folder))
      .filter((entry) => entry.isFile() && isTaken(entry.name))
      .map(({ name }) => `${folder}/${name}`);
  const inPlace = named(inbound, isWhole);
  const marked = [asideFolderName, againFolderName].flatMap((name) =>
    named(`${inbound}/${name}`, () => true),
  );
  return new Set([...inPlace, ...marked, ...named(inbound, isWhole)]);
}

/** The folders of a company whose files nobody has in a list, by their paths in the state directory. */
export function unlistedFolders(locations: Locations, company: string) {
  const { receiptsDirectory, outboundDirectory, toLedger } = locations;
  return { receipts: toLedger(receiptsDirectory(company)), outbound: toLedger(outboundDirectory(company)) };
}

/** What identifies a file in spite of its name; undefined when it is gone. With its time: numbers of inodes come again. */
export function identityOf(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : identityOfStats(stats);
}

function identityOfStats({ dev, ino, mtimeMs }: Pick<Stats, "dev" | "ino" | "mtimeMs">): string {
  return `${dev}:${ino}:${mtimeMs}`;
}

export interface Arrived {
  /** In the state directory. */
  readonly path: string;
  readonly identity: string;
  /** When it came, milliseconds UTC: the start after a restore takes files without an entry in this order. */
  readonly placedAt: number;
}

export interface Surroundings {
  /** Files in `inbound/`, in the order of their arrival. */
  readonly arrived: readonly Arrived[];
  /** Receipts and what lies in `outbound/`, with the identity of each. */
  readonly identities: ReadonlyMap<string, string>;
  /** The last entry of the ledger before all this was there. */
  readonly lastId: number;
  /** From where the files were taken whose entries were not filed then. */
  readonly openSources: ReadonlySet<string>;
}

function arrivalAt(stateDir: string, path: string): readonly Arrived[] {
  const stats = lstatSync(join(stateDir, path), { throwIfNoEntry: false });
  return stats === undefined ? [] : [{ path, identity: identityOfStats(stats), placedAt: cameAtMs(stats) }];
}

/** Looks before the database is copied: all of this belongs to what the copy knows, or is about to know. */
export async function lookAround(
  live: Reader,
  locations: Locations,
  companies: readonly string[],
): Promise<Surroundings> {
  const { stateDir } = locations;
  const lastId = await lastFileId(live);
  const openSources = new Set(await listOpenSources(live));
  const arrived: Arrived[] = [];
  const identities = new Map<string, string>();
  for (const company of companies) {
    for (const path of arrivedIn(locations, company)) arrived.push(...arrivalAt(stateDir, path));
    for (const folder of Object.values(unlistedFolders(locations, company))) {
      for (const path of filesBelow(stateDir, folder)) {
        const identity = identityOf(join(stateDir, path));
        if (identity !== undefined) identities.set(path, identity);
      }
    }
  }
  arrived.sort((one, other) => one.placedAt - other.placedAt);
  return { arrived, identities, lastId, openSources };
}
