/** Where a file lies that is in no ledger: arriving, unfinished, or in a folder where nobody takes it. */
import { join } from "node:path";
import { parseStopFileName, receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import type { Locations } from "../places/locations.ts";
import { againFolderName } from "../places/place-arrival.ts";
import {
  directLooks,
  type FolderLooks,
  type LooseFile,
  type LooseKind,
  type LoosePlace,
} from "./folder-looks.ts";

export interface SearchedFolder {
  readonly companyCode: string;
  readonly path: string;
  /** The company's own `inbound/`. */
  readonly isInbox: boolean;
}

export interface LooseSearch {
  readonly locations: Locations;
  /** The folders that are watched for the company. */
  readonly folders: readonly SearchedFolder[];
  /** Looks at those of them that are not the company's own: they may be on a share that is dead. */
  readonly foreignLooks: FolderLooks;
  readonly partialFolderName: string;
}

/** Whether a name is one under which a client or another server may be writing the file. */
export function isUnfinishedFormOf(candidate: string, name: string): boolean {
  const bare = candidate.startsWith(".") ? candidate.slice(1) : candidate;
  const rest = bare.slice(name.length);
  return isUnfinishedName(candidate) && bare.startsWith(name) && (rest === "" || /^[.~]/.test(rest));
}

const { namesIn } = directLooks;

interface Place extends LoosePlace {
  readonly folder: string;
  readonly looks: FolderLooks;
}

function looksAt({ isInbox }: SearchedFolder, { foreignLooks }: LooseSearch): FolderLooks {
  return isInbox ? directLooks : foreignLooks;
}

async function lookAt({ folder, looks, ...place }: Place): Promise<LooseFile | undefined> {
  return await looks.fileAt(folder, place);
}

/** A place in a folder of the company's own. */
function ownPlace(
  kind: LooseKind,
  company: string,
  [folder, ...below]: readonly [string, ...string[]],
): Place {
  return { kind, company, folder, path: join(folder, ...below), looks: directLooks };
}

async function placesInFolder(searched: SearchedFolder, name: string, search: LooseSearch): Promise<Place[]> {
  const { companyCode: company, path: folder, isInbox } = searched;
  const looks = looksAt(searched, search);
  const isForm = (other: string) => other !== name && isUnfinishedFormOf(other, name);
  const placeOf = (kind: LooseKind, file: string): Place => ({
    ...{ kind, company, folder, looks },
    path: join(folder, file),
  });
  const taken: LooseKind = isInbox ? "inbound" : "watched";
  return [
    placeOf(isUnfinishedName(name) ? "unfinished" : taken, name),
    ...(await looks.namesIn(folder)).filter(isForm).map((file) => placeOf("unfinished", file)),
  ];
}

/** An upload has its final name until it is closed, or an unfinished one of the client's choice. */
async function uploadPlaces(search: LooseSearch, company: string, name: string): Promise<Place[]> {
  const partials = join(search.locations.inboundDirectory(company), search.partialFolderName);
  const places: Place[] = [];
  for (const user of await namesIn(partials)) {
    const folder = join(partials, user);
    for (const file of await namesIn(folder)) {
      if (file !== name && !isUnfinishedFormOf(file, name)) continue;
      places.push({ ...ownPlace("upload", company, [folder, file]), userId: Number(user) });
    }
  }
  return places;
}

/** Files whose name was taken when they came lie under another one, with this name at its end. */
async function againPlaces(search: LooseSearch, company: string, name: string): Promise<Place[]> {
  const folder = join(search.locations.inboundDirectory(company), againFolderName);
  const found = (await namesIn(folder)).filter((file) => file.slice(13) === name);
  return found.map((file) => ownPlace("inbound", company, [folder, file]));
}

async function filedPlaces(search: LooseSearch, company: string, name: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const kind of ["archive", "error"]) {
    const folder = join(search.locations.companyDirectory(company), kind);
    for (const day of await namesIn(folder)) {
      places.push(ownPlace("filed", company, [folder, day, name]));
    }
  }
  return places;
}

/** Everything of that name that lies in the folders of a company, with unfinished forms of the name. */
export async function findLooseFiles(
  search: LooseSearch,
  key: { readonly company: string; readonly name: string },
): Promise<readonly LooseFile[]> {
  const { company, name } = key;
  // A name with a folder in it would lead out of the folders that are to be searched.
  if (name.includes("/") || name === "" || name === "." || name === "..") return [];
  const receipts = search.locations.receiptsDirectory(company);
  const outbound = search.locations.outboundDirectory(company);
  const folders = search.folders.filter(({ companyCode }) => companyCode === company);
  const places: Place[] = [
    ...(await Promise.all(folders.map((folder) => placesInFolder(folder, name, search)))).flat(),
    ...(await againPlaces(search, company, name)),
    ...(await uploadPlaces(search, company, name)),
    ...(await filedPlaces(search, company, name)),
    ownPlace("receipt", company, [receipts, receiptNameOf(name)]),
    ownPlace("outbound", company, [outbound, name]),
    ownPlace("outbound", company, [outbound, "done", name]),
  ];
  const found: LooseFile[] = [];
  for (const place of places) {
    const file = await lookAt(place);
    if (file !== undefined) found.push(file);
  }
  return found;
}

/** A file of a folder whose name has the number of a stop. */
export interface LooseStopFile extends LooseFile {
  /** Time in the name: CCYYMMDDHHMMSS. */
  readonly nameTime: number;
}

/** Files that are to be taken from the folders of a company, with one of these forms of a stop's number in their names. */
export async function findLooseFilesOfStop(
  search: LooseSearch,
  { company, stopNumbers }: { readonly company: string; readonly stopNumbers: readonly string[] },
): Promise<readonly LooseStopFile[]> {
  const found: LooseStopFile[] = [];
  for (const searched of search.folders) {
    const { companyCode, path: folder, isInbox } = searched;
    if (companyCode !== company) continue;
    const looks = looksAt(searched, search);
    for (const name of await looks.namesIn(folder)) {
      const parsed = isUnfinishedName(name) ? undefined : parseStopFileName(name);
      if (parsed?.kind !== "named" || !stopNumbers.includes(parsed.stopNbr)) continue;
      const kind = isInbox ? "inbound" : "watched";
      const file = await lookAt({ kind, company, folder, looks, path: join(folder, name) });
      if (file !== undefined) found.push({ ...file, nameTime: parsed.nameTime });
    }
  }
  return found.toSorted((one, other) => one.nameTime - other.nameTime);
}

/**
 * The files in the folders of a company that keep back the later ones of their stop, because they are not whole or cannot
 * be read: those of a stop (as its number stands in names) before a time, CCYYMMDDHHMMSS.
 */
export async function findKeepingBack(
  search: LooseSearch,
  {
    company,
    stopNbr,
    before,
  }: { readonly company: string; readonly stopNbr: string; readonly before: number },
): Promise<readonly LooseFile[]> {
  const ofStop = await findLooseFilesOfStop(search, { company, stopNumbers: [stopNbr] });
  return ofStop.filter(
    ({ nameTime, isOpenEnded, isReadable }) => nameTime < before && (isOpenEnded === true || !isReadable),
  );
}
