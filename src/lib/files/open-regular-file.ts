/**
 * Opening files that other people put into a folder: never through a link, never waiting for a FIFO, never a device,
 * and always in the intended folder, even when somebody swaps a link in between two calls.
 *
 * A folder is pinned by an open descriptor; its entries are reached through `/proc/self/fd/<fd>/<name>`, so a rename or
 * a link anywhere above it changes nothing for us (what openat(2) does, which Node does not offer). Linux only.
 */
import { constants, type Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { seam } from "../kill-point.ts";
import { createSharedSync, type DiskCalls, systemDisk } from "./durable-file.ts";
import { systemCodeOf } from "../errors.ts";

/** A folder held open: its path cannot be redirected any more. */
export interface PinnedFolder {
  /** Where it lay when it was pinned, for logs, ledgers and everything that outlives the descriptor. */
  readonly path: string;
  readonly fd: number;
  /** A path for system calls on an entry. The name must be one clean component. */
  child(name: string): string;
  /** Makes entries made or removed so far durable; shared between all that ask at the same moment. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

async function pinAt(at: string, path: string, disk: DiskCalls): Promise<PinnedFolder> {
  const fd = await disk.open(at, folderFlags);
  const sync = seam("syncFolder", createSharedSync(fd, disk));
  return {
    path,
    fd,
    child: (name) => `/proc/self/fd/${fd}/${name}`,
    sync,
    close: () => disk.close(fd),
  };
}

/** Pins a folder inside a pinned one. The name must not be a link (`ELOOP` or `ENOTDIR` then). */
export function pinChild(
  parent: PinnedFolder,
  name: string,
  disk: DiskCalls = systemDisk,
): Promise<PinnedFolder> {
  return pinAt(parent.child(name), join(parent.path, name), disk);
}

/**
 * Pins `base` and walks down `components`, none of which may be a link. Links in `base` itself are followed: it is the
 * administrator's. `path` of the outcome begins with `base` as it was given.
 */
export async function pinFolder(
  base: string,
  components: readonly string[] = [],
  disk: DiskCalls = systemDisk,
): Promise<PinnedFolder> {
  let folder = await pinAt(await realpath(base), base, disk);
  for (const component of components) {
    const parent = folder;
    try {
      folder = await pinChild(parent, component, disk);
    } finally {
      await parent.close();
    }
  }
  return folder;
}

/** An open regular file. The caller closes `fd`. */
export interface RegularFile {
  readonly fd: number;
  readonly stats: Stats;
}

/**
 * Opens a regular file without following a link and without blocking on a FIFO. Returns undefined when the entry is a
 * link, folder, FIFO, socket or device; other errors (`ENOENT`, `EACCES`) are thrown. `path` has to be confined already,
 * by a pinned folder or because nobody else may write above it.
 */
export async function openRegularFile(
  path: string,
  flags: number = constants.O_RDONLY,
  disk: DiskCalls = systemDisk,
): Promise<RegularFile | undefined> {
  const fd = await openUnlessSpecial(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, disk);
  if (fd === undefined) return undefined;
  try {
    const stats = await disk.fstat(fd);
    if (stats.isFile()) return { fd, stats };
  } catch (error) {
    await disk.close(fd);
    throw error;
  }
  await disk.close(fd);
  return undefined;
}

async function openUnlessSpecial(path: string, flags: number, disk: DiskCalls): Promise<number | undefined> {
  try {
    return await disk.open(path, flags);
  } catch (error) {
    // A link; a FIFO without a reader, a socket or a device without a driver; a folder opened for writing.
    if (["ELOOP", "ENXIO", "ENODEV", "EISDIR"].includes(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  }
}
