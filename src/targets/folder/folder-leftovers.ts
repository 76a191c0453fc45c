/** Hidden files in a target's folder that a crash has left there, of this state directory or of another. */
import { join } from "node:path";
import { isTemporaryName } from "../delivery-names.ts";
import type { FolderDisk } from "./folder-disk.ts";
import { removeTemporary } from "./place-files.ts";
import type { TemporaryNames } from "./temporary-names.ts";

const leftoverAgeMs = 3_600_000;

/** Removes those of an earlier process of the same state directory, and those of others when they are an hour old. */
export async function sweepLeftovers(disk: FolderDisk, path: string, names: TemporaryNames): Promise<void> {
  for await (const entry of await disk.entries(path)) {
    if (!entry.isFile() || !isTemporaryName(entry.name)) continue;
    const leftover = join(path, entry.name);
    if (names.isOfEarlierProcess(entry.name)) {
      await removeTemporary(disk, leftover);
      continue;
    }
    const stats = await disk.lstat(leftover).catch(() => undefined); // gone meanwhile
    if (stats !== undefined && Date.now() - stats.mtimeMs > leftoverAgeMs)
      await removeTemporary(disk, leftover);
  }
}
