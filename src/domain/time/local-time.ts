/**
 * Local date-times, dates and time zones as the interface writes them: text without offset, the zone beside it.
 * Unpadded parts (`2020-4-5T8:0:0`) are taken and padded, seconds may be missing, fractions of a second are dropped. A
 * date-time with `Z` or an offset is an instant: it becomes local only together with a zone (`local-instant.ts`).
 */
import { zoneAbbreviations } from "./zoned-time.ts";
import { dayMs, minuteMs } from "../../lib/durations.ts";

const dateTimeForm =
  /^(\d{4})-(\d{1,2})-(\d{1,2})T(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,9})?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;
const dateForm = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const paddedDateTimeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

/** The longest that each month can be. */
export const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function isRealDate(year: number, month: number, day: number): boolean {
  const days = daysOfMonth[month - 1];
  if (days === undefined || day < 1 || day > days) return false;
  return month !== 2 || day <= 28 || isLeapYear(year);
}

function isRealTime(hour: number, minute: number, second: number): boolean {
  return hour <= 23 && minute <= 59 && second <= 59;
}

function padded(parts: RegExpExecArray, first: number, separator: string): string {
  return [parts[first], parts[first + 1], parts[first + 2] ?? "0"]
    .map((part) => part?.padStart(2, "0"))
    .join(separator);
}

/** Minutes east of UTC of `Z`, `+01:00`, `-0600`, `+05`; undefined for what is no offset (hours up to 23). */
function offsetMinutes(text: string): number | undefined {
  if (text === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(":", ""));
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

interface ReadDateTime {
  /** `YYYY-MM-DDThh:mm:ss`. */
  readonly local: string;
  readonly fraction: string;
  /** `Z` or an offset as it came; empty for a local time. */
  readonly offset: string;
}

function readDateTime(text: string): ReadDateTime | undefined {
  const parts = dateTimeForm.exec(text);
  if (parts === null) return undefined;
  const offset = parts[8] ?? "";
  const isReal =
    isRealDate(Number(parts[1]), Number(parts[2]), Number(parts[3])) &&
    isRealTime(Number(parts[4]), Number(parts[5]), Number(parts[6] ?? 0)) &&
    (offset === "" || offsetMinutes(offset) !== undefined);
  if (!isReal) return undefined;
  return { local: `${padded(parts, 1, "-")}T${padded(parts, 4, ":")}`, fraction: parts[7] ?? "", offset };
}

/** The padded form `YYYY-MM-DDThh:mm:ss` of a local date-time, or undefined when it is none. */
export function normaliseLocalDateTime(text: string): string | undefined {
  const read = readDateTime(text);
  return read?.offset === "" ? read.local : undefined;
}

/** The moment, in milliseconds UTC and to the second, of a date-time with `Z` or an offset; undefined for all else. */
export function readInstant(text: string): number | undefined {
  const read = readDateTime(text);
  if (read === undefined || read.offset === "") return undefined;
  return Date.parse(`${read.local}Z`) - (offsetMinutes(read.offset) ?? 0) * minuteMs;
}

/** The padded form `YYYY-MM-DD` of a date, or undefined when it is none. */
export function normaliseDate(text: string): string | undefined {
  const parts = dateForm.exec(text);
  if (parts === null || !isRealDate(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return undefined;
  return padded(parts, 1, "-");
}

/** The padded form `hh:mm:ss` of a time of day with or without seconds, or undefined when it is none. */
export function normaliseTimeOfDay(text: string): string | undefined {
  const parts = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d{1,9})?)?$/.exec(text);
  if (parts === null || !isRealTime(Number(parts[1]), Number(parts[2]), Number(parts[3] ?? 0)))
    return undefined;
  return [parts[1], parts[2], parts[3] ?? "0"].map((part) => part?.padStart(2, "0")).join(":");
}

/**
 * A date, or a full date-time that keeps its fraction and its `Z` or offset (`orderDate`, `invoiceDate`: no zone stands
 * beside them); undefined when neither.
 */
export function normaliseDateOrDateTime(text: string): string | undefined {
  const date = normaliseDate(text);
  if (date !== undefined) return date;
  const read = readDateTime(text);
  return read === undefined ? undefined : `${read.local}${read.fraction}${read.offset}`;
}

/** Whether the text is a padded, real `YYYY-MM-DDThh:mm:ss`. */
export function isLocalDateTime(text: string): boolean {
  return paddedDateTimeForm.test(text) && readDateTime(text) !== undefined;
}

/** Whether the text is a padded, real `YYYY-MM-DD`, or such a date-time with or without `Z` or an offset. */
export function isDateOrDateTime(text: string): boolean {
  return normaliseDateOrDateTime(text) === text;
}

// Making a formatter costs 50 µs, so results are cached; a client that makes names up must not fill the memory.
const knownZones = new Map<string, boolean>(zoneAbbreviations.map((zone) => [zone, true]));
const maxKnownZones = 2_000;

function isIanaZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false; // a RangeError is how Intl says "no such zone"
  }
}

/** Whether the text is an IANA zone name or one of the listed abbreviations. */
export function isTimeZone(text: string): boolean {
  const known = knownZones.get(text);
  if (known !== undefined) return known;
  const isZone = isIanaZone(text);
  if (knownZones.size < maxKnownZones) knownZones.set(text, isZone);
  return isZone;
}

/** Minutes from midnight of a time of day `hh:mm`. */
export function minutesOfDay(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** The date `YYYY-MM-DD` so many days after another. */
export function dateAfter(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}
