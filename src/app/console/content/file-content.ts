/** The content of a file for people: some of its lines, with those around its faults. */
import { close as closeCallback } from "node:fs";
import { promisify } from "node:util";
import { type FileContent, linesOfPage } from "../../../endpoints/http/console/pages/file/file-view.ts";
import { encodingOf, type XmlEncoding } from "../../../documents/xml/xml-encoding.ts";
import type { BytesPresence } from "../../../inbound/explain/explanation.ts";
import { unlessMissing } from "../../../lib/errors.ts";
import { openRegularFile } from "../../../lib/files/open-regular-file.ts";
import { type FoundLines, type LineLimits, type LineRange, readAtBegin, readLines } from "./file-lines.ts";

const close = promisify(closeCallback);

/** Lines before and after one with a fault. */
const around = 3;
const mostFaultLines = 20;
const headBytes = 4_096;

const limits: LineLimits = {
  maxLineBytes: 4_096,
  maxShownBytes: 384 * 1024,
  maxSearchedBytes: 64 * 1024 * 1024,
};

export interface ContentAsked {
  readonly fromLine: number | undefined;
  /** Lines of its faults. */
  readonly faultLines: readonly number[];
  /** Of the bytes that were decided about. */
  readonly size: number;
}

const names: Readonly<Record<XmlEncoding, string>> = {
  utf8: "UTF-8",
  utf16le: "UTF-16 (little endian)",
  utf16be: "UTF-16 (big endian)",
  "windows-1250": "windows-1250",
  "windows-1252": "windows-1252",
  "iso-8859-2": "ISO-8859-2",
  "iso-8859-15": "ISO-8859-15",
};

/** What cannot be read as any encoding is shown as UTF-8, with signs for what is not. */
async function encodingOfFile(fd: number): Promise<XmlEncoding> {
  const outcome = encodingOf(await readAtBegin(fd, headBytes), undefined);
  return outcome.kind === "known" ? outcome.encoding : "utf8";
}

function faultRanges(faultLines: readonly number[], page: LineRange): readonly LineRange[] {
  return [...new Set(faultLines)]
    .filter((line) => line < page.from || line > page.to)
    .slice(0, mostFaultLines)
    .map((line) => ({ from: Math.max(1, line - around), to: line + around }));
}

/** The lines of both, each once, in their order. */
function together(page: FoundLines, ofFaults: FoundLines | undefined): FoundLines {
  if (ofFaults === undefined) return page;
  const known = new Set(page.lines.map(({ number }) => number));
  const more = ofFaults.lines.filter(({ number }) => !known.has(number));
  const lines = [...page.lines, ...more].toSorted((one, other) => one.number - other.number);
  return { ...page, lines, isBudgetSpent: page.isBudgetSpent || ofFaults.isBudgetSpent };
}

/** The content of the file at a path, which is confined to the folders of its company. */
export async function readFileContent(path: string, asked: ContentAsked): Promise<FileContent> {
  const file = await openRegularFile(path).catch(unlessMissing);
  if (file === undefined) return { kind: "absent", presence: "absent" satisfies BytesPresence };
  const { fd, stats } = file;
  try {
    const encoding = await encodingOfFile(fd);
    const from = asked.fromLine ?? 1;
    const page = { from, to: from + linesOfPage - 1 };
    const ranges = asked.fromLine === undefined ? faultRanges(asked.faultLines, page) : [];
    const found = await readLines(fd, { encoding, ranges: [page] }, limits);
    const ofFaults = ranges.length === 0 ? undefined : await readLines(fd, { encoding, ranges }, limits);
    const isChanged = stats.size !== asked.size;
    return { kind: "shown", encoding: names[encoding], ...together(found, ofFaults), isChanged };
  } finally {
    await close(fd);
  }
}
