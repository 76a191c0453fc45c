import type { Stats } from "node:fs";
import { ByteRanges } from "../byte-ranges.ts";

/** Files that were begun and not read to the end; those that were begun first are forgotten first. */
const maxRemembered = 1_000;
/** A client with many requests on the way reads some ranges of a file before those between them. */
const maxRanges = 256;

/** What was read of a file in one opening. */
export interface PartOfFile {
  readonly userId: number;
  /** Absolute path of the file. */
  readonly path: string;
  readonly stats: Stats;
  readonly ranges: ByteRanges;
  /** The link broke, or the client gave up, before it closed the file. */
  readonly isBroken: boolean;
}

export function noBytes(): ByteRanges {
  return new ByteRanges(maxRanges);
}

function keyOf({ userId, path, stats }: PartOfFile): string {
  // A file that was replaced under its name is another one.
  const { dev, ino, size, mtimeMs } = stats;
  return JSON.stringify([userId, path, dev, ino, size, mtimeMs]);
}

/**
 * What users have read of files so far, so that a download in several parts (`reget`, REST, segments at the same time) is
 * one in the end. It is kept in memory: after a restart a download that goes on is only a part.
 */
export class PartialDownloads {
  readonly #read = new Map<string, ByteRanges>();

  /** Notes a part. Says whether the user has read the whole file with it, and has all of it: then it is forgotten. */
  add(part: PartOfFile): boolean {
    const key = keyOf(part);
    const ranges = this.#read.get(key) ?? noBytes();
    this.#read.delete(key);
    ranges.addAll(part.ranges);
    // A client asks again for what was on the way when the link broke: one that has it all closes the file in the end.
    if (!part.isBroken && ranges.covers(part.stats.size)) return true;
    this.#read.set(key, ranges);
    const { value: oldest } = this.#read.keys().next();
    if (this.#read.size > maxRemembered && oldest !== undefined) this.#read.delete(oldest);
    return false;
  }
}
