/**
 * Entries of a folder that are not taken: unfinished files, reported when they have been there for long, and entries that
 * are no files, reported at once. Each is reported once while it stays. Kept in memory: the age of a file counts from the
 * first scan that saw it, or from its mtime when that is earlier, so that a restart does not begin anew.
 */
import type { Dirent, Stats } from "node:fs";
import type { LeftFile, WhyLeft } from "../../domain/files/folder-standing.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { hourMs } from "../../lib/durations.ts";

export type SpecialKind =
  | "link"
  | "folder"
  | "FIFO"
  | "socket"
  | "device"
  | "nameNotUtf8"
  | "controlCharacter"
  | "other";

const special: Readonly<Record<SpecialKind, string>> = {
  link: "a link is not followed: put the file itself here",
  folder: "a folder is not a stop file: put the files themselves here, or rename the folder",
  FIFO: "a FIFO is not opened: remove it and put a file here",
  socket: "a socket is not opened: remove it and put a file here",
  device: "a device is not opened: remove it and put a file here",
  nameNotUtf8: "its name is not UTF-8: rename it",
  controlCharacter: "its name has a control character, such as a line break: rename it",
  other: "it is not a regular file: remove it and put a file here",
};

/** Undefined for a regular file, and when the listing does not say what the entry is. */
export function specialKindOf(
  entry: Pick<Dirent | Stats, "isFile" | "isDirectory" | "isSymbolicLink"> & Special,
): SpecialKind | undefined {
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  if (entry.isFIFO()) return "FIFO";
  if (entry.isSocket()) return "socket";
  if (entry.isBlockDevice() || entry.isCharacterDevice()) return "device";
  return undefined;
}

type Special = Pick<Dirent, "isFIFO" | "isSocket" | "isBlockDevice" | "isCharacterDevice">;

/** Enough for every folder that is not abused; beyond it entries are left alone without a report. */
const maxKept = 20_000;

interface Kept {
  readonly firstSeenMs: number;
  /** As it was found last. */
  left: LeftFile;
  isReported: boolean;
  scan: number;
}

export class LeftAlone {
  readonly #log: Logger;
  readonly #kept = new Map<string, Kept>();
  #scan = 0;

  constructor(log: Logger) {
    this.#log = log;
  }

  unfinished(
    name: string,
    seen: { readonly nowMs: number; readonly modifiedAtMs: number; readonly reportAfterMs: number },
  ): void {
    const kept = this.#keep(name, { kind: "unfinished" }, seen.nowMs);
    if (kept === undefined) return;
    const since = Math.min(kept.firstSeenMs, seen.modifiedAtMs);
    kept.left = { ...kept.left, since };
    if (kept.isReported) return;
    const ageMs = seen.nowMs - since;
    if (ageMs < seen.reportAfterMs) return;
    kept.isReported = true;
    const hours = Math.round(ageMs / hourMs);
    this.#log.warn(
      { file: name, hours },
      "an unfinished file stays here: send it again under its final name, or remove it",
    );
  }

  special(name: string, kind: SpecialKind, nowMs: number): void {
    const remedy = special[kind];
    const kept = this.#keep(name, { kind: "noFile", remedy }, nowMs);
    if (kept === undefined || kept.isReported) return;
    kept.isReported = true;
    this.#log.warn({ file: name, kind, remedy }, "an entry of a watched folder is left alone");
  }

  /** Forgets entries not seen since the last call. To be called at the end of each full scan. */
  endScan(): void {
    for (const [name, kept] of this.#kept) if (kept.scan < this.#scan) this.#kept.delete(name);
    this.#scan += 1;
  }

  /** What is left alone at this moment. Dot-names are told of once they are reported: most are of uploads under way. */
  list(): readonly LeftFile[] {
    return [...this.#kept]
      .filter(([name, { isReported }]) => isReported || !name.startsWith("."))
      .map(([, { left }]) => left);
  }

  #keep(name: string, why: WhyLeft, nowMs: number): Kept | undefined {
    const known = this.#kept.get(name);
    if (known !== undefined) {
      known.scan = this.#scan;
      return known;
    }
    if (this.#kept.size >= maxKept) return undefined;
    const left = { name, since: nowMs, why };
    const kept = { firstSeenMs: nowMs, left, isReported: false, scan: this.#scan };
    this.#kept.set(name, kept);
    return kept;
  }
}
