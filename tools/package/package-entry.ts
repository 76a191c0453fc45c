/** What a package consists of, before anything is written: the .deb and the image are made from the same list. */
import { lstatSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

export interface PackageFile {
  /** Absolute in the installed system, without the slash in front. */
  readonly path: string;
  readonly kind: "file";
  readonly mode: number;
  readonly content: () => Buffer;
}

export interface PackageLink {
  readonly path: string;
  readonly kind: "link";
  readonly target: string;
}

export type PackageEntry = PackageFile | PackageLink;

/** A file that is copied when the package is written. */
export function copied(path: string, source: string, mode = 0o644): PackageFile {
  return { path, kind: "file", mode, content: () => readFileSync(source) };
}

export function written(path: string, content: string | Buffer, mode = 0o644): PackageFile {
  return { path, kind: "file", mode, content: () => Buffer.from(content) };
}

export function linked(path: string, target: string): PackageLink {
  return { path, kind: "link", target };
}

/** By code units, so that the order is the same everywhere. */
export function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0;
}

/** Plain files below a folder, as paths relative to it, in order. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => lstatSync(join(folder, name)).isFile())
    .sort();
}

/** All folders that the entries need, in order. */
export function foldersOf(entries: readonly PackageEntry[]): string[] {
  const folders = new Set<string>();
  for (const { path } of entries) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      folders.add(path.slice(0, end));
  }
  return [...folders].sort();
}
