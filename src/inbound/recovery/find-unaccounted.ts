/**
 * Files in `inbound/`, `archive/` and `error/` of a company that no ledger entry knows.
 *
 * Safe while the daemon works: the ledger names a file before it is moved, so a file that is found and not known is either on
 * its way into the ledger or unaccounted for. The caller checks again before it says so.
 */
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cutBaseOf, isReceiptName, receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { hasControlCharacterInName, isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { isMissing } from "../../lib/errors.ts";
import type { Store } from "../../store/database/database.ts";
import { findAccountedLocations } from "../../store/ledger/accounted-files.ts";
import { listUnfiled } from "../../store/ledger/file-queries.ts";
import type { Locations } from "../places/locations.ts";
import { isBelowErrorFolder } from "../places/places.ts";
import { againFolderName } from "../places/place-arrival.ts";
import { portionsOf } from "../../lib/portions.ts";

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
    if (!isMissing(error)) throw error;
  }
}

/** Others are left alone until somebody renames them. */
function isTaken(name: string): boolean {
  return !isUnfinishedName(name) && !hasControlCharacterInName(name);
}

async function* arrivedFiles(inbound: string): AsyncGenerator<string> {
  for await (const entry of entriesOf(inbound)) {
    if (entry.isFile() && isTaken(entry.name)) yield join(inbound, entry.name);
  }
  const again = join(inbound, againFolderName);
  for await (const entry of entriesOf(again)) if (entry.isFile()) yield join(again, entry.name);
}

async function* filedFiles(folder: string): AsyncGenerator<string> {
  for await (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filedFiles(path);
    else if (entry.isFile()) yield path;
  }
}

async function* filesOf(locations: Locations, companyCode: string): AsyncGenerator<string> {
  yield* arrivedFiles(locations.inboundDirectory(companyCode));
  yield* filedFiles(join(locations.companyDirectory(companyCode), "archive"));
  yield* filedFiles(join(locations.companyDirectory(companyCode), "error"));
}

interface InMotion {
  readonly places: ReadonlySet<string>;
  /** `<folder>/.<id>.`: further names begin with it, which a crash leaves until the file is filed away. */
  readonly fronts: ReadonlySet<string>;
}

/** Where files being filed away may lie. */
async function placesInMotion(deps: UnaccountedDependencies): Promise<InMotion> {
  const places = new Set<string>();
  const fronts = new Set<string>();
  for (const { id, source, location } of await listUnfiled(deps.store.read)) {
    for (const place of [source, location]) {
      places.add(place).add(join(dirname(place), receiptNameOf(basename(place))));
      fronts.add(join(dirname(place), `.${id}.`));
    }
  }
  return { places, fronts };
}

function isInMotion(place: string, { places, fronts }: InMotion): boolean {
  const front = /^\.\d+\./.exec(basename(place))?.[0];
  return places.has(place) || (front !== undefined && fronts.has(join(dirname(place), front)));
}

const usualEnding = [".xml"];
/** A file without `.xml` has a receipt as well, and `.xml` may stand in any case. */
const otherEndings = ["", ".XML", ".Xml", ".xMl", ".xmL", ".XMl", ".XmL", ".xML"];

/** Names that the file of a receipt may have. Of a name that was cut, only the files beside it say more. */
async function ownersOf(receiptPath: string, endings: readonly string[]): Promise<readonly string[]> {
  const [folder, name] = [dirname(receiptPath), basename(receiptPath)];
  if (!isReceiptName(name)) return [];
  const base = name.slice(0, -".receipt.xml".length);
  const owners = endings.map((ending) => base + ending);
  const cutBase = cutBaseOf(name);
  if (cutBase !== undefined) {
    for await (const entry of entriesOf(folder)) if (entry.name.startsWith(cutBase)) owners.push(entry.name);
  }
  return owners.filter((owner) => receiptNameOf(owner) === name).map((owner) => join(folder, owner));
}

/** Without the receipts beside files of the ledger (in `error/` only), which have no entries of their own. */
async function withoutReceipts(
  deps: UnaccountedDependencies,
  paths: readonly string[],
  endings: readonly string[],
): Promise<readonly string[]> {
  const ownersByPath = new Map<string, readonly string[]>();
  for (const path of paths) {
    const owners = isBelowErrorFolder(deps.locations, path) ? await ownersOf(path, endings) : [];
    ownersByPath.set(
      path,
      owners.map((owner) => deps.locations.toLedger(owner)),
    );
  }
  const asked = [...ownersByPath.values()].flat();
  if (asked.length === 0) return paths;
  const known = await findAccountedLocations(deps.store.read, asked);
  return paths.filter((path) => ownersByPath.get(path)?.some((owner) => known.has(owner)) !== true);
}

async function unknownOf(
  deps: UnaccountedDependencies,
  paths: readonly string[],
): Promise<readonly string[]> {
  const places = paths.map((path) => deps.locations.toLedger(path));
  const known = await findAccountedLocations(deps.store.read, places);
  const unknown = paths.filter((_path, index) => !known.has(places[index] ?? ""));
  return await withoutReceipts(deps, await withoutReceipts(deps, unknown, usualEnding), otherEndings);
}

/** Those of the paths that no entry accounts for at this moment. */
export async function withoutEntry(
  deps: UnaccountedDependencies,
  paths: readonly string[],
): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const some of portionsOf(paths, batchSize)) unknown.push(...(await unknownOf(deps, some)));
  if (unknown.length === 0) return [];
  // Asked second: an entry that was decided about in between is in motion by now.
  const inMotion = await placesInMotion(deps);
  return unknown.filter((path) => !isInMotion(deps.locations.toLedger(path), inMotion));
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
