/**
 * Files get their names in a folder, any number of them together:
 *
 *   all written under hidden names ─> all synced ─> all linked to their own names ─> all hidden names removed
 *
 * Linking fails when a name is taken, and never replaces. A fault of one file stops none of the others. The names are
 * durable once the folder is synced, which is for the caller to do.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { isMissing, systemCodeOf } from "../../lib/errors.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { writeWhole } from "../../lib/files/durable-file.ts";
import { TransferFault } from "../../remote/transfer-fault.ts";
import type { FolderDisk } from "./folder-disk.ts";

export interface FileToPlace {
  readonly name: string;
  /** Another one at each attempt (`TemporaryNames`). */
  readonly temporaryName: string;
  readonly bytes: Uint8Array;
}

/** Whether the file is there, by this attempt or an earlier one, or another file has the name. */
export type Placed = "placed" | "taken";

/** What a file system says that has no second names for a file, or lets nobody make one. */
const noLinkCodes: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "EMLINK",
]);
/** A disk that takes its time makes so many files durable in little more than the time of one. */
const syncsAtOnce = 32;

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A file on its way to its name. */
interface Hand {
  readonly final: string;
  readonly temporary: string;
  readonly bytes: Uint8Array;
  /** Once it was made. */
  fd: number | undefined;
  /** What ended it before its end. */
  fault: PromiseRejectedResult | undefined;
}

async function write(disk: FolderDisk, hand: Hand): Promise<void> {
  const fd = await disk.open(hand.temporary, createFlags, 0o640);
  hand.fd = fd;
  try {
    await writeWhole(disk, fd, hand.bytes, 0);
  } catch (error) {
    await disk.close(fd);
    throw error;
  }
}

async function sync(disk: FolderDisk, { fd }: Hand): Promise<void> {
  if (fd === undefined) return;
  try {
    await disk.sync(fd);
  } finally {
    await disk.close(fd);
  }
}

/** Without links, a check before the rename has to do; nobody but dropgate makes files of these names. */
async function renameUnlessTaken(disk: FolderDisk, { temporary, final }: Hand): Promise<void> {
  const isTaken = await disk.lstat(final).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
  if (isTaken) throw Object.assign(new Error("the name is taken"), { code: "EEXIST" });
  await disk.rename(temporary, final);
}

async function giveName(disk: FolderDisk, hand: Hand): Promise<void> {
  try {
    await disk.link(hand.temporary, hand.final);
  } catch (error) {
    if (!noLinkCodes.has(systemCodeOf(error))) throw error;
    await renameUnlessTaken(disk, hand);
  }
}

async function hasBytes(disk: FolderDisk, { final, bytes }: Hand): Promise<boolean> {
  let fd: number;
  try {
    fd = await disk.open(final, readFlags);
  } catch (error) {
    if (systemCodeOf(error) === "ELOOP") return false;
    if (!isMissing(error)) throw error;
    // Nobody can say any more whether it had our bytes.
    throw new TransferFault("busy", `${final}: a file of this name was collected just now.`, {
      scope: "delivery",
    });
  }
  try {
    const stats = await disk.fstat(fd);
    if (!stats.isFile() || stats.size !== bytes.byteLength) return false;
    const there = Buffer.alloc(bytes.byteLength);
    for (let at = 0; at < there.length; ) {
      const count = await disk.read(fd, there.subarray(at), at);
      if (count === 0) return false;
      at += count;
    }
    return there.equals(bytes);
  } finally {
    await disk.close(fd);
  }
}

async function place(disk: FolderDisk, hand: Hand): Promise<Placed> {
  try {
    await giveName(disk, hand);
    return "placed";
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
    return (await hasBytes(disk, hand)) ? "placed" : "taken";
  }
}

async function settle<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [settled] = await Promise.allSettled([work]);
  return settled;
}

/** One step for all that have met no fault, so many at once. */
async function each(
  hands: readonly Hand[],
  atOnce: number,
  step: (hand: Hand) => Promise<void>,
): Promise<void> {
  await mapConcurrently(hands, atOnce, async (hand) => {
    const settled = hand.fault ?? (await settle(step(hand)));
    if (settled.status === "rejected") hand.fault = settled;
  });
}

/** Removes a hidden name. */
export async function removeTemporary(disk: Pick<FolderDisk, "unlink">, path: string): Promise<void> {
  try {
    await disk.unlink(path);
  } catch {
    // Renamed, or the disk is gone: what is left is swept later.
  }
}

function handOf(folder: string, { name, temporaryName, bytes }: FileToPlace): Hand {
  const [final, temporary] = [join(folder, name), join(folder, temporaryName)];
  return { final, temporary, bytes, fd: undefined, fault: undefined };
}

/** Writes the file under its hidden name and removes it. Rejects when one of the two cannot be done. */
export async function tryToWrite(disk: FolderDisk, folder: string, file: FileToPlace): Promise<void> {
  const hand = handOf(folder, file);
  try {
    await write(disk, hand);
    await sync(disk, hand);
  } catch (error) {
    await removeTemporary(disk, hand.temporary);
    throw error;
  }
  await disk.unlink(hand.temporary);
}

/** Gives each file its name in the folder. Results are in the order of the files; nothing is left of what has failed. */
export async function placeFiles(
  disk: FolderDisk,
  folder: string,
  files: readonly FileToPlace[],
): Promise<readonly PromiseSettledResult<Placed>[]> {
  const hands = files.map((file) => handOf(folder, file));
  await each(hands, 1, (hand) => write(disk, hand));
  await each(hands, syncsAtOnce, (hand) => sync(disk, hand));
  const results: PromiseSettledResult<Placed>[] = [];
  for (const hand of hands) results.push(hand.fault ?? (await settle(place(disk, hand))));
  for (const { fd, temporary } of hands) {
    if (fd === undefined) continue;
    await removeTemporary(disk, temporary);
  }
  return results;
}
