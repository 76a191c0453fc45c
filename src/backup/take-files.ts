/**
 * Takes files into a backup: from the backup before it where that has the same bytes, else by a hard link, else as a copy.
 * Finished files of a state never change, they are only renamed and removed: so a link to one is as good as a copy, but for
 * damage of the disk, for which backups belong on another one. What may change in its place is always copied: whoever left a
 * file in `inbound/` can still write to it. Everything that is not shared with the backup before is read and hashed, a copy
 * after it was made.
 *
 * Synchronous: it runs in a process of its own, and a hundred thousand small calls are several times as fast like this.
 */
import { createHash } from "node:crypto";
import { closeSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { isBelowFolder } from "../inbound/places/locations.ts";
import { isMissing, systemCodeOf } from "../lib/errors.ts";
import { copyFileSync, linkSync, mkdirSync, unlinkSync, utimesSync } from "../lib/files/changes.ts";
import { markerFileName } from "../store/database/database.ts";
import type { HashedFile } from "./backup-folder.ts";

const buffer = Buffer.allocUnsafeSlow(1024 * 1024);

/** Hashes a file. */
export function hashFile(path: string): HashedFile {
  const fd = openSync(path, "r");
  try {
    const digest = createHash("sha256");
    for (let size = 0; ; ) {
      const count = readSync(fd, buffer, 0, buffer.length, null);
      if (count === 0) return { sha256: digest.digest("hex"), size };
      digest.update(buffer.subarray(0, count));
      size += count;
    }
  } finally {
    closeSync(fd);
  }
}

/** Another file system, too many links, or a file that this user may read but not link. */
const linkRefusals = ["EXDEV", "EMLINK", "EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP"];

/** With its mode and times. */
function copy(from: string, to: string, stats: Stats): void {
  copyFileSync(from, to);
  utimesSync(to, stats.atime, stats.mtime);
}

/** Gives a file a second name, or copies it where that cannot be. */
function linkOrCopy(from: string, to: string, stats: Stats): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!linkRefusals.includes(systemCodeOf(error) ?? "")) throw error;
    copy(from, to, stats);
  }
}

/** Whether its bytes, or times that count, may change under any of its names. */
function mayChange({ path, from }: FileToTake): boolean {
  const isInbound = isBelowFolder(path, "inbound") || isBelowFolder(from, "inbound");
  return isInbound || /^(?:keys|journal)\/(?!kept\/)/.test(path) || path === markerFileName;
}

export interface PreviousBackup {
  /** The folder with its state. */
  readonly state: string;
  /** By the paths in it. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Whether a file with that hash is read again before it is shared: nobody else would notice that the disk has lost it. */
  readonly isReread: (sha256: string) => boolean;
}

export interface FileToTake {
  /** In the state directory, with `/`. */
  readonly path: string;
  /** Absolute: where its bytes are now. */
  readonly from: string;
  /** What its content has to be, where that is known. */
  readonly sha256?: string | undefined;
}

/** `absent`: there is no regular file. `other`: it has other bytes than it should. */
export type Taking = "taken" | "absent" | "other";

export class FileTaker {
  /** By their paths in the state directory. */
  readonly files = new Map<string, HashedFile>();
  readonly #folder: string;
  readonly #previous: PreviousBackup | undefined;
  readonly #madeFolders = new Set<string>();
  /** Files that are shared with the backup before, and those of them that were read again. */
  shared = 0;
  reread = 0;
  /** What the files had to be that are damaged in the backup before, by their paths in the state. */
  readonly damagedBefore = new Map<string, string>();

  constructor(folder: string, previous: PreviousBackup | undefined) {
    this.#folder = folder;
    this.#previous = previous;
  }

  take(file: FileToTake): Taking {
    const stats = lstatSync(file.from, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return "absent";
    const to = join(this.#folder, file.path);
    // Two entries with one location: a discrepancy of the ledger, which the proof names.
    const taken = this.files.get(file.path);
    if (taken !== undefined)
      return file.sha256 === undefined || file.sha256 === taken.sha256 ? "taken" : "other";
    this.#makeFolder(dirname(to));
    const isCopied = mayChange(file);
    if (!isCopied && this.#share(file, stats, to)) return "taken";
    try {
      (isCopied ? copy : linkOrCopy)(file.from, to, stats);
    } catch (error) {
      if (isMissing(error)) return "absent";
      throw error;
    }
    const hashed = hashFile(to);
    if (file.sha256 !== undefined && hashed.sha256 !== file.sha256) {
      unlinkSync(to);
      return "other";
    }
    this.files.set(file.path, hashed);
    return "taken";
  }

  /** Where a file that was taken lies. */
  pathOf(path: string): string {
    return join(this.#folder, path);
  }

  /** Gives a file that was copied another time, milliseconds UTC. */
  setTime(path: string, at: number): void {
    utimesSync(this.pathOf(path), at / 1000, at / 1000);
  }

  /** Takes it back. */
  drop(path: string): void {
    unlinkSync(join(this.#folder, path));
    this.files.delete(path);
  }

  /** Whether the backup before has the same bytes, which then get another name here. */
  #share({ path, sha256 }: FileToTake, stats: Stats, to: string): boolean {
    const known = this.#previous?.hashes.get(path);
    if (this.#previous === undefined || known === undefined) return false;
    const before = join(this.#previous.state, path);
    const found = lstatSync(before, { throwIfNoEntry: false });
    const isSame =
      found?.isFile() === true &&
      found.size === stats.size &&
      (sha256 === undefined ? isUnchanged(found, stats) : sha256 === known);
    if (!isSame) return false;
    if (this.#previous.isReread(known)) {
      if (hashFile(before).sha256 !== known) {
        this.damagedBefore.set(path, known);
        return false;
      }
      this.reread += 1;
    }
    try {
      linkSync(before, to);
    } catch (error) {
      if (!linkRefusals.includes(systemCodeOf(error) ?? "")) throw error;
      return false;
    }
    this.files.set(path, { sha256: known, size: stats.size });
    this.shared += 1;
    return true;
  }

  #makeFolder(folder: string): void {
    if (this.#madeFolders.has(folder)) return;
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    this.#madeFolders.add(folder);
  }
}

/** Of files whose content nobody has noted: a second name of the same file, or a copy with its time. */
function isUnchanged(before: Stats, now: Stats): boolean {
  const isSameFile = before.dev === now.dev && before.ino === now.ino;
  return isSameFile || Math.trunc(before.mtimeMs) === Math.trunc(now.mtimeMs);
}
