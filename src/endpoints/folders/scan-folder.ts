/**
 * One pass over a folder. Names that `isOurs` knows already cost nothing but their reading; only the others are looked
 * at, a few at once, so that 100,000 entries never block the process.
 */
import type { Stats } from "node:fs";
import { join } from "node:path";
import { hasControlCharacterInName } from "../../domain/files/dropped-name.ts";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { type Look, lookOf } from "./candidates.ts";
import type { FolderDisk } from "./folder-deps.ts";
import { type SpecialKind, specialKindOf } from "./left-alone.ts";

export type Entry =
  | { readonly kind: "file"; readonly look: Look }
  | { readonly kind: "unfinished"; readonly modifiedAtMs: number }
  | { readonly kind: "special"; readonly special: SpecialKind }
  /** It cannot be looked at, and others can. */
  | { readonly kind: "faulty"; readonly error: unknown };

export interface ScanVisitor {
  /** Nothing needs to be found out about the name. */
  isOurs(name: string): boolean;
  visit(name: string, entry: Entry): void;
}

/** Looks at every entry of the folder; tells whether there are none but folders. Rejects when it cannot be read. */
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
  await lookAtEntries(disk, path, names, visitor);
  return { isEmpty };
}

/** Looks at some entries of the folder; those that are gone are passed over. Rejects when none of them can be looked at. */
export async function lookAtEntries(
  disk: FolderDisk,
  path: string,
  names: readonly string[],
  visitor: Pick<ScanVisitor, "visit">,
): Promise<void> {
  const looks = await looksAt(disk, path, names);
  for (const [index, name] of names.entries()) {
    const stats = looks[index];
    if (stats !== undefined && "error" in stats) visitor.visit(name, { kind: "faulty", error: stats.error });
    else visitLooked(visitor, name, stats);
  }
}

function visitLooked(visitor: Pick<ScanVisitor, "visit">, name: string, stats: Stats | undefined): void {
  if (stats === undefined) {
    visitMissing(visitor, name);
    return;
  }
  const special = specialKindOf(stats);
  if (special !== undefined) visitSpecial(visitor, name, special);
  else if (isUnfinishedName(name)) visitor.visit(name, { kind: "unfinished", modifiedAtMs: stats.mtimeMs });
  else if (hasControlCharacterInName(name)) visitSpecial(visitor, name, "controlCharacter");
  else if (stats.isFile()) visitor.visit(name, { kind: "file", look: lookOf(stats) });
  else visitor.visit(name, { kind: "special", special: "other" });
}

/** Undefined for what is not there. Rejects when none of several can be looked at: then it lies with the folder. */
export async function looksAt(
  disk: FolderDisk,
  path: string,
  names: readonly string[],
): Promise<(Stats | { readonly error: unknown } | undefined)[]> {
  let failed = 0;
  let last: unknown;
  const looks = await mapConcurrently(names, disk.looksAtOnce, async (name) => {
    try {
      return await disk.lstat(join(path, name)).catch(unlessMissing);
    } catch (error) {
      failed += 1;
      last = error;
      return { error };
    }
  });
  if (failed > 1 && failed === names.length) throw last;
  return looks;
}

/** Folders are nobody's mistake unless they are called like a file; ours have dot-names. */
function visitSpecial(visitor: Pick<ScanVisitor, "visit">, name: string, special: SpecialKind): void {
  if (special === "folder" && !/^[^.].*\.xml$/i.test(name)) return;
  visitor.visit(name, { kind: "special", special });
}

/** A name that is listed and cannot be found is one whose bytes are not UTF-8: each wrong one reads as U+FFFD. */
function visitMissing(visitor: Pick<ScanVisitor, "visit">, name: string): void {
  if (name.includes("\uFFFD")) visitor.visit(name, { kind: "special", special: "nameNotUtf8" });
}
