/** The synchronous system calls that take files. A seam: tests count them and make one of them fail. */
import { closeSync, fstatSync, lstatSync, readSync, type Stats } from "node:fs";
import { secondMs } from "../../lib/durations.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import {
  fsyncSync,
  futimesSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "../../lib/files/changes.ts";

export interface TakeCalls {
  open(path: string, flags: number, mode?: number): number;
  close(fd: number): void;
  fstat(fd: number): Stats;
  lstat(path: string): Stats;
  read(fd: number, into: Uint8Array): number;
  write(fd: number, bytes: Uint8Array): number;
  fsync(fd: number): void;
  /** When it was last changed, milliseconds UTC. */
  futimes(fd: number, atMs: number): void;
  link(from: string, to: string): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  mkdir(path: string): void;
}

export const systemTakeCalls: TakeCalls = {
  open: openSync,
  close: closeSync,
  fstat: (fd) => fstatSync(fd),
  lstat: (path) => lstatSync(path),
  read: (fd, into) => readSync(fd, into, 0, into.byteLength, null),
  write: (fd, bytes) => writeSync(fd, bytes),
  fsync: fsyncSync,
  futimes: (fd, atMs) => futimesSync(fd, atMs / secondMs, atMs / secondMs),
  link: linkSync,
  rename: renameSync,
  unlink: unlinkSync,
  mkdir: (path) => void mkdirSync(path, { mode: 0o750 }),
};

/** A fault of the system on its way between threads. */
export interface SystemFault {
  readonly code: string;
  readonly message: string;
}

export function systemFaultOf(error: unknown): SystemFault {
  return { code: systemCodeOf(error) ?? "unknown", message: messageOf(error) };
}

export function makeFolderUnlessThere(calls: TakeCalls, path: string): void {
  try {
    calls.mkdir(path);
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
  }
}
