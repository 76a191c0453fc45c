import type { Stats } from "node:fs";
import { opendir } from "node:fs/promises";
import type { DiskCalls } from "../../lib/files/durable-file.ts";
import { unlessMissing } from "../../lib/errors.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { isShownName } from "../client-path.ts";
import type { ExchangeAttributes, ExchangeEntry } from "../exchange-session.ts";

const pageSize = 256;

/** What a client sees of a file or folder on disk. */
export function attributesOf(stats: Stats): ExchangeAttributes {
  return {
    isDirectory: stats.isDirectory(),
    size: stats.size,
    mode: stats.mode & 0o777,
    modifiedSeconds: Math.floor(stats.mtimeMs / 1000),
    accessedSeconds: Math.floor(stats.atimeMs / 1000),
  };
}

/** The entry's attributes when it is a regular file (or a folder where folders are allowed), else undefined. */
export async function lookAt(
  disk: Pick<DiskCalls, "lstat">,
  folder: PinnedFolder,
  name: string,
  mayBeFolder = false,
): Promise<ExchangeAttributes | undefined> {
  // Names come and go while the pipeline works.
  const stats = await disk.lstat(folder.child(name)).catch(unlessMissing);
  const isShown = stats?.isFile() === true || (mayBeFolder && stats?.isDirectory() === true);
  return stats !== undefined && isShown ? attributesOf(stats) : undefined;
}

/**
 * Whether these bytes have arrived: the file has a second link, left by a crash between link and unlink. Nobody continues,
 * shows or keeps such a part.
 */
export function hasArrived({ nlink }: Pick<Stats, "nlink">): boolean {
  return nlink > 1;
}

/** The attributes of an unfinished upload. One that has arrived counts as absent. */
export async function lookAtPart(
  disk: Pick<DiskCalls, "lstat">,
  folder: PinnedFolder,
  name: string,
): Promise<ExchangeAttributes | undefined> {
  const stats = await disk.lstat(folder.child(name)).catch(unlessMissing);
  return stats?.isFile() === true && !hasArrived(stats) ? attributesOf(stats) : undefined;
}

export interface ListingOptions {
  readonly disk: Pick<DiskCalls, "lstat">;
  readonly folder: PinnedFolder;
  readonly hasFolders: boolean;
  /** Which names are shown; without it every name that is not hidden. */
  readonly isShown?: (name: string) => boolean;
}

async function pageOf(options: ListingOptions, names: readonly string[]): Promise<ExchangeEntry[]> {
  const { disk, folder, hasFolders } = options;
  const reading = names.map(async (name) => ({
    name,
    attributes: await lookAt(disk, folder, name, hasFolders),
  }));
  const found = await Promise.all(reading);
  return found.flatMap(({ name, attributes }) => (attributes === undefined ? [] : [{ name, attributes }]));
}

/** Lists files (and folders where allowed) in pages; links, FIFOs, sockets, devices and hidden names are left out. */
export async function* listFolder(options: ListingOptions): AsyncGenerator<readonly ExchangeEntry[]> {
  const isShown = options.isShown ?? isShownName;
  let names: string[] = [];
  // Node closes the directory when the loop ends, also when the client stops in the middle.
  for await (const entry of await opendir(options.folder.child("."), { bufferSize: pageSize })) {
    if (!isShown(entry.name) || !(entry.isFile() || (options.hasFolders && entry.isDirectory()))) continue;
    names.push(entry.name);
    if (names.length < pageSize) continue;
    yield await pageOf(options, names);
    names = [];
  }
  if (names.length > 0) yield await pageOf(options, names);
}
