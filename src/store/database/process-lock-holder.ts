/** Who holds the process lock of a state directory, without touching the lock. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

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
function isWriteLockOf(line: string, pid: string, inode: number): boolean {
  const [, , , kind, holder, file] = line.trim().split(/\s+/);
  return kind === "WRITE" && holder === pid && file?.split(":")[2] === String(inode);
}

/**
 * The process id of the running daemon, or undefined. Asks the kernel's list of locks: trying the lock itself could make
 * a daemon fail that starts at this moment, and the pid file alone outlives its process.
 */
export function findProcessLockHolder(stateDir: string): number | undefined {
  const pid = readText(join(stateDir, "dropgate.pid"))?.trim();
  const inode = inodeOf(join(stateDir, "dropgate.lock"));
  const locks = readText("/proc/locks");
  if (pid === undefined || inode === undefined || locks === undefined) return undefined;
  return locks.split("\n").some((line) => isWriteLockOf(line, pid, inode)) ? Number(pid) : undefined;
}
