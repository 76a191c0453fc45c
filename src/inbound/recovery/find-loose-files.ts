/** Where a file lies that is in no ledger: arriving, unfinished, or in a folder where nobody takes it. */
import { constants, type Dirent, type Stats } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { documentEndBytes, endsWithRoot, lettersOf } from "../../domain/documents/document-end.ts";
import { parseStopFileName, receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { systemCodeOf } from "../../lib/errors.ts";
import type { Locations } from "../places/locations.ts";
import { againFolderName } from "../places/place-arrival.ts";

export type LooseKind = "inbound" | "watched" | "unfinished" | "upload" | "filed" | "receipt" | "outbound";

export interface LooseFile {
  readonly kind: LooseKind;
  readonly company: string;
  readonly path: string;
  readonly isRegular: boolean;
  /** Whether the user of this process may read it. */
  readonly isReadable: boolean;
  readonly size: number;
  /** Milliseconds UTC. */
  readonly modifiedAt: number;
  /** Of an upload: whose it is. */
  readonly userId?: number;
  /** Of a file that is to be taken: it is empty, or does not end with the end tag of its root. */
  readonly isOpenEnded?: boolean;
}

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
  readonly partialFolderName: string;
}

/** Whether a name is one under which a client or another server may be writing the file. */
export function isUnfinishedFormOf(candidate: string, name: string): boolean {
  const bare = candidate.startsWith(".") ? candidate.slice(1) : candidate;
  const rest = bare.slice(name.length);
  return isUnfinishedName(candidate) && bare.startsWith(name) && (rest === "" || /^[.~]/.test(rest));
}

async function unlessGone<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** Whether the user of this process may read the file, by trying: the rights alone are not enough on every share. */
export async function canBeRead(path: string): Promise<boolean> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    await handle.close();
    return true;
  } catch {
    return false; // the scan that takes it logs why
  }
}

interface Place {
  readonly kind: LooseKind;
  readonly company: string;
  readonly path: string;
  readonly userId?: number;
}

async function lookAt(place: Place): Promise<LooseFile | undefined> {
  const stats: Stats | undefined = await unlessGone(() => lstat(place.path));
  if (stats === undefined) return undefined;
  const isReadable = !stats.isFile() || (await canBeRead(place.path));
  const isTaken = (place.kind === "inbound" || place.kind === "watched") && /\.xml$/i.test(place.path);
  const isOpenEnded = isTaken && stats.isFile() && (await unlessGone(() => endsEarly(place.path)));
  return {
    ...place,
    ...{ isRegular: stats.isFile(), isReadable, size: stats.size, modifiedAt: Math.trunc(stats.mtimeMs) },
    ...(isOpenEnded === true ? { isOpenEnded } : {}),
  };
}

async function endsEarly(path: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    const readAt = async (position: number): Promise<string> => {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(documentEndBytes), position });
      return lettersOf(buffer.subarray(0, bytesRead));
    };
    return !endsWithRoot(await readAt(0), await readAt(Math.max(0, size - documentEndBytes)));
  } finally {
    await file.close();
  }
}

async function namesIn(folder: string): Promise<readonly Dirent[]> {
  return (await unlessGone(() => readdir(folder, { withFileTypes: true }))) ?? [];
}

async function placesInFolder(folder: SearchedFolder, name: string): Promise<Place[]> {
  const { companyCode: company, path } = folder;
  const isForm = ({ name: other }: Dirent) => other !== name && isUnfinishedFormOf(other, name);
  const unfinished = (await namesIn(path)).filter(isForm);
  const taken: LooseKind = folder.isInbox ? "inbound" : "watched";
  return [
    { kind: isUnfinishedName(name) ? "unfinished" : taken, company, path: join(path, name) },
    ...unfinished.map((entry): Place => ({ kind: "unfinished", company, path: join(path, entry.name) })),
  ];
}

/** An upload has its final name until it is closed, or an unfinished one of the client's choice. */
async function uploadPlaces(search: LooseSearch, company: string, name: string): Promise<Place[]> {
  const partials = join(search.locations.inboundDirectory(company), search.partialFolderName);
  const places: Place[] = [];
  for (const user of await namesIn(partials)) {
    const folder = join(partials, user.name);
    for (const entry of await namesIn(folder)) {
      if (entry.name !== name && !isUnfinishedFormOf(entry.name, name)) continue;
      places.push({ kind: "upload", company, path: join(folder, entry.name), userId: Number(user.name) });
    }
  }
  return places;
}

/** Files whose name was taken when they came lie under another one, with this name at its end. */
async function againPlaces(search: LooseSearch, company: string, name: string): Promise<Place[]> {
  const folder = join(search.locations.inboundDirectory(company), againFolderName);
  const found = (await namesIn(folder)).filter((entry) => entry.name.slice(13) === name);
  return found.map((entry) => ({ kind: "inbound", company, path: join(folder, entry.name) }));
}

async function filedPlaces(search: LooseSearch, company: string, name: string): Promise<Place[]> {
  const places: Place[] = [];
  for (const kind of ["archive", "error"]) {
    const folder = join(search.locations.companyDirectory(company), kind);
    for (const day of await namesIn(folder)) {
      places.push({ kind: "filed", company, path: join(folder, day.name, name) });
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
    ...(await Promise.all(folders.map((folder) => placesInFolder(folder, name)))).flat(),
    ...(await againPlaces(search, company, name)),
    ...(await uploadPlaces(search, company, name)),
    ...(await filedPlaces(search, company, name)),
    { kind: "receipt", company, path: join(receipts, receiptNameOf(name)) },
    { kind: "outbound", company, path: join(outbound, name) },
    { kind: "outbound", company, path: join(outbound, "done", name) },
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
  for (const { companyCode, path, isInbox } of search.folders) {
    if (companyCode !== company) continue;
    for (const { name } of await namesIn(path)) {
      const parsed = isUnfinishedName(name) ? undefined : parseStopFileName(name);
      if (parsed?.kind !== "named" || !stopNumbers.includes(parsed.stopNbr)) continue;
      const file = await lookAt({ kind: isInbox ? "inbound" : "watched", company, path: join(path, name) });
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
