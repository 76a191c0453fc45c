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
import { isLinkForbidden, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { pinChild, pinFolder } from "../../lib/files/open-regular-file.ts";
import type { FolderDeps } from "./folder-deps.ts";

/** Where copies grow. */
export const takingFolderName = ".taking";

const bufferBytes = 64 * 1024;

interface SweepDeps extends Pick<FolderDeps, "disk" | "runId"> {
  /** Throws `HoldOverError` when another node has the company. */
  readonly assertHeld: () => void;
}

/** The name of a copy while it grows; when its source lies in `inbound/`, until the source is gone. */
export function copyName(runId: string, mark: string): string {
  return `${runId}-${mark}`;
}

/**
 * Removes the copies of an earlier run, or of the node that had the company before, whose sources are still there. Where a source
 * of `inbound/` was set aside, its copy takes its place, because it says when the file came, and the source does not any more. A
 * source whose copy is not all of it gets its name back, or one in `.again`.
 *
 * Copies are renamed first: a node that stood still cannot give them a place any more when it goes on, nor set a source aside
 * that this one does not see. Gives whether anything was aside. Throws `HoldOverError` once the company is another node's.
 */
export async function sweepCopies(deps: SweepDeps, inbound: string): Promise<boolean> {
  const taking = join(inbound, takingFolderName);
  const found = (await readdir(taking).catch(unlessMissing)) ?? [];
  const marks = new Set((await sourcesAside(inbound)).map((source) => markOf(basename(source))));
  // Of this run, those of other folders may be growing.
  const mayBeInUse = (name: string) =>
    name.startsWith(`${deps.runId}-`) && !name.startsWith(sweptBy(deps)) && !marks.has(markOfCopy(name));
  const copies: string[] = [];
  for (const name of found.filter((other) => !mayBeInUse(other))) {
    const own = await takeOver(deps, taking, name);
    if (own !== undefined) copies.push(join(taking, own));
  }
  const aside = await sourcesAside(inbound);
  if (aside.length > 0) await endExchanges(deps, inbound, { copies, aside });
  for (const copy of copies) await remove(deps, copy);
  return aside.length > 0;
}

async function remove({ disk, assertHeld }: SweepDeps, path: string): Promise<void> {
  assertHeld();
  await disk.unlink(path).catch(unlessMissing);
}

/** What the names of copies begin with that a sweep of this run has taken over, and may have died or failed with. */
function sweptBy({ runId }: SweepDeps): string {
  return `${runId}-swept`;
}

function markOfCopy(name: string): string {
  return name.slice(name.lastIndexOf("-") + 1);
}

/** The copy has another name now, which ends with its mark as before; undefined when it is gone. */
async function takeOver(deps: SweepDeps, taking: string, name: string): Promise<string | undefined> {
  const own = copyName(sweptBy(deps), markOfCopy(name));
  deps.assertHeld();
  try {
    await rename(join(taking, name), join(taking, own));
    return own;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function sourcesAside(inbound: string): Promise<readonly string[]> {
  const aside = join(inbound, asideFolderName);
  const names = (await readdir(aside).catch(unlessMissing)) ?? [];
  return names.map((name) => join(aside, name));
}

interface Left {
  /** Absolute paths in `.taking`. */
  readonly copies: readonly string[];
  /** Those of sources in `.aside`. */
  readonly aside: readonly string[];
}

async function endExchanges(deps: SweepDeps, inbound: string, { copies, aside }: Left): Promise<void> {
  const again = join(inbound, againFolderName);
  await mkdir(again, { recursive: true, mode: 0o750 });
  const done: string[] = [];
  const byMark = new Map(copies.map((copy) => [markOfCopy(copy), copy]));
  for (const source of aside) {
    const copy = byMark.get(markOf(basename(source)));
    const hasName = await isUnderOwnName(deps, inbound, source);
    const isCopied = !hasName && copy !== undefined && (await isWhole(source, copy));
    if (isCopied) await givePlace(deps, inbound, copy, basename(source));
    if (hasName || isCopied || (await hasNameBack(deps, inbound, source))) done.push(source);
    else {
      deps.assertHeld();
      await rename(source, join(again, basename(source)));
    }
  }
  // Sources go only when the places of their copies are durable, and the names of the copies after them.
  await syncPlaces(deps, inbound);
  for (const source of done) await remove(deps, source);
}

/** Whether a source whose copy is not all of it has its own name again, and so settles, and is copied, once more. */
async function hasNameBack(deps: SweepDeps, inbound: string, source: string): Promise<boolean> {
  const name = nameOfAgainFile(basename(source));
  if (mayBeCutInAgain(name)) return false;
  try {
    return await linkUnlessThere(deps, source, join(inbound, name));
  } catch (error) {
    if (!isLinkForbidden(error)) throw error;
    return false;
  }
}

/** Whether a process died, or a call failed, while the source was given its name back. */
async function isUnderOwnName({ disk }: SweepDeps, inbound: string, source: string): Promise<boolean> {
  const own = join(inbound, nameOfAgainFile(basename(source)));
  const [one, other] = [await disk.lstat(source), await disk.lstat(own).catch(unlessMissing)];
  return one.ino === other?.ino && one.dev === other.dev;
}

/** Its own name, or one in `.again` when that is taken; unless it has one of them. */
async function givePlace(deps: SweepDeps, inbound: string, copy: string, againName: string): Promise<void> {
  const { disk } = deps;
  if ((await disk.lstat(copy)).nlink > 1) return;
  const name = nameOfAgainFile(againName);
  if (mayBeCutInAgain(name) || !(await linkUnlessThere(deps, copy, join(inbound, name))))
    await linkUnlessThere(deps, copy, join(inbound, againFolderName, againName));
}

/** Whether the copy is all of the source, to which its writer may have added. */
async function isWhole(source: string, copy: string): Promise<boolean> {
  const buffer = Buffer.allocUnsafe(bufferBytes);
  const [first, second] = [await hashBytesAt(source, buffer), await hashBytesAt(copy, buffer)];
  return first.kind === "file" && second.kind === "file" && first.sha256 === second.sha256;
}

/** False when the name is taken. */
async function linkUnlessThere(deps: SweepDeps, from: string, to: string): Promise<boolean> {
  const { disk, assertHeld } = deps;
  assertHeld();
  try {
    await disk.link(from, to);
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
    return false;
  }
}

async function syncPlaces({ disk }: SweepDeps, inbound: string): Promise<void> {
  const folder = await pinFolder(await disk.realpath(inbound), [], disk);
  try {
    const again = await pinChild(folder, againFolderName, disk);
    await Promise.all([folder.sync(), again.sync()]).finally(() => again.close());
  } finally {
    await folder.close();
  }
}
