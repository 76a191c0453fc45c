/** What is asked of folders when a file is looked for, by this process itself (`directLooks`) or by another. */
import { constants, type Stats } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { documentEndBytes, endsWithRoot, lettersOf } from "../../domain/documents/document-end.ts";
import { isMissing, systemCodeOf } from "../../lib/errors.ts";

export type LooseKind = "inbound" | "watched" | "unfinished" | "upload" | "filed" | "receipt" | "outbound";

/** Where a file may lie. */
export interface LoosePlace {
  readonly kind: LooseKind;
  readonly company: string;
  readonly path: string;
  /** Of an upload: whose it is. */
  readonly userId?: number;
}

export interface LooseFile extends LoosePlace {
  readonly isRegular: boolean;
  /** Whether the user of this process may read it. */
  readonly isReadable: boolean;
  readonly size: number;
  /** Milliseconds UTC. */
  readonly modifiedAt: number;
  /** Of a file that is to be taken: it is empty, or does not end with the end tag of its root. */
  readonly isOpenEnded?: boolean;
}

/** Whether something lies at a path; `silent` when its folder does not answer. */
export type PathPresence = "there" | "gone" | "unreadable" | "silent";

export interface FolderLooks {
  /** What lies in a folder; nothing of one that cannot be listed. */
  namesIn(folder: string): Promise<readonly string[]>;
  /** The file at a place in a folder; undefined when there is none. */
  fileAt(folder: string, place: LoosePlace): Promise<LooseFile | undefined>;
  presenceOf(folder: string, path: string): Promise<PathPresence>;
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

async function fileAt(place: LoosePlace): Promise<LooseFile | undefined> {
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

async function presenceOf(path: string): Promise<PathPresence> {
  try {
    await lstat(path);
    return "there";
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return isMissing(error) ? "gone" : "unreadable";
  }
}

/** For folders on disks of the machine. A call to a dead share would not return, and keep this process from its end. */
export const directLooks: FolderLooks = {
  namesIn: async (folder) => (await unlessGone(() => readdir(folder))) ?? [],
  fileAt: (_, place) => fileAt(place),
  presenceOf: (_, path) => presenceOf(path),
};
