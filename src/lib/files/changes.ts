/**
 * The calls of the system that change files and folders, as Node.js has them. Every change goes through this module (a
 * test holds that), so that each is a step at which tests can have the process die (`kill-point.ts`).
 */
import * as fs from "node:fs";
import * as promises from "node:fs/promises";
import { promisify } from "node:util";
import { seam } from "../kill-point.ts";

/** Whether an open may make the file. */
function mayMake(_path: unknown, flags: string | number = "r"): boolean {
  return typeof flags === "number" ? (flags & fs.constants.O_CREAT) !== 0 : !flags.startsWith("r");
}

const openCall = promisify(fs.open);

export const openSync = seam(
  "create",
  (path: string, flags: number | string, mode?: number) => fs.openSync(path, flags, mode),
  mayMake,
);
export const writeSync = seam("write", (fd: number, bytes: Uint8Array, position: number | null = null) =>
  fs.writeSync(fd, bytes, 0, bytes.byteLength, position),
);
export const writeFileSync = seam("write", fs.writeFileSync);
export const copyFileSync = seam("copyFile", fs.copyFileSync);
export const mkdirSync = seam("mkdir", (path: string, options: { recursive?: boolean; mode: number }) =>
  fs.mkdirSync(path, options),
);
export const fsyncSync = seam("fsync", fs.fsyncSync);
export const linkSync = seam("link", fs.linkSync);
export const renameSync = seam("rename", fs.renameSync);
export const unlinkSync = seam("unlink", fs.unlinkSync);
export const rmSync = seam("unlink", fs.rmSync);
export const utimesSync = seam("utimes", fs.utimesSync);
export const fchmodSync = seam("chmod", fs.fchmodSync);
export const futimesSync = seam("utimes", fs.futimesSync);

export const open = seam(
  "create",
  (path: string, flags: number | string, mode?: number) => promises.open(path, flags, mode),
  mayMake,
);
export const writeFile = seam("write", promises.writeFile);
export const mkdir = seam("mkdir", (path: string, options: { recursive?: boolean; mode: number }) =>
  promises.mkdir(path, options),
);
export const utimes = seam("utimes", promises.utimes);
export const link = seam("link", promises.link);
export const copyFile = seam("copyFile", promises.copyFile);
export const rename = seam("rename", promises.rename);
export const unlink = seam("unlink", promises.unlink);
export const rm = seam("unlink", promises.rm);
export const rmdir = seam("unlink", promises.rmdir);

/** Makes the bytes of an open file durable. */
export const syncFile = seam("fsync", (handle: promises.FileHandle) => handle.sync());
/** Makes the entries of an open folder durable. */
export const syncFolder = seam("syncFolder", (handle: promises.FileHandle) => handle.sync());
/** Adds bytes behind those that were written through the handle. */
export const append = seam("write", (handle: promises.FileHandle, bytes: string | Uint8Array) =>
  handle.writeFile(bytes),
);

/** Calls with descriptors, in the thread pool. */
export const openInPool = seam(
  "create",
  (path: string, flags: number, mode?: number): Promise<number> => openCall(path, flags, mode),
  mayMake,
);
export const fsync = seam("fsync", promisify(fs.fsync));
export const fdatasync = seam("fsync", promisify(fs.fdatasync));
export const ftruncate = seam("truncate", promisify(fs.ftruncate));
export const write = seam(
  "write",
  (fd: number, bytes: Uint8Array, position: number): Promise<number> =>
    new Promise((resolve, reject) => {
      fs.write(fd, bytes, 0, bytes.byteLength, position, (error, written) =>
        error === null ? resolve(written) : reject(error),
      );
    }),
);
