/** A disk of one megabyte, where a tmpfs can be mounted. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TinyDisk {
  readonly path: string;
  /** Gives it room for sixteen. */
  grow(): Promise<void>;
  makeReadOnly(): Promise<void>;
  end(): Promise<void>;
}

function mount(path: string, options: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]).status === 0;
}

function tryToMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  const path = mkdtempSync(join(tmpdir(), "dropgate-disk-"));
  const isMounted = mount(path, "size=1m");
  if (isMounted) spawnSync("umount", [path]);
  rmSync(path, { recursive: true });
  return isMounted;
}

/** Whether there can be one: as root, where nothing forbids mounts. */
export const mayMount = tryToMount();

/** Mounts one, at a new folder or at that one; the test ends it. */
export function startTinyDisk(at?: string): TinyDisk {
  const path = at ?? mkdtempSync(join(tmpdir(), "dropgate-disk-"));
  if (!mount(path, "size=1m")) throw new Error("a tmpfs cannot be mounted");
  chmodSync(path, 0o755);
  return {
    path,
    grow: async () => void mount(path, "remount,size=16m"),
    makeReadOnly: async () => void mount(path, "remount,ro"),
    end: async () => {
      spawnSync("umount", ["-l", path]);
      if (at === undefined) rmSync(path, { recursive: true, force: true });
    },
  };
}
