/** Whether something is mounted at a folder, by the kernel's list of the mounts that this process sees. */
import { readFile, realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

interface Mount {
  /** The file system, as major:minor. */
  readonly device: string;
  /** The folder of that file system which is mounted. */
  readonly root: string;
  readonly path: string;
}

/** Blanks and the like in paths stand there in octal. */
function plainPath(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function readMounts(mountInfo: string): readonly Mount[] {
  return mountInfo.split("\n").flatMap((line) => {
    const [, , device, root, path] = line.split(" ");
    if (device === undefined || root === undefined || path === undefined) return [];
    return [{ device, root: plainPath(root), path: plainPath(path) }];
  });
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || folder === "/" || path.startsWith(`${folder}/`);
}

/** Of several the longest path; of one path what was mounted last, which lies on top. */
function mountOf(mounts: readonly Mount[], path: string): Mount | undefined {
  return mounts
    .filter((mount) => isBelow(path, mount.path))
    .reduce<Mount | undefined>(
      (best, mount) => (best === undefined || mount.path.length >= best.path.length ? mount : best),
      undefined,
    );
}

/**
 * Whether the folder (an absolute path without links) shows another file system, or another part of one, than the folder
 * that it lies in. `mountInfo` is /proc/self/mountinfo. A folder that is mounted onto itself does not count: systemd does
 * that with each folder of `ReadWritePaths`, whether a share is mounted there or not.
 */
export function isMountedAt(path: string, mountInfo: string): boolean {
  const mounts = readMounts(mountInfo);
  const own = mountOf(mounts, path);
  if (own?.path !== path) return false;
  const outer = path === "/" ? undefined : mountOf(mounts, dirname(path));
  if (outer === undefined) return true;
  const asItWas = join(outer.root, relative(outer.path, path));
  return own.device !== outer.device || own.root !== asItWas;
}

/** Rejects with the system's error when the folder is not there. */
export async function isMountPoint(folder: string): Promise<boolean> {
  const path = await realpath(folder);
  return isMountedAt(path, await readFile("/proc/self/mountinfo", "utf8"));
}
