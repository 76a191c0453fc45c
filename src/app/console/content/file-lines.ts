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

const lineFeeds: Readonly<Partial<Record<XmlEncoding, Buffer>>> = {
  utf16le: Buffer.from([0x0a, 0]),
  utf16be: Buffer.from([0, 0x0a]),
};
const oneByteFeed = Buffer.from([0x0a]);

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
  }

  get number(): number {
    return this.#number;
  }

  get lines(): readonly ContentLine[] {
    return this.#lines;
  }

  /** A part of the line, without its end. */
  add(bytes: Buffer): void {
    if (bytes.length === 0 || !this.#isWanted()) return;
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
    this.finish();
    this.#number += 1;
  }

  finish(): void {
    if (!this.#isWanted()) return;
    const bytes = Buffer.concat(this.#parts);
    const hasRoom = this.#left > 0 || bytes.length > 0;
    if (hasRoom) this.#lines.push({ number: this.#number, text: this.#decode(bytes), isCut: this.#isCut });
    this.#parts = [];
    this.#kept = 0;
    this.#isCut = false;
  }

  #isWanted(): boolean {
    return this.#ranges.some(({ from, to }) => this.#number >= from && this.#number <= to);
  }

  #decode(bytes: Buffer): string {
    const text = new TextDecoder(labels[this.#encoding]).decode(bytes);
    // A cut goes through the middle of a letter.
    return this.#isCut ? text.replace(/\uFFFD$/, "") : text.replace(/\r$/, "");
  }
}

/** Hands the lines of a chunk, which begins at an even place, to the collector. */
function collectChunk(collector: LineCollector, chunk: Buffer, lineFeed: Buffer): void {
  let start = 0;
  for (let at = chunk.indexOf(lineFeed); at !== -1; ) {
    // Half of one letter and half of the next look like a line feed.
    if (at % lineFeed.length !== 0) {
      at = chunk.indexOf(lineFeed, at + 1);
      continue;
    }
    collector.add(chunk.subarray(start, at));
    collector.endLine();
    start = at + lineFeed.length;
    at = chunk.indexOf(lineFeed, start);
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
  const lineFeed = lineFeeds[encoding] ?? oneByteFeed;
  const buffer = Buffer.alloc(chunkBytes);
  let position = 0;
  for (;;) {
    const filled = await fill(fd, buffer, position);
    collectChunk(collector, buffer.subarray(0, filled), lineFeed);
    position += filled;
    if (filled < chunkBytes || position >= limits.maxSearchedBytes) break;
  }
  collector.finish();
  const isWholeSearched = position < limits.maxSearchedBytes;
  const { lines, number: lastLine, isBudgetSpent } = collector;
  return { lines, lastLine, isWholeSearched, isBudgetSpent };
}
