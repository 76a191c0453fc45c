/** The system calls of the folder target, in two kinds; a seam for tests besides. */
import * as fs from "node:fs";
import { promisify } from "node:util";
import { type DiskCalls, systemDisk } from "../lib/durable-file.ts";
import { isMountPoint } from "../lib/mount-point.ts";
import { syncShort } from "../lib/short-sync.ts";

export interface FolderDisk
  extends Pick<DiskCalls, "open" | "close" | "write" | "read" | "fstat" | "lstat" | "link" | "unlink"> {
  /** Makes a file or a folder durable. */
  sync(fd: number): Promise<void>;
  mkdir(path: string): Promise<void>;
  /** Whether something is mounted at the folder. Rejects when it is not there. */
  isMountPoint(path: string): Promise<boolean>;
  /** Replaces what has the new name. */
  rename(from: string, to: string): Promise<void>;
}

const mkdirCall = promisify(fs.mkdir);
const mkdir = async (path: string): Promise<void> => {
  await mkdirCall(path, { mode: 0o750 });
};
const rename = promisify(fs.rename);

/** For folders below the state directory: what does not wait for the disk is done on the spot. */
export const ownDisk: FolderDisk = {
  ...systemDisk,
  sync: (fd) => syncShort(systemDisk, fd),
  mkdir,
  isMountPoint,
  rename,
};

const openCall = promisify(fs.open);
const writeCall = promisify(fs.write);

/**
 * For folders anywhere: every call goes to the thread pool, because a share whose server is gone keeps a call for ever,
 * and on the spot it would keep the whole process.
 */
export const foreignDisk: FolderDisk = {
  open: (path, flags, mode) => openCall(path, flags, mode),
  close: promisify(fs.close),
  write: async (fd, bytes, position) =>
    (await writeCall(fd, bytes, 0, bytes.byteLength, position)).bytesWritten,
  read: systemDisk.read,
  fstat: promisify(fs.fstat),
  lstat: systemDisk.lstat,
  link: promisify(fs.link),
  unlink: promisify(fs.unlink),
  sync: systemDisk.fsync,
  mkdir,
  isMountPoint,
  rename,
};
