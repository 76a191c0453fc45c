/** Files for a company's own folder, placed together: on the spot in a thread, or here when they are few. */
import { constants } from "node:fs";
import type { DeliveryOutcome } from "../../outbound/target.ts";
import { isMissing, messageOf } from "../../lib/errors.ts";
import { makeDirectoryDurably } from "../../lib/files/durable-file.ts";
import { outcomeOf } from "../../remote/transfer-fault.ts";
import type { FolderDisk } from "./folder-disk.ts";
import { folderFault } from "./folder-faults.ts";
import { type FileToPlace, type Placed, placeFiles } from "./place-files.ts";

/** What becomes of a file of a group; `broken` is a fault of dropgate. */
export type GroupOutcome = DeliveryOutcome | { readonly kind: "broken"; readonly message: string };

/** Makes an own folder when it is not there. */
export async function makeIfMissing(disk: Pick<FolderDisk, "lstat">, path: string): Promise<void> {
  try {
    await disk.lstat(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await makeDirectoryDurably(path);
  }
}

async function syncFolder(disk: FolderDisk, path: string): Promise<void> {
  const fd = await disk.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await disk.sync(fd);
  } finally {
    await disk.close(fd);
  }
}

async function placeDurably(
  disk: FolderDisk,
  folder: string,
  files: readonly FileToPlace[],
): Promise<readonly PromiseSettledResult<Placed>[]> {
  try {
    await makeIfMissing(disk, folder);
    const results = await placeFiles(disk, folder, files);
    await syncFolder(disk, folder);
    return results;
  } catch (reason) {
    return files.map(() => ({ status: "rejected", reason }));
  }
}

function faultOutcome(reason: unknown, folder: string): GroupOutcome {
  try {
    return outcomeOf(folderFault(reason, folder));
  } catch (error) {
    return { kind: "broken", message: messageOf(error) };
  }
}

/** Places the files with one sync of the folder, which is made when it is missing. Outcomes are in the order of the files. */
export async function placeGroup(
  disk: FolderDisk,
  folder: string,
  files: readonly FileToPlace[],
): Promise<GroupOutcome[]> {
  const results = await placeDurably(disk, folder, files);
  return files.map(({ name }, at) => {
    const result = results[at];
    if (result?.status !== "fulfilled") return faultOutcome(result?.reason, folder);
    return result.value === "placed" ? { kind: "delivered" } : { kind: "nameTaken", name };
  });
}
