/**
 * Gathers the files of a state that belong to a copy of its database, while a daemon works on.
 *
 *   look around ──> copy of the database ──> files that the copy names ──> arrivals, receipts, outbound/ ──> contents, keys
 *
 * What a row of the copy names may have been moved since: the live database says where to, because it always knows a place
 * before the file gets there; the SHA-256 of the ledger proves that it is the same. A file that a user has removed since is
 * gone: then the copy is out of date, and the caller copies the database anew. Files that were answered before the backup
 * began and that the copy does not know yet lay in `inbound/` then, or the live database knows them by now: they are put into
 * the `inbound/` of the backup, where the start after a restore takes them. What came later is not in the backup.
 */
import { basename, dirname, join } from "node:path";
import { readFileSync } from "node:fs";
import { isOpenState } from "../domain/files/file-state.ts";
import { receiptNameOf } from "../domain/files/stop-file-name.ts";
import { documentsFolderName, type Locations } from "../inbound/places/locations.ts";
import { againFolderName, asideFolderName, nameOfAgainFile } from "../inbound/places/place-arrival.ts";
import { isBelowErrorFolder } from "../inbound/places/places.ts";
import { ledgerNumberKind } from "../inbound/receipts/receipts.ts";
import { contentPath } from "../lib/files/content-store.ts";
import { createSealedNumbers } from "../lib/sealed-numbers.ts";
import { type Company, listCompanies } from "../store/accounts/companies.ts";
import type { Reader } from "../store/database/database.ts";
import { findSealingKey } from "../store/database/meta.ts";
import { findEntryFrom, listContentHashes, wasDelivered } from "../store/ledger/backup-queries.ts";
import {
  type AccountedFile,
  findAccountedFiles,
  listAccountedFiles,
} from "../store/ledger/accounted-files.ts";
import { lastFileId } from "../store/ledger/file-queries.ts";
import { findFile } from "../store/ledger/files.ts";
import { findKnownContents } from "../store/stops/documents.ts";
import type { HashedFile } from "./backup-folder.ts";
import { type Arrived, filesBelow, identityOf, type Surroundings, unlistedFolders } from "./look-around.ts";
import type { FileTaker } from "./take-files.ts";
import { portionsOf } from "../lib/portions.ts";

/** Bytes that the copy names were removed since it was made: another copy is needed. */
export class CopyOutdated extends Error {
  constructor({ name, location }: Pick<AccountedFile, "name" | "location">) {
    super(`${name} was removed from ${location} meanwhile`);
    this.name = "CopyOutdated";
  }
}

export interface Gathering {
  /** Of the state that is backed up. */
  readonly locations: Locations;
  readonly live: Reader;
  /** The copy of the database. */
  readonly copy: Reader;
  readonly taker: FileTaker;
  /** What lay there before the database was copied. */
  readonly before: Surroundings;
  readonly onProgress: (progress: { readonly done: number; readonly total: number }) => void;
}

const pageSize = 2_000;
/** A file is moved at most a few times while it is looked for. */
const mostMoves = 10;

function isOpen({ state }: Pick<AccountedFile, "state">): boolean {
  return state !== undefined && isOpenState(state);
}

/** The hash that an entry has noted; none before the file was read, and an empty one where it could not be. */
function notedHash(entry: Pick<AccountedFile, "sha256"> | undefined): string | undefined {
  return entry?.sha256 === null || entry?.sha256 === "" ? undefined : entry?.sha256;
}

function hashOf(file: AccountedFile): string | undefined {
  return isOpen(file) ? undefined : notedHash(file);
}

/** Where its bytes may be: a decided file that is not filed yet is being moved. */
function placesOf(file: AccountedFile): readonly string[] {
  return isOpen(file) || file.isFiled ? [file.location] : [file.location, file.source];
}

function isSamePlace(one: AccountedFile, other: AccountedFile): boolean {
  return (
    one.location === other.location && one.isFiled === other.isFiled && one.stateText === other.stateText
  );
}

/** Of a place in the state directory; files outside of it are not part of the state. */
function isInside(location: string): boolean {
  return !location.startsWith("/") && !location.startsWith("..");
}

