/** What tests of folders look at, and how they make calls fail. */
import { existsSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { FolderRig } from "./folder-rig.ts";

/** Throws as a call of the system does that fails with this code. */
export function fail(code: string): never {
  throw Object.assign(new Error(code), { code });
}

/** A folder on another file system than the temporary folder, where there is one. */
export function otherFileSystem(rig: FolderRig): string | undefined {
  if (!existsSync("/dev/shm") || statSync("/dev/shm").dev === statSync(rig.root).dev) return undefined;
  return mkdtempSync("/dev/shm/dropgate-folders-");
}

/** The names in `inbound/`, without those of our own. */
export function left(rig: FolderRig): readonly string[] {
  return readdirSync(rig.inbound).filter((file) => !file.startsWith("."));
}

/** The copies that are being taken. */
export function copies(rig: FolderRig): readonly string[] {
  const folder = join(rig.inbound, ".taking");
  return existsSync(folder) ? readdirSync(folder) : [];
}
