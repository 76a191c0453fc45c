/**
 * Copies of files that were left in folders, from their making until they are filed away: nobody writes to one, and its mtime
 * says when the file came. By their mode the next start knows them.
 */
import type { Stats } from "node:fs";

export const copyMode = 0o440;
/** Of what is filed away, and of uploads. */
export const filedMode = 0o640;

/** Whether dropgate has made the file as a copy; the mask of the process may have taken permissions away. */
export function isOwnCopy({ mode, uid }: Pick<Stats, "mode" | "uid">): boolean {
  const isReadOnly = (mode & 0o777 & ~copyMode) === 0 && (mode & 0o400) !== 0;
  return isReadOnly && uid === process.geteuid?.();
}

/**
 * When a file that an earlier run has left came, milliseconds UTC. A copy came when its source did; its ctime is that of the last
 * start which dealt with it.
 */
export function cameAtMs(stats: Pick<Stats, "mode" | "uid" | "mtimeMs" | "ctimeMs">): number {
  const { mtimeMs, ctimeMs } = stats;
  // A file system may keep less than it was told.
  return isOwnCopy(stats) && mtimeMs <= ctimeMs ? Math.round(mtimeMs) : ctimeMs;
}