function takeAt({ taker, locations }: Gathering, file: AccountedFile): boolean {
  return placesOf(file).some(
    (place) =>
      isInside(place) &&
      taker.take({ path: place, from: locations.fromLedger(place), sha256: hashOf(file) }) === "taken",
  );
}

/** One file in `error/` has a receipt beside it. */
function takeReceiptBeside({ taker, locations }: Gathering, { location, isFiled }: AccountedFile): void {
  if (!isFiled || !isBelowErrorFolder(locations, locations.fromLedger(location))) return;
  const at = location.lastIndexOf("/") + 1;
  const path = location.slice(0, at) + receiptNameOf(location.slice(at));
  taker.take({ path, from: locations.fromLedger(path) });
}

/** Its removal had begun: the first pass after a restore finds out what it came to. */
function takeIfThere(gathering: Gathering, file: AccountedFile): void {
  const { taker, locations } = gathering;
  if (taker.take({ path: file.location, from: locations.fromLedger(file.location) }) === "taken")
    takeReceiptBeside(gathering, file);
}

/**
 * Looks for the bytes of an entry that has changed since the copy was made, and puts them where the copy has them. Leaves an
 * entry without bytes that has none in the live state either: the verification of the copy says what that means.
 */
async function followEntry(gathering: Gathering, file: AccountedFile): Promise<void> {
  const { live, taker, locations } = gathering;
  let last: AccountedFile = file;
  for (let moves = 0; moves < mostMoves; moves += 1) {
    const now = (await findAccountedFiles(live, [file.id])).get(file.id);
    if (now === undefined || now.isRemoved) throw new CopyOutdated(file);
    if (moves > 0 && isSamePlace(now, last)) break;
    last = now;
    const sha256 = hashOf(now);
    const isTaken = placesOf(now).some(
      (place) => taker.take({ path: file.location, from: locations.fromLedger(place), sha256 }) === "taken",
    );
    if (!isTaken) continue;
    if (!isOpen(now)) return;
    const after = (await findAccountedFiles(live, [file.id])).get(file.id);
    if (after !== undefined && isSamePlace(after, now)) return;
    taker.drop(file.location);
  }
  // Other bytes than those that were received: a discrepancy of the state, which the backup has as well.
  for (const place of placesOf(last)) taker.take({ path: file.location, from: locations.fromLedger(place) });
}

/** Those of a page whose bytes were not found, or may be those of a later file in the same place. */
async function doubtfulOf(gathering: Gathering, page: readonly AccountedFile[]): Promise<AccountedFile[]> {
  const doubtful: AccountedFile[] = [];
  const waiting: AccountedFile[] = [];
  for (const file of page) {
    if (!isInside(file.location)) continue;
    if (file.isPruning) takeIfThere(gathering, file);
    else if (!takeAt(gathering, file)) doubtful.push(file);
    else if (isOpen(file)) waiting.push(file);
    else takeReceiptBeside(gathering, file);
  }
  const now = await findAccountedFiles(
    gathering.live,
    waiting.map(({ id }) => id),
  );
  for (const file of waiting) {
    const found = now.get(file.id);
    if (found !== undefined && isSamePlace(found, file)) continue;
    gathering.taker.drop(file.location);
    doubtful.push(file);
  }
  return doubtful;
}

async function gatherLedger(gathering: Gathering): Promise<void> {
  const total = await lastFileId(gathering.copy);
  for (let afterId = 0; ; ) {
    const page = await listAccountedFiles(gathering.copy, { afterId, limit: pageSize, isPresent: true });
    for (const file of await doubtfulOf(gathering, page)) await followEntry(gathering, file);
    const last = page.at(-1);
    gathering.onProgress({ done: last?.id ?? total, total });
    if (last === undefined || page.length < pageSize) return;
    afterId = last.id;
  }
}

/** Whether the copy has taken a file from there which may have lain there in the beginning. */
async function isKnownFrom({ before, copy }: Gathering, path: string): Promise<boolean> {
  if (before.openSources.has(path)) return true;
  return (await findEntryFrom(copy, { source: path, afterId: before.lastId })) !== undefined;
}

