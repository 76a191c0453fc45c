/**
 * Some lines of a file of any size, found without reading it into memory. Lines end as the XML parser counts them: by a
 * line feed alone. What a line is longer than its limit, and what is over the budget of all lines, is left out and told.
 */
import { read as readCallback } from "node:fs";
import { promisify } from "node:util";
import type { XmlEncoding } from "../../../documents/xml/xml-encoding.ts";

const readAt = promisify(readCallback);

/** Lines from one number to another, both included, from 1 on. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

export interface ContentLine {
  readonly number: number;
  /** Bytes that are none of the encoding are U+FFFD. */
  readonly text: string;
  /** There is more of the line than is shown. */
  readonly isCut: boolean;
}

export interface FoundLines {
  readonly lines: readonly ContentLine[];
  /** The number of the last line; where the search ended before the end of the file, of the last that was seen. */
  readonly lastLine: number;
  readonly isWholeSearched: boolean;
  /** Lines were left out because all that is shown is long enough. */
  readonly isBudgetSpent: boolean;
}

export interface LineLimits {
  /** Of one line. */
  readonly maxLineBytes: number;
  /** Of all lines together. */
  readonly maxShownBytes: number;
  /** How far the file is searched. */
  readonly maxSearchedBytes: number;
}

const chunkBytes = 256 * 1024;

const labels: Readonly<Record<XmlEncoding, string>> = {
  utf8: "utf-8",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  "windows-1250": "windows-1250",
  "windows-1252": "windows-1252",
  "iso-8859-2": "iso-8859-2",
  "iso-8859-15": "iso-8859-15",
};

/** A byte is looked for several times as fast as a text of one byte. */
const oneByteFeed = 0x0a;
const wideFeeds: Readonly<Partial<Record<XmlEncoding, Buffer>>> = {
  utf16le: Buffer.from([oneByteFeed, 0]),
  utf16be: Buffer.from([0, oneByteFeed]),
};

/** Fills the buffer from a place on, as far as the file goes; returns how many bytes there were. */
async function fill(fd: number, buffer: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await readAt(fd, buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** The first bytes of an open file, at most so many. */
export async function readAtBegin(fd: number, most: number): Promise<Buffer> {
  const buffer = Buffer.alloc(most);
  return buffer.subarray(0, await fill(fd, buffer, 0));
}

/** Takes the bytes of a file in their order and keeps those of the lines that are wanted. */
class LineCollector {
  readonly #encoding: XmlEncoding;
  readonly #ranges: readonly LineRange[];
  readonly #limits: LineLimits;
  readonly #lines: ContentLine[] = [];
  #number = 1;
  #isWanted = false;
  /** The next line that may be wanted when those before it are not, or the other way round. */
  #turnsAt = 1;
  #parts: Buffer[] = [];
  #kept = 0;
  #isCut = false;
  #left: number;
  isBudgetSpent = false;

  constructor(encoding: XmlEncoding, ranges: readonly LineRange[], limits: LineLimits) {
    this.#encoding = encoding;
    this.#ranges = ranges;
    this.#limits = limits;
    this.#left = limits.maxShownBytes;
    this.#turn();
  }

  get number(): number {
    return this.#number;
  }

  get lines(): readonly ContentLine[] {
    return this.#lines;
  }

  /** Whether the line that is read is one of those. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** A part of the line, without its end. */
  add(bytes: Buffer): void {
    if (bytes.length === 0 || !this.#isWanted) return;
    const room = Math.min(this.#limits.maxLineBytes - this.#kept, this.#left);
    const part = bytes.subarray(0, Math.max(0, room));
    if (part.length < bytes.length) this.#isCut = true;
    if (part.length < bytes.length && room === this.#left) this.isBudgetSpent = true;
    if (part.length === 0) return;
    // A copy: the buffer is filled again.
    this.#parts.push(Buffer.from(part));
    this.#kept += part.length;
    this.#left -= part.length;
  }

  endLine(): void {
    if (this.#isWanted) this.finish();
    this.#number += 1;
    if (this.#number === this.#turnsAt) this.#turn();
  }

  finish(): void {
    if (!this.#isWanted) return;
    const bytes = Buffer.concat(this.#parts);
    const hasRoom = this.#left > 0 || bytes.length > 0;
    if (hasRoom) this.#lines.push({ number: this.#number, text: this.#decode(bytes), isCut: this.#isCut });
    this.#parts = [];
    this.#kept = 0;
    this.#isCut = false;
  }

  #turn(): void {
    this.#isWanted = this.#ranges.some(({ from, to }) => this.#number >= from && this.#number <= to);
    const turns = this.#ranges.flatMap(({ from, to }) => [from, to + 1]);
    this.#turnsAt = Math.min(...turns.filter((line) => line > this.#number));
  }

  #decode(bytes: Buffer): string {
    const text = new TextDecoder(labels[this.#encoding]).decode(bytes);
    // A cut goes through the middle of a letter.
    return this.#isCut ? text.replace(/\uFFFD$/, "") : text.replace(/\r$/, "");
  }
}

/** Where the next line feed of a chunk is that begins at an even place; -1 when there is none. */
function nextFeed(chunk: Buffer, wideFeed: Buffer | undefined, from: number): number {
  if (wideFeed === undefined) return chunk.indexOf(oneByteFeed, from);
  let at = chunk.indexOf(wideFeed, from);
  // Half of one letter and half of the next look like a line feed.
  while (at !== -1 && at % wideFeed.length !== 0) at = chunk.indexOf(wideFeed, at + 1);
  return at;
}

/** Hands the lines of a chunk to the collector. */
function collectChunk(collector: LineCollector, chunk: Buffer, wideFeed: Buffer | undefined): void {
  const feedLength = wideFeed?.length ?? 1;
  let start = 0;
  for (let at = nextFeed(chunk, wideFeed, start); at !== -1; at = nextFeed(chunk, wideFeed, start)) {
    if (collector.isWanted) collector.add(chunk.subarray(start, at));
    collector.endLine();
    start = at + feedLength;
  }
  collector.add(chunk.subarray(start));
}

/** The lines of these ranges of an open file. */
export async function readLines(
  fd: number,
  wanted: { readonly encoding: XmlEncoding; readonly ranges: readonly LineRange[] },
  limits: LineLimits,
): Promise<FoundLines> {
  const { encoding, ranges } = wanted;
  const collector = new LineCollector(encoding, ranges, limits);
  const wideFeed = wideFeeds[encoding];
  const buffer = Buffer.alloc(chunkBytes);
  let position = 0;
  for (;;) {
    const filled = await fill(fd, buffer, position);
    collectChunk(collector, buffer.subarray(0, filled), wideFeed);
    position += filled;
    if (filled < chunkBytes || position >= limits.maxSearchedBytes) break;
  }
  collector.finish();
  const isWholeSearched = position < limits.maxSearchedBytes;
  const { lines, number: lastLine, isBudgetSpent } = collector;
  return { lines, lastLine, isWholeSearched, isBudgetSpent };
}
