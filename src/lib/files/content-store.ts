/**
 * Files by their content: `<directory>/ab/cd/<sha256>`, each written once and never changed.
 *
 *   (absent) --put--> there --sweep--> set aside --unchanged--> gone
 *                       ^                  |
 *                       +---- put since ---+
 *
 * Content comes first and what refers to it second: a put has resolved, so the file survives a power failure, before a row
 * that names it is committed. Content that nothing refers to (a refusal, or a crash in between) is swept by its age, which
 * a put renews. A crash leaves temporary names, which are swept, and files set aside, which get their names back.
 *
 * Several threads may put the same content at once: each writes under a name of its own, and the last rename counts.
 */
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { link, mkdir, rename, unlink, utimes } from "./changes.ts";
import { makeDirectoryDurably, syncDirectory, writeFileDurably } from "./durable-file.ts";
import { entriesOf } from "./entries-of.ts";
import { systemCodeOf, unlessMissing } from "../errors.ts";
import { portionsOf } from "../portions.ts";

export interface Content {
  /** Of the bytes, lower-case hex. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

const contentName = /^[0-9a-f]{64}$/;
const folderName = /^[0-9a-f]{2}$/;
const temporaryName = /^\..*\.tmp$/;
const asideName = /^\.([0-9a-f]{64})\.aside$/;

/** Where the content lies. Throws for what is no SHA-256 in lower-case hex, which could lead anywhere. */
export function contentPath(directory: string, sha256: string): string {
  if (!contentName.test(sha256)) throw new Error("a content is named by its SHA-256 in lower-case hex");
  return join(directory, sha256.slice(0, 2), sha256.slice(2, 4), sha256);
}

/** Whether the content is there whole; its age begins anew then. */
async function renew(path: string, size: number): Promise<boolean> {
  const now = new Date();
  try {
    // The time first: from here on no sweep takes it away.
    await utimes(path, now, now);
    return (await stat(path)).size === size;
  } catch (error) {
    unlessMissing(error);
    return false;
  }
}

/** When the promise resolves, the content survives a power failure. Quick when it is there already. */
export async function putContent(directory: string, { sha256, bytes }: Content): Promise<void> {
  const path = contentPath(directory, sha256);
  const folder = dirname(path);
  if (!(await renew(path, bytes.length))) {
    await makeDirectoryDurably(directory);
    await mkdir(folder, { recursive: true, mode: 0o750 });
    await writeFileDurably(path, bytes);
  }
  // Also what another thread has just made: it may not have come to its own syncs yet.
  await syncDirectory(folder);
  await syncDirectory(dirname(folder));
  await syncDirectory(directory);
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await entriesOf(folder);
  return entries
    .filter((entry) => entry.isDirectory() && folderName.test(entry.name))
    .map(({ name }) => name);
}

/** Gives a file that a crash has left aside its name back, unless its content has been put again meanwhile. */
async function putBack(aside: string, path: string): Promise<void> {
  try {
    await link(aside, path);
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
  }
  await unlink(aside);
}

async function isOlder(path: string, beforeMs: number): Promise<boolean> {
  const stats = await stat(path).catch(unlessMissing);
  return stats !== undefined && stats.mtimeMs < beforeMs;
}

/** Sees to what a crash has left in a folder, and gives the hashes of the contents in it. */
async function tidyFolder(folder: string, beforeMs: number): Promise<string[]> {
  const hashes = new Set<string>();
  for (const { name } of await entriesOf(folder)) {
    const aside = asideName.exec(name)?.[1];
    if (aside !== undefined) {
      await putBack(join(folder, name), join(folder, aside));
      hashes.add(aside);
    } else if (contentName.test(name)) hashes.add(name);
    else if (temporaryName.test(name) && (await isOlder(join(folder, name), beforeMs)))
      await unlink(join(folder, name));
  }
  return [...hashes];
}

/** Removes the content if it was put before `beforeMs` and not since. Whether it was removed. */
async function removeOld(directory: string, sha256: string, beforeMs: number): Promise<boolean> {
  const path = contentPath(directory, sha256);
  if (!(await isOlder(path, beforeMs))) return false;
  const aside = join(dirname(path), `.${sha256}.aside`);
  await rename(path, aside);
  // A put that came before the rename has found the file and renewed it; one that comes now writes it anew.
  if (await isOlder(aside, beforeMs)) {
    await unlink(aside);
    return true;
  }
  await putBack(aside, path);
  return false;
}

export interface ContentSweep {
  /** Contents and temporary files that were last put before this (milliseconds since the epoch) are looked at. */
  readonly beforeMs: number;
  /** Which of these hashes are referred to; some hundred at a time. */
  readonly referredTo: (hashes: readonly string[]) => Promise<ReadonlySet<string>>;
}

const hashesAtOnce = 400;

/**
 * Removes old contents that nothing refers to, folder by folder, so that memory stays bounded. Gives how many. At most one
 * sweep of a directory may run at a time. Rejects when aborted; what is done so far stays done.
 */
export async function sweepContents(
  directory: string,
  { beforeMs, referredTo }: ContentSweep,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (const first of await foldersIn(directory)) {
    for (const second of await foldersIn(join(directory, first))) {
      const hashes = await tidyFolder(join(directory, first, second), beforeMs);
      for (const some of portionsOf(hashes, hashesAtOnce)) {
        signal.throwIfAborted();
        const known = await referredTo(some);
        for (const sha256 of some) {
          if (!known.has(sha256) && (await removeOld(directory, sha256, beforeMs))) removed += 1;
        }
      }
    }
  }
  return removed;
}
