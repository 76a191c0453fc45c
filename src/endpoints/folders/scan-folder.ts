/**
 * One pass over a folder. Names that `isOurs` knows cost nothing but their reading; only the others cost a call, a few at
 * once, so that 100,000 entries never block the process.
 */
import type { Stats } from "node:fs";
import { join } from "node:path";
import { hasControlCharacterInName, isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { type FileState, fileStateOf } from "./candidates.ts";
import type { FolderDisk } from "./folder-deps.ts";
import { type SpecialKind, specialKindOf } from "./left-alone.ts";

export type Entry =
  | { readonly kind: "file"; readonly state: FileState }
  | { readonly kind: "unfinished"; readonly modifiedAtMs: number }
  | { readonly kind: "special"; readonly special: SpecialKind }
  /** `lstat` fails on this entry, and not on others. */
  | { readonly kind: "faulty"; readonly error: unknown };

export interface ScanVisitor {
  /** The pipeline or the endpoint knows the name already. */
  isOurs(name: string): boolean;
  visit(name: string, entry: Entry): void;
}

/** Visits every entry of the folder that `isOurs` does not know. `isEmpty`: there are none but folders. Rejects when it cannot be read. */
export async function scanFolder(
  disk: FolderDisk,
  path: string,
  visitor: ScanVisitor,
): Promise<{ readonly isEmpty: boolean }> {
  const names: string[] = [];
  let isEmpty = true;
  for await (const dirent of await disk.entries(path)) {
    const { name } = dirent;
    const special = specialKindOf(dirent);
    if (special !== "folder") isEmpty = false;
    if (special !== undefined) visitSpecial(visitor, name, special);
    else if (isUnfinishedName(name) || !visitor.isOurs(name)) names.push(name);
  }
  await scanNames(disk, path, names, visitor);
  return { isEmpty };
}

/** Visits some entries of the folder, but for those that are gone. Rejects when `lstat` fails on all of several. */
export async function scanNames(
  disk: FolderDisk,
  path: string,
  names: readonly string[],
  visitor: Pick<ScanVisitor, "visit">,
): Promise<void> {
  const failed = await statEntries(disk, path, names, (name, stats) => visitStats(visitor, name, stats));
  for (const { name, error } of failed) visitor.visit(name, { kind: "faulty", error });
}

function visitStats(visitor: Pick<ScanVisitor, "visit">, name: string, stats: Stats | undefined): void {
  if (stats === undefined) {
    visitMissing(visitor, name);
    return;
  }
  const special = specialKindOf(stats);
  if (special !== undefined) visitSpecial(visitor, name, special);
  else if (isUnfinishedName(name)) visitor.visit(name, { kind: "unfinished", modifiedAtMs: stats.mtimeMs });
  else if (hasControlCharacterInName(name)) visitSpecial(visitor, name, "controlCharacter");
  else if (stats.isFile()) visitor.visit(name, { kind: "file", state: fileStateOf(stats) });
  else visitor.visit(name, { kind: "special", special: "other" });
}

export interface FaultyEntry {
  readonly name: string;
  readonly error: unknown;
}

/**
 * Looks at each entry as soon as its status is known, in any order: with 100,000 entries, memory does not hold the status of
 * all. Undefined stands for what is not there. Gives the entries on which `lstat` fails; rejects when it fails on all of
 * several: then the folder is at fault.
 */
export async function statEntries(
  disk: FolderDisk,
  path: string,
  names: readonly string[],
  look: (name: string, stats: Stats | undefined) => void,
): Promise<readonly FaultyEntry[]> {
  const failed: FaultyEntry[] = [];
  const statOf = (name: string) =>
    disk
      .lstat(join(path, name))
      .catch(unlessMissing)
      .catch((error: unknown) => ({ error }));
  await mapConcurrently(names, disk.statsAtOnce, async (name) => {
    const stats = await statOf(name);
    if (stats !== undefined && "error" in stats) failed.push({ name, ...stats });
    else look(name, stats);
  });
  if (failed.length > 1 && failed.length === names.length) throw failed.at(-1)?.error;
  return failed;
}

/** A folder is reported only when it is called like a file; our own have dot-names. */
function visitSpecial(visitor: Pick<ScanVisitor, "visit">, name: string, special: SpecialKind): void {
  if (special === "folder" && !/^[^.].*\.xml$/i.test(name)) return;
  visitor.visit(name, { kind: "special", special });
}

/** A listed name that `lstat` does not find has bytes that are not UTF-8, which read as U+FFFD; else the entry is gone. */
function visitMissing(visitor: Pick<ScanVisitor, "visit">, name: string): void {
  if (name.includes("\uFFFD")) visitor.visit(name, { kind: "special", special: "nameNotUtf8" });
}
