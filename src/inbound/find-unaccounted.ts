/**
 * Files in `inbound/`, `archive/` and `error/` of a company that no ledger entry knows.
 *
 * Read while the daemon works: a file is named in the ledger before it is moved, so a file that is found and not known
 * is either on its way into the ledger or unaccounted for. The caller looks again before it says so.
 */
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { receiptNameOf } from "../domain/stop-file-name.ts";
import { isUnfinishedName } from "../domain/unfinished-name.ts";
import { systemCodeOf } from "../lib/errors.ts";
import type { Store } from "../store/database.ts";
import { findAccountedLocations, listUnfiled } from "../store/file-queries.ts";
import type { Locations } from "./locations.ts";
import { againFolderName } from "./place-arrival.ts";

const batchSize = 500;

interface UnaccountedDependencies {
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
}

/** Entries of a folder one after the other; nothing for a folder that is not there. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) yield entry;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}

/** A receipt beside a refused file has no entry of its own. */
function isReceipt(name: string): boolean {
  return name.toLowerCase().endsWith(".receipt.xml");
}

async function* arrivedFiles(inbound: string): AsyncGenerator<string> {
  for await (const entry of entriesOf(inbound)) {
    if (entry.isFile() && !isUnfinishedName(entry.name)) yield join(inbound, entry.name);
  }
  const again = join(inbound, againFolderName);
  for await (const entry of entriesOf(again)) if (entry.isFile()) yield join(again, entry.name);
}

async function* filedFiles(folder: string): AsyncGenerator<string> {
  for await (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filedFiles(path);
    else if (entry.isFile() && !isReceipt(entry.name)) yield path;
  }
}

async function* filesOf(locations: Locations, companyCode: string): AsyncGenerator<string> {
  yield* arrivedFiles(locations.inboundDirectory(companyCode));
  yield* filedFiles(join(locations.companyDirectory(companyCode), "archive"));
  yield* filedFiles(join(locations.companyDirectory(companyCode), "error"));
}

/** Places that files being filed away may lie at, with the temporary names that a crash leaves until the next start. */
async function placesInMotion(deps: UnaccountedDependencies): Promise<ReadonlySet<string>> {
  const places = new Set<string>();
  for (const { source, location } of await listUnfiled(deps.store.read)) {
    const name = basename(location);
    places.add(source).add(location);
    for (const made of [name, receiptNameOf(name)]) places.add(join(dirname(location), `.${made}.tmp`));
  }
  return places;
}

async function unknownOf(
  deps: UnaccountedDependencies,
  paths: readonly string[],
): Promise<readonly string[]> {
  const places = paths.map((path) => deps.locations.toLedger(path));
  const known = await findAccountedLocations(deps.store.read, places);
  return paths.filter((_path, index) => !known.has(places[index] ?? ""));
}

/** Those of the paths that no entry accounts for at this moment. */
export async function withoutEntry(
  deps: UnaccountedDependencies,
  paths: readonly string[],
): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (let at = 0; at < paths.length; at += batchSize) {
    unknown.push(...(await unknownOf(deps, paths.slice(at, at + batchSize))));
  }
  if (unknown.length === 0) return [];
  // Asked second: an entry that was decided about in between is in motion by now.
  const inMotion = await placesInMotion(deps);
  return unknown.filter((path) => !inMotion.has(deps.locations.toLedger(path)));
}

/** Absolute paths of files that no entry accounts for, in batches. */
export async function* findUnaccounted(
  deps: UnaccountedDependencies,
  companyCode: string,
): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  for await (const path of filesOf(deps.locations, companyCode)) {
    batch.push(path);
    if (batch.length < batchSize) continue;
    yield await withoutEntry(deps, batch);
    batch = [];
  }
  yield await withoutEntry(deps, batch);
}
