import type { Stats } from "node:fs";
import type { DiskCalls } from "../../lib/files/durable-file.ts";
import type { RegularFile } from "../../lib/files/open-regular-file.ts";
import {
  type ExchangeAttributes,
  ExchangeError,
  exchangeErrorOf,
  type ReadHandle,
} from "../exchange-session.ts";
import { ByteRanges } from "../byte-ranges.ts";
import type { ChannelTransfers } from "../transfer-figures.ts";
import { attributesOf } from "./listing.ts";
import { readHead, receiptHeadBytes } from "./receipt-reference.ts";

const maxReadBytes = 256 * 1024;
/** Files that were begun and not read to the end; those that were begun first are forgotten first. */
const maxRemembered = 1_000;
/** A client with many requests on the way reads some ranges of a file before those between them. */
const maxRanges = 256;

/** What was read of a file in one opening. */
interface PartOfFile {
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

export interface ReadPart extends Pick<PartOfFile, "stats" | "ranges" | "isBroken"> {
  /** The first bytes of the file, if they were asked for and could be read. */
  readonly head: Uint8Array | undefined;
}

interface DownloadDeps {
  readonly disk: DiskCalls;
  /** Counts what is read. */
  readonly transfers: Pick<ChannelTransfers, "bytesOut">;
  /** Whether the first bytes of the file are kept, whatever part of it the client reads. */
  readonly keepsHead: boolean;
  /** Gets what the client has read, if it has asked for anything. */
  readonly ended: (read: ReadPart) => void;
}

/** A file that a client reads. */
export class Download implements ReadHandle {
  readonly kind = "read";
  readonly #file: RegularFile;
  readonly #disk: DiskCalls;
  readonly #transfers: Pick<ChannelTransfers, "bytesOut">;
  readonly #ended: (read: ReadPart) => void;
  readonly #pending = new Set<Promise<unknown>>();
  #isOpen = true;
  #onEnded: () => void = () => undefined;
  readonly #ranges = noBytes();
  #hasRead: boolean;
  readonly #keepsHead: boolean;
  #head: Uint8Array | undefined;

  constructor(file: RegularFile, { disk, transfers, keepsHead, ended }: DownloadDeps) {
    this.#file = file;
    this.#disk = disk;
    this.#transfers = transfers;
    this.#keepsHead = keepsHead;
    this.#ended = ended;
    this.#hasRead = file.stats.size === 0;
  }

  async attributes(): Promise<ExchangeAttributes> {
    return attributesOf(this.#file.stats);
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (!this.#isOpen) throw new ExchangeError("failure", "The file is closed");
    const bytes = Buffer.allocUnsafe(Math.min(length, maxReadBytes));
    const reading = this.#disk.read(this.#file.fd, bytes, offset);
    this.#pending.add(reading);
    try {
      const count = await reading;
      this.#ranges.add(offset, offset + count);
      this.#hasRead = true;
      this.#transfers.bytesOut += count;
      if (this.#keepsHead && offset === 0) this.#keepHead(bytes.subarray(0, count));
      return bytes.subarray(0, count);
    } catch (error) {
      throw exchangeErrorOf(error);
    } finally {
      this.#pending.delete(reading);
    }
  }

  async close(): Promise<void> {
    await this.#end(false);
  }

  /** Closes without counting as picked up; what was read counts when the client goes on with it. */
  async abandon(): Promise<void> {
    await this.#end(true);
  }

  async #end(isBroken: boolean): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // A descriptor must not be closed, and its number reused, under a read that is still running.
    await Promise.allSettled(this.#pending);
    // Another part of the same download had the begin.
    if (this.#keepsHead && this.#hasRead)
      this.#head ??= await readHead(this.#disk, this.#file.fd).catch(() => undefined);
    // Nothing was written: a fault here changes nothing.
    await this.#disk.close(this.#file.fd).catch(() => undefined);
    this.#onEnded();
    const { stats } = this.#file;
    if (this.#hasRead) this.#ended({ stats, ranges: this.#ranges, isBroken, head: this.#head });
  }

  /** A copy: the bytes are the client's. One that reads by the letter has not given all of them. */
  #keepHead(bytes: Uint8Array): void {
    const head = bytes.slice(0, receiptHeadBytes);
    if (head.length >= Math.min(receiptHeadBytes, this.#file.stats.size)) this.#head = head;
  }

  /** `listener` is called once nothing is left to end. */
  onEnded(listener: () => void): void {
    this.#onEnded = listener;
  }
}
