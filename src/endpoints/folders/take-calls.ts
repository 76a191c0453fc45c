/** The synchronous system calls with which files are taken. A seam: tests count them and make one of them fail. */
import { closeSync, fstatSync, lstatSync, readSync, type Stats } from "node:fs";
import {
  fsyncSync,
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
  link: linkSync,
  rename: renameSync,
  unlink: unlinkSync,
  mkdir: (path) => void mkdirSync(path, { mode: 0o750 }),
};