/** A file that had arrived before the copy was made, and that the copy does not know. */
async function takeArrival(
  gathering: Gathering,
  { path, identity }: LookedFor,
  afterId: number,
): Promise<void> {
  const { live, taker, locations } = gathering;
  const isKnown = await isKnownFrom(gathering, path);
  const isLater = (from: string) => isKnown && identityOf(from) !== identity;
  for (let moves = 0; moves < mostMoves; moves += 1) {
    const entry = await findEntryFrom(live, { source: path, afterId });
    const sha256 = notedHash(entry);
    const places = entry === undefined ? [path] : [entry.location, entry.source];
    const isTaken = places
      .map((place) => locations.fromLedger(place))
      .some((from) => !isLater(from) && taker.take({ path, from, sha256 }) === "taken");
    const after = await findEntryFrom(live, { source: path, afterId });
    // The copy knows it by another place, or it was taken away by hand. With an entry since, it is where that says.
    if (!isTaken && entry === undefined && after === undefined) return;
    // Another file can lie there only after this one has an entry, and has left.
    if (isTaken && after?.location === entry?.location && after?.state === entry?.state) return;
    if (isTaken) taker.drop(path);
  }
}

type LookedFor = Pick<Arrived, "path"> & Partial<Arrived>;

/** Where a file that a scan had set aside gets its place: the name of its copy, or one in `.again`. */
function placesOfAside(path: string): readonly string[] {
  const [folder, name] = [dirname(path), basename(path)];
  if (basename(folder) !== asideFolderName) return [];
  const inbound = dirname(folder);
  return [join(inbound, nameOfAgainFile(name)), join(inbound, againFolderName, name)];
}

/** Takes what still lies aside as a start would recover it: to `.again`, unless its copy has its place. */
function takeAside({ taker, locations }: Gathering, path: string, places: readonly string[]): void {
  const again = places.at(-1);
  if (again === undefined || taker.files.has(again)) return;
  if (taker.take({ path: again, from: locations.fromLedger(path) }) !== "taken") return;
  const { sha256 } = taker.files.get(again) ?? {};
  if (places.some((place) => place !== again && taker.files.get(place)?.sha256 === sha256)) taker.drop(again);
}

/**
 * What had arrived before the copy was made, and nothing that came later: a later file of a stop without the earlier one would
 * be refused after a restore, and hosts send all of it again. Their times say in which order they came.
 */
async function gatherArrivals(gathering: Gathering): Promise<void> {
  const { taker, before, copy } = gathering;
  const afterId = await lastFileId(copy);
  let at = 0;
  for (const arrived of before.arrived) {
    const places = placesOfAside(arrived.path);
    const wanted: readonly LookedFor[] = places.length === 0 ? [arrived] : places.map((path) => ({ path }));
    const missing = wanted.filter(({ path }) => !taker.files.has(path));
    for (const one of missing) await takeArrival(gathering, one, afterId);
    takeAside(gathering, arrived.path, places);
    for (const { path } of missing) {
      if (!taker.files.has(path)) continue;
      at = Math.max(at + 1, Math.ceil(arrived.placedAt));
      taker.setTime(path, at);
    }
  }
}

/** Whether it lay there before the copy was made, and so belongs to what the copy knows. */
function isOlder({ before, locations }: Gathering, path: string): boolean {
  const identity = before.identities.get(path);
  return identity !== undefined && identity === identityOf(locations.fromLedger(path));
}

const ledgerAttribute = /\bLedger="([^"]+)"/;

/** Whether a receipt answers an entry that the copy knows as filed. Others are written, or written anew, after a restore. */
async function createReceiptCheck(copy: Reader): Promise<(path: string) => Promise<boolean>> {
  const key = await findSealingKey(copy);
  const numbers = key === undefined ? undefined : createSealedNumbers(key, ledgerNumberKind);
  return async (path) => {
    const sealed = ledgerAttribute.exec(readFileSync(path, "utf8"))?.[1];
    const id = sealed === undefined ? undefined : numbers?.open(sealed);
    const entry = id === undefined ? undefined : await findFile(copy, id);
    return entry?.isFiled === true && !isOpenState(entry.state);
  };
}

