/** One daemon a state directory, or a directory of a node: the process lock, and who holds it. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeFileSync } from "../../lib/files/changes.ts";
import { isStoreBusy } from "../../lib/store-error.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { OperatorError } from "../../lib/operator-error.ts";
import { lockExclusively, lockShared } from "./sqlite-dialect.ts";

export interface ProcessLock {
  release(): void;
}

/**
 * Takes a lock that goes with its process; throws an `OperatorError` with that message when another process has it. A shared
 * one is beside others that are shared.
 */
export function lockOrRefuse(
  path: string,
  messageOf: () => string,
  { isShared = false }: { readonly isShared?: boolean } = {},
): ProcessLock {
  try {
    return isShared ? lockShared(path) : lockExclusively(path);
  } catch (error) {
    if (!isStoreBusy(error)) throw error;
    throw new OperatorError(messageOf(), { cause: error });
  }
}

/** Of several nodes each has a directory of its own, below the state directory that they share. */
export type LockedPlace = "state directory" | "directory of a node";

const remedies: Readonly<Record<LockedPlace, string>> = {
  "state directory": "",
  "directory of a node":
    ": give each node a name of its own (`cluster.node`), or a directory (`cluster.nodeDir`)",
};

/** Takes the lock of such a directory or throws an error that names the process that has it. */
export function takeProcessLock(directory: string, place: LockedPlace = "state directory"): ProcessLock {
  const pidPath = join(directory, "dropgate.pid");
  const lock = lockOrRefuse(join(directory, "dropgate.lock"), () => {
    const pid = readText(pidPath)?.trim();
    const holder = pid === undefined ? "another process" : `process ${pid}`;
    return `the ${place} ${directory} is in use by ${holder}${remedies[place]}`;
  });
  killPoint("lock.taken");
  writeFileSync(pidPath, `${process.pid}\n`);
  return lock;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Missing, or not readable for this user: then the holder is unknown.
    return undefined;
  }
}

function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
}

/** A line such as `1: POSIX  ADVISORY  WRITE 14909 fe:00:4243457 1073741824 1073742335`. */
function isWriteLock(line: string, inode: number, pid?: string): boolean {
  const [, , , kind, holder, file] = line.trim().split(/\s+/);
  return kind === "WRITE" && (pid === undefined || holder === pid) && file?.split(":")[2] === String(inode);
}

/** Whether some process has that lock, by the kernel's list: trying it could make another fail that takes it at this moment. */
export function isLockTaken(path: string): boolean {
  const inode = inodeOf(path);
  const locks = readText("/proc/locks");
  if (inode === undefined || locks === undefined) return false;
  return locks.split("\n").some((line) => isWriteLock(line, inode));
}

/**
 * The process id of the daemon that has the directory, on this machine, or undefined. Asks the kernel's list of locks: trying
 * the lock itself could make a daemon fail that starts at this moment, and the pid file alone outlives its process.
 */
export function findProcessLockHolder(directory: string): number | undefined {
  const pid = readText(join(directory, "dropgate.pid"))?.trim();
  const inode = inodeOf(join(directory, "dropgate.lock"));
  const locks = readText("/proc/locks");
  if (pid === undefined || inode === undefined || locks === undefined) return undefined;
  return locks.split("\n").some((line) => isWriteLock(line, inode, pid)) ? Number(pid) : undefined;
}
