/**
 * Local date-times, dates and time zones as the interface writes them: text without offset, the zone beside it.
 * Unpadded parts (`2020-4-5T8:0:0`) are taken and padded (decisions 2.2).
 */
const dateTimeForm = /^(\d{4})-(\d{1,2})-(\d{1,2})T(\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d{1,9})?(Z)?$/;
const dateForm = /^(\d{4})-(\d{1,2})-(\d{1,2})$/;
const paddedDateTimeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

const daysOfMonth = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

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
  return [parts[first], parts[first + 1], parts[first + 2]]
    .map((part) => part?.padStart(2, "0"))
    .join(separator);
}

function readDateTime(text: string): { readonly local: string; readonly suffix: string } | undefined {
  const parts = dateTimeForm.exec(text);
  if (parts === null) return undefined;
  const isReal =
    isRealDate(Number(parts[1]), Number(parts[2]), Number(parts[3])) &&
    isRealTime(Number(parts[4]), Number(parts[5]), Number(parts[6]));
  if (!isReal) return undefined;
  const local = `${padded(parts, 1, "-")}T${padded(parts, 4, ":")}`;
  return { local, suffix: `${parts[7] ?? ""}${parts[8] ?? ""}` };
}

/**
 * The padded form `YYYY-MM-DDThh:mm:ss` of a local date-time, or undefined when it is none. A fraction of a second and
 * a trailing `Z` are taken and dropped: the zone travels in its own field.
 */
export function normaliseLocalDateTime(text: string): string | undefined {
  return readDateTime(text)?.local;
}

/** The padded form `YYYY-MM-DD` of a date, or undefined when it is none. */
export function normaliseDate(text: string): string | undefined {
  const parts = dateForm.exec(text);
  if (parts === null || !isRealDate(Number(parts[1]), Number(parts[2]), Number(parts[3]))) return undefined;
  return padded(parts, 1, "-");
}

/** The padded form `hh:mm:ss` of a time of day with or without seconds, or undefined when it is none. */
export function normaliseTimeOfDay(text: string): string | undefined {
  const parts = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?$/.exec(text);
  if (parts === null || !isRealTime(Number(parts[1]), Number(parts[2]), Number(parts[3] ?? 0)))
    return undefined;
  return [parts[1], parts[2], parts[3] ?? "0"].map((part) => part?.padStart(2, "0")).join(":");
}

/** A date, or a local date-time without fraction and `Z` (`invoiceDate`); undefined when neither. */
export function normaliseDateOrLocalDateTime(text: string): string | undefined {
  return normaliseDate(text) ?? normaliseLocalDateTime(text);
}

/** A date, or a full date-time that keeps its fraction and its `Z` (`orderDate`); undefined when neither. */
export function normaliseDateOrDateTime(text: string): string | undefined {
  const date = normaliseDate(text);
  if (date !== undefined) return date;
  const dateTime = readDateTime(text);
  return dateTime === undefined ? undefined : `${dateTime.local}${dateTime.suffix}`;
}

/** Whether the text is a padded, real `YYYY-MM-DDThh:mm:ss`. */
export function isLocalDateTime(text: string): boolean {
  return paddedDateTimeForm.test(text) && readDateTime(text) !== undefined;
}

/** Whether the text is a padded, real `YYYY-MM-DD`, or such a date-time with or without `Z`. */
export function isDateOrDateTime(text: string): boolean {
  return normaliseDateOrDateTime(text) === text;
}

/** The abbreviations that are taken besides IANA names (decisions 2.2). */
export const zoneAbbreviations: readonly string[] = [
  ...["EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "AKST", "AKDT", "HST"],
  ...["GMT", "UTC", "BST", "CET", "CEST", "EET", "EEST"],
];

// Making a formatter costs 50 µs, so answers are remembered; a client that makes names up must not fill the memory.
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
