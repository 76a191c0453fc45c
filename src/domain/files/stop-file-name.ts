/**
 * Names of stop files: `<stopnumber>_CCYYMMDD_HHMMSS.xml`, all lower case (specification/file-exchange.md#names).
 */
import { hash } from "node:crypto";

export type StopFileName =
  | { readonly kind: "named"; readonly stopNbr: string; readonly nameTime: number }
  | { readonly kind: "wrong"; readonly why: string };

const form = /^(.+)_(\d{8})_(\d{6})\.xml$/;
const stopNumber = /^[a-z0-9._-]{1,20}$/;

function isRealTime(date: string, time: string): boolean {
  const [year, month, day] = [Number(date.slice(0, 4)), Number(date.slice(4, 6)), Number(date.slice(6, 8))];
  const [hour, minute, second] = [
    Number(time.slice(0, 2)),
    Number(time.slice(2, 4)),
    Number(time.slice(4, 6)),
  ];
  const real = new Date(Date.UTC(year, month - 1, day));
  const isRealDate = year >= 1970 && real.getUTCMonth() === month - 1 && real.getUTCDate() === day;
  return isRealDate && hour < 24 && minute < 60 && second < 60;
}

const expected = "expected <stopnumber>_CCYYMMDD_HHMMSS.xml, for example 4711_20261105_080000.xml";

function wrong(why: string): StopFileName {
  return { kind: "wrong", why: `${why}: ${expected}` };
}

/** Takes a name apart. `nameTime` is the number CCYYMMDDHHMMSS, which orders as the times do. */
export function parseStopFileName(name: string): StopFileName {
  if (!/\.xml$/i.test(name)) return wrong("the name does not end in .xml");
  if (name !== name.toLowerCase()) return wrong("the name is not all lower case");
  const match = form.exec(name);
  const [, number = "", date = "", time = ""] = match ?? [];
  if (match === null) return wrong("the name does not end in _CCYYMMDD_HHMMSS.xml");
  if (!stopNumber.test(number)) {
    return wrong("the stop number in the name is not 1 to 20 characters of a-z 0-9 . _ -");
  }
  if (!isRealTime(date, time)) return wrong(`${date}_${time} is not a real date and time`);
  return { kind: "named", stopNbr: number, nameTime: Number(date + time) };
}

/** The stop that a name tells, and the place in its order (`nameTime`); undefined for a name that tells none. */
export function stopAndTimeOf(name: string): { readonly stop: string; readonly time: number } | undefined {
  const parsed = parseStopFileName(name);
  return parsed.kind === "named" ? { stop: parsed.stopNbr, time: parsed.nameTime } : undefined;
}

/** Bytes that a name may have on every file system that dropgate runs on. */
export const maxNameBytes = 255;
const receiptEnding = ".receipt.xml";

/** At most that many bytes of UTF-8, cut between two characters. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}

/** The base of the name with that ending; a base that is too long gives way to a hash of the full name. */
function withEnding(fileName: string, ending: string): string {
  const base = baseNameOf(fileName);
  const room = maxNameBytes - Buffer.byteLength(ending);
  if (Buffer.byteLength(base) <= room) return base + ending;
  const mark = `~${hash("sha256", fileName, "hex").slice(0, 12)}`;
  return cutToBytes(base, room - mark.length) + mark + ending;
}

/**
 * The name of a receipt: `<file name without .xml>.receipt.xml`. When that would be longer than 255 bytes:
 * `<as much of the file name as fits>~<hash of the file name>.receipt.xml`.
 */
export function receiptNameOf(fileName: string): string {
  return withEnding(fileName, receiptEnding);
}

/**
 * The name that stands for all file names with the same receipt. Mostly it is the name itself, which then takes no memory of
 * its own where many are kept.
 */
export function nameOfSharers(fileName: string): string {
  const name = `${receiptNameOf(fileName).slice(0, -receiptEnding.length)}.xml`;
  return name === fileName ? fileName : name;
}

const endings = ["xml", "xmL", "xMl", "xML", "Xml", "XmL", "XMl", "XML"].map((ending) => `.${ending}`);
/** With the name that has no such ending. */
export const mostReceiptNames = endings.length + 1;

/** All file names, this one among them, whose receipt has the name that this one's has; at most `mostReceiptNames`. */
export function namesWithReceiptOf(fileName: string): readonly string[] {
  const receiptName = receiptNameOf(fileName);
  const base = baseNameOf(fileName);
  return [base, ...endings.map((ending) => base + ending)].filter(
    (name) => receiptNameOf(name) === receiptName,
  );
}

/** Whether a name, in any case, is one that the receipt of another file may have. */
export function isReceiptName(name: string): boolean {
  return name.toLowerCase().endsWith(receiptEnding);
}

/** The part that stands before `~<hash>` when the receipt's name was cut; undefined when it was not. */
export function cutBaseOf(receiptName: string): string | undefined {
  return /^(.+)~[0-9a-f]{12}\.receipt\.xml$/s.exec(receiptName)?.[1];
}

/** The name without `.xml` in any case. */
export function baseNameOf(fileName: string): string {
  return fileName.replace(/\.xml$/i, "");
}

/**
 * Another name for the same file, for a folder in which its own is taken: the mark goes before the ending. At most 255
 * bytes, cut as the name of a receipt is.
 */
export function nameWithMark(fileName: string, mark: string): string {
  return withEnding(fileName, `.${mark}${fileName.slice(baseNameOf(fileName).length)}`);
}
