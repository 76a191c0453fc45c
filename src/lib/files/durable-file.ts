/**
 * The one place that makes files durable: write under a dot-name that must not exist, fsync, rename,
 * fsync the directory, and only then report success.
 */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { type FileHandle, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { systemCodeOf } from "../errors.ts";
import * as changes from "./changes.ts";
import { shareRuns } from "./shared-run.ts";
import { type SyncCalls, syncAdaptively } from "./adaptive-sync.ts";
import { shortCall } from "./short-calls.ts";

/** A name beside `path` that no listing shows as final and that cannot exist yet. */
function temporaryNameFor(path: string): string {
  return join(dirname(path), `.${basename(path).slice(0, 180)}.${randomBytes(6).toString("hex")}.tmp`);
}

function openDirectory(directory: string): Promise<FileHandle> {
  return changes.open(directory, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
}

async function syncAndClose(directory: FileHandle): Promise<void> {
  try {
    await changes.syncFolder(directory);
  } finally {
    await directory.close();
  }
}

/** Makes what was renamed, linked or removed in a directory survive a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  await syncAndClose(await openDirectory(directory));
}

async function writeAndSync(handle: FileHandle, bytes: string | Uint8Array): Promise<void> {
  try {
    await changes.append(handle, bytes);
    await changes.syncFile(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Writes a whole file so that after the promise resolves it survives a power failure, and so that no reader ever sees
 * a part of it. Replaces an existing file. `mode` is applied at creation (default 0640).
 */
export async function writeFileDurably(
  path: string,
  bytes: string | Uint8Array,
  mode = 0o640,
): Promise<void> {
  const temporary = temporaryNameFor(path);
  const file = await changes.open(temporary, "wx", mode);
  let directory: FileHandle | undefined;
  try {
    await writeAndSync(file, bytes);
    // Before the rename. CephFS answers a look at a directory that was just changed when it has written its journal: seconds
    // later, unless somebody asks for the sync, and nobody does who waits for that look.
    directory = await openDirectory(dirname(path));
    await changes.rename(temporary, path);
  } catch (error) {
    // What has failed is told, and not what fails for that reason too.
    await Promise.allSettled([directory?.close(), changes.unlink(temporary)]);
    throw error;
  }
  await syncAndClose(directory);
}

/** Makes one directory. `parentMissing` when there is nowhere to make it; rejects when a file has the name. */
async function makeOne(directory: string): Promise<"made" | "there" | "parentMissing"> {
  try {
    await changes.mkdir(directory, { mode: 0o750 });
    return "made";
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT") return "parentMissing";
    if (code !== "EEXIST" || !(await stat(directory)).isDirectory()) throw error;
    return "there";
  }
}

/**
 * Makes a directory and its parents (mode 0750) and makes the new entries durable. One call for each: the recursive mkdir
 * of Node tries for ever where the system makes no directories at all, as below /proc.
 */
export async function makeDirectoryDurably(directory: string): Promise<void> {
  let outcome = await makeOne(directory);
  const parent = dirname(directory);
  if (outcome === "parentMissing" && parent !== directory) {
    await makeDirectoryDurably(parent);
    outcome = await makeOne(directory);
  }
  if (outcome === "parentMissing") {
    throw new Error(
      `the folder ${directory} cannot be made: ${parent} takes no new folders; choose another place`,
    );
  }
  if (outcome === "made") await syncDirectory(parent);
}

const maxShortWriteBytes = 64 * 1024;

const callbackRead = (fd: number, into: Uint8Array, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    fs.read(fd, into, 0, into.byteLength, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });

/**
 * The system calls on the way of an uploaded file. A seam: tests record their order and make one of them fail. Plain
 * descriptors instead of FileHandle, because each object counts on this path.
 */
export interface DiskCalls extends SyncCalls {
  open(path: string, flags: number, mode?: number): Promise<number>;
  close(fd: number): Promise<void>;
  /** May write less than asked, as write(2) does. */
  write(fd: number, bytes: Uint8Array, position: number): Promise<number>;
  read(fd: number, into: Uint8Array, position: number): Promise<number>;
  fdatasync(fd: number): Promise<void>;
  ftruncate(fd: number, size: number): Promise<void>;
  fstat(fd: number): Promise<fs.Stats>;
  lstat(path: string): Promise<fs.Stats>;
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  statfs(path: string): Promise<fs.StatsFs>;
}

const closeCall = promisify(fs.close);
const fstatCall = promisify(fs.fstat) as (fd: number) => Promise<fs.Stats>;
const lstatCall = promisify(fs.lstat);
const statfsCall = promisify(fs.statfs);

/** Calls that only touch the page cache are short ones. Those that may wait for a disk (syncs, reads, large writes) are not. */
export const systemDisk: DiskCalls = {
  open: (path, flags, mode) =>
    shortCall(
      () => changes.openSync(path, flags, mode),
      () => changes.openInPool(path, flags, mode),
    ),
  close: (fd) =>
    shortCall(
      () => fs.closeSync(fd),
      () => closeCall(fd),
    ),
  write: (fd, bytes, position) =>
    bytes.byteLength <= maxShortWriteBytes
      ? shortCall(
          () => changes.writeSync(fd, bytes, position),
          () => changes.write(fd, bytes, position),
        )
      : changes.write(fd, bytes, position),
  read: callbackRead,
  fsync: changes.fsync,
  fsyncNow: (fd) => changes.fsyncSync(fd),
  fdatasync: changes.fdatasync,
  ftruncate: changes.ftruncate,
  fstat: (fd) =>
    shortCall(
      () => fs.fstatSync(fd),
      () => fstatCall(fd),
    ),
  lstat: (path) => lstatCall(path),
  link: (from, to) =>
    shortCall(
      () => changes.linkSync(from, to),
      () => changes.link(from, to),
    ),
  unlink: (path) =>
    shortCall(
      () => changes.unlinkSync(path),
      () => changes.unlink(path),
    ),
  statfs: (path) => statfsCall(path),
};

/** Writes all of it, however little the system takes at a time. */
export async function writeWhole(
  disk: Pick<DiskCalls, "write">,
  fd: number,
  bytes: Uint8Array,
  at: number,
): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) done += await disk.write(fd, bytes.subarray(done), at + done);
}

const nextTurn = promisify(setImmediate) as () => Promise<void>;

/**
 * Syncs of one open directory, shared between all that ask in the same turn of the event loop, as the files of a burst do
 * that come over several connections. A promise that resolves speaks for every entry that was made before it was asked for.
 */
export function createSharedSync(fd: number, disk: SyncCalls = systemDisk): () => Promise<void> {
  return shareRuns(() => syncAdaptively(disk, fd), nextTurn);
}
