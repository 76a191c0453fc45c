/** Cleans up what a crash leaves in the dot-folders of `inbound/` while files are taken. */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { hashBytesAt } from "../../inbound/places/hash-bytes.ts";
import {
  againFolderName,
  asideFolderName,
  markOf,
  mayBeCutInAgain,
  nameOfAgainFile,
} from "../../inbound/places/place-arrival.ts";
import { mkdir, rename } from "../../lib/files/changes.ts";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { pinChild, pinFolder } from "../../lib/files/open-regular-file.ts";
import type { FolderDeps } from "./folder-deps.ts";

/** Where copies grow. */
export const takingFolderName = ".taking";

const bufferBytes = 64 * 1024;

type SweepDeps = Pick<FolderDeps, "disk" | "runId">;

/** The name of a copy while it grows; when its source lies in `inbound/`, until the source is gone. */
export function copyName(runId: string, mark: string): string {
  return `${runId}-${mark}`;
}

/**
 * Removes the copies of an earlier run, or of the node that had the company before, whose sources are still there. A source
 * that was set aside gets its name back, or one in `.again` when that is taken, unless its copy has its place already: the file
 * must not come twice. Copies are renamed first: a node that stood still cannot give them a place any more when it goes on.
 */
export async function sweepCopies(deps: SweepDeps, inbound: string): Promise<void> {
  const taking = join(inbound, takingFolderName);
  const found = (await readdir(taking).catch(unlessMissing)) ?? [];
  const copies: string[] = [];
  for (const name of found.filter((other) => !other.startsWith(`${deps.runId}-`))) {
    const own = await takeOver(deps, taking, name);
    if (own !== undefined) copies.push(own);
  }
  await recoverAside(deps, inbound, copies);
  for (const name of copies) await deps.disk.unlink(join(taking, name)).catch(unlessMissing);
}

/** The copy has another name now, which ends with its mark as before; undefined when it is gone. */
async function takeOver({ runId }: SweepDeps, taking: string, name: string): Promise<string | undefined> {
  const own = copyName(`${runId}-swept`, name.slice(name.lastIndexOf("-") + 1));
  try {
    await rename(join(taking, name), join(taking, own));
    return own;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function recoverAside(deps: SweepDeps, inbound: string, copies: readonly string[]): Promise<void> {
  const aside = join(inbound, asideFolderName);
  const names = (await readdir(aside).catch(unlessMissing)) ?? [];
  if (names.length === 0) return;
  await mkdir(join(inbound, againFolderName), { recursive: true, mode: 0o750 });
  await syncPlaces(deps, inbound);
  for (const name of names) {
    const source = join(aside, name);
    const copy = copies.find((other) => other.endsWith(`-${markOf(name)}`));
    const isPlaced =
      copy !== undefined && (await hasPlace(deps, source, join(inbound, takingFolderName, copy)));
    if (isPlaced || (await hasItsNameBack(deps, source, inbound))) await deps.disk.unlink(source);
    else await rename(source, join(inbound, againFolderName, name));
  }
}

/** Gives a source the name that it had, where that is free: files of the name in `.again` came after it. */
async function hasItsNameBack({ disk }: SweepDeps, source: string, inbound: string): Promise<boolean> {
  const name = nameOfAgainFile(basename(source));
  if (mayBeCutInAgain(name)) return false;
  const own = join(inbound, name);
  try {
    await disk.link(source, own);
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
    const [one, other] = [await disk.lstat(source), await disk.lstat(own)];
    return one.ino === other.ino && one.dev === other.dev;
  }
}

/** Sources go only when the places of their copies are durable. */
async function syncPlaces({ disk }: SweepDeps, inbound: string): Promise<void> {
  const folder = await pinFolder(await disk.realpath(inbound), [], disk);
  try {
    const again = await pinChild(folder, againFolderName, disk);
    await Promise.all([folder.sync(), again.sync()]).finally(() => again.close());
  } finally {
    await folder.close();
  }
}

/** Whether the copy has another name, its final one, and is all of the source, to which its writer may have added. */
async function hasPlace({ disk }: SweepDeps, source: string, copy: string): Promise<boolean> {
  if ((await disk.lstat(copy)).nlink < 2) return false;
  const buffer = Buffer.allocUnsafe(bufferBytes);
  const [first, second] = [await hashBytesAt(source, buffer), await hashBytesAt(copy, buffer)];
  return first.kind === "file" && second.kind === "file" && first.sha256 === second.sha256;
}
