/** The system calls of the folder target, in two kinds; a seam for tests besides. */
import * as fs from "node:fs";
import { opendir } from "node:fs/promises";
import { promisify } from "node:util";
import * as changes from "../../lib/files/changes.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import { asForeign, foreignEntries } from "../../lib/files/foreign-calls.ts";
import { isMountPoint } from "../../lib/files/mount-point.ts";
import { syncAdaptively } from "../../lib/files/adaptive-sync.ts";

export interface FolderDisk
  extends Pick<DiskCalls, "open" | "close" | "write" | "read" | "fstat" | "lstat" | "link" | "unlink"> {
  /** Makes a file or a folder durable. */
  sync(fd: number): Promise<void>;
  mkdir(path: string): Promise<void>;
  /** Whether something is mounted at the folder. Rejects when it is not there. */
  isMountPoint(path: string): Promise<boolean>;
  /** The entries of a folder. */
  entries(path: string): Promise<AsyncIterable<fs.Dirent>>;
  /** Replaces what has the new name. */
  rename(from: string, to: string): Promise<void>;
}

const mkdir = async (path: string): Promise<void> => {
  await changes.mkdir(path, { mode: 0o750 });
};

/** For folders below the state directory: short calls are made where `short-calls.ts` has them. */
export const ownDisk: FolderDisk = {
  ...systemDisk,
  sync: (fd) => syncAdaptively(systemDisk, fd),
  mkdir,
  isMountPoint,
  entries: (path) => opendir(path),
  rename: changes.rename,
};

/** The same call as a promise, made on the spot. */
const onTheSpot =
  <Given extends readonly unknown[], Result>(call: (...given: Given) => Result) =>
  async (...given: Given): Promise<Result> =>
    call(...given);

/**
 * For folders below the state directory in a thread of its own: one call after the other on the spot, but for the syncs of
 * a disk that does not answer at once.
 */
export const threadDisk: FolderDisk = {
  ...ownDisk,
  write: onTheSpot(changes.writeSync),
  read: onTheSpot((fd, into, position) => fs.readSync(fd, into, 0, into.byteLength, position)),
  lstat: onTheSpot((path) => fs.lstatSync(path)),
  rename: onTheSpot(changes.renameSync),
};

const fstatCall = promisify(fs.fstat);

/**
 * For folders anywhere: every call goes to the thread pool, because a share whose server is gone keeps a call for ever,
 * and on the spot it would keep the whole process; in the pool it keeps one of the places for such calls.
 */
export const foreignDisk: FolderDisk = {
  open: asForeign(changes.openInPool),
  close: asForeign(promisify(fs.close)),
  write: asForeign(changes.write),
  read: asForeign(systemDisk.read),
  fstat: asForeign((fd) => fstatCall(fd)),
  lstat: asForeign(systemDisk.lstat),
  link: asForeign(changes.link),
  unlink: asForeign(changes.unlink),
  sync: asForeign(systemDisk.fsync),
  mkdir: asForeign(mkdir),
  isMountPoint: asForeign(isMountPoint),
  entries: async (path) => foreignEntries(path),
  rename: asForeign(changes.rename),
};