/** Names under which what lies in `outbound/` may have been delivered: its own, its document's, its folder's. */
function deliveredNames(path: string, folder: string): readonly string[] {
  const parts = path.slice(folder.length + 1).split("/");
  return [...new Set(parts.flatMap((part) => [part, part.replace(/\.manifest\.xml$/, ".xml")]))];
}

async function isDelivered(
  { copy }: Gathering,
  companyId: number,
  names: readonly string[],
): Promise<boolean> {
  for (const name of names) if (await wasDelivered(copy, { companyId, name })) return true;
  return false;
}

/** Without temporary names. */
function* finishedBelow(stateDir: string, folder: string): Generator<string> {
  for (const path of filesBelow(stateDir, folder)) if (!path.includes("/.")) yield path;
}

/**
 * Receipts, and what waits for hosts: what lay there before the database was copied, and of what came later only what the
 * copy has done. The rest would answer or tell what is not known after a restore.
 */
async function gatherUnlisted(gathering: Gathering, companies: readonly Company[]): Promise<void> {
  const { taker, locations, copy } = gathering;
  const isFiledIn = await createReceiptCheck(copy);
  for (const { id, code } of companies) {
    const { receipts, outbound } = unlistedFolders(locations, code);
    for (const path of finishedBelow(locations.stateDir, receipts)) {
      const from = locations.fromLedger(path);
      if (isOlder(gathering, path)) taker.take({ path, from });
      // A host may remove it at any moment.
      else if (taker.take({ path, from }) === "taken" && !(await isFiledIn(taker.pathOf(path))))
        taker.drop(path);
    }
    for (const path of finishedBelow(locations.stateDir, outbound)) {
      const isKnown =
        isOlder(gathering, path) || (await isDelivered(gathering, id, deliveredNames(path, outbound)));
      if (isKnown) taker.take({ path, from: locations.fromLedger(path) });
    }
  }
}

const contentForm = /\/([0-9a-f]{64})$/;

/** Contents of documents: more than the copy refers to, for an import that is decided later. */
function gatherContents({ taker, locations }: Gathering): void {
  for (const path of filesBelow(locations.stateDir, documentsFolderName)) {
    const sha256 = contentForm.exec(path)?.[1];
    if (sha256 === undefined) continue;
    const from = locations.fromLedger(path);
    if (taker.take({ path, from, sha256 }) === "other") taker.take({ path, from });
  }
}

export interface LostContent {
  readonly sha256: string;
  /** Where it should be, in the state directory. */
  readonly path: string;
}

/** Contents that the copy refers to and that are not there, or not what they were. */
export async function findLostContents(
  copy: Reader,
  { files }: { readonly files: ReadonlyMap<string, HashedFile> },
): Promise<LostContent[]> {
  const lost: LostContent[] = [];
  for (let after = ""; ; ) {
    const hashes = await listContentHashes(copy, { after, limit: pageSize });
    for (const sha256 of hashes) {
      const path = contentPath(documentsFolderName, sha256);
      if (files.get(path)?.sha256 !== sha256) lost.push({ sha256, path });
    }
    const last = hashes.at(-1);
    if (last === undefined || hashes.length < pageSize) return lost;
    after = last;
  }
}

/** Throws when a content that the copy refers to was removed because no document refers to it any more. */
async function refuseSweptContents({ copy, live, taker }: Gathering): Promise<void> {
  const lost = await findLostContents(copy, taker);
  for (const some of portionsOf(lost, pageSize)) {
    const known = await findKnownContents(
      live,
      some.map(({ sha256 }) => sha256),
    );
    const swept = some.find(({ sha256 }) => !known.has(sha256));
    if (swept !== undefined) throw new CopyOutdated({ name: swept.sha256, location: dirname(swept.path) });
  }
}

/** Rejects with `CopyOutdated` when another copy of the database is needed. */
export async function gatherState(gathering: Gathering): Promise<void> {
  const { taker, locations, copy } = gathering;
  const companies = await listCompanies(copy);
  await gatherLedger(gathering);
  await gatherArrivals(gathering);
  await gatherUnlisted(gathering, companies);
  gatherContents(gathering);
  await refuseSweptContents(gathering);
  for (const folder of ["keys", "journal"]) {
    for (const path of filesBelow(locations.stateDir, folder))
      taker.take({ path, from: join(locations.stateDir, path) });
  }
}
