/**
 * From local date-times with their zone to moments and back, right on days with 23 and 25 hours.
 *
 * A time that a day skips is taken as much later as the clocks went forward; one that a day has twice is the first.
 */
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** The abbreviations of decisions 2.2 in hours. Each means one offset, also where a zone of the IANA has its name. */
const abbreviationHours = new Map<string, number>([
  ...([
    ["EST", -5],
    ["EDT", -4],
    ["CST", -6],
    ["CDT", -5],
    ["MST", -7],
    ["MDT", -6],
    ["PST", -8],
  ] as const),
  ...([
    ["PDT", -7],
    ["AKST", -9],
    ["AKDT", -8],
    ["HST", -10],
    ["GMT", 0],
    ["UTC", 0],
    ["BST", 1],
  ] as const),
  ...([
    ["CET", 1],
    ["CEST", 2],
    ["EET", 2],
    ["EEST", 3],
  ] as const),
]);

const formatters = new Map<string, Intl.DateTimeFormat>();
// A client that goes through all spellings of zones must not fill the memory.
const maxFormatters = 1_000;

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  if (formatters.size >= maxFormatters) formatters.clear();
  formatters.set(zone, formatter);
  return formatter;
}

/** What the clocks of a zone of the IANA show, as if it were UTC. */
function wallMs(at: number, zone: string): number {
  const parts = new Map(
    formatterOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
}

/** How far the clocks of the zone are ahead of UTC at this moment, in milliseconds. */
function offsetMs(at: number, zone: string): number {
  const hours = abbreviationHours.get(zone);
  if (hours !== undefined) return hours * hourMs;
  const second = Math.floor(at / 1_000) * 1_000;
  return wallMs(second, zone) - second;
}

/**
 * The moment, in milliseconds UTC, of a local date-time `YYYY-MM-DDThh:mm:ss` in an IANA zone or one of the listed
 * abbreviations. Both have been checked before.
 */
export function momentOf(local: string, zone: string): number {
  const wall = Date.parse(`${local}Z`);
  const before = offsetMs(wall - dayMs, zone);
  const after = offsetMs(wall + dayMs, zone);
  for (const offset of before === after ? [before] : [before, after])
    if (offsetMs(wall - offset, zone) === offset) return wall - offset;
  return wall - before;
}

/** The local date-time `YYYY-MM-DDThh:mm:ss` of a moment (milliseconds UTC) in the zone. */
export function localTimeOf(at: number, zone: string): string {
  return new Date(at + offsetMs(at, zone)).toISOString().slice(0, 19);
}

/** Whole minutes between two moments; 0 when the second is the earlier one. */
export function minutesBetween(from: number, to: number): number {
  return Math.max(0, Math.round((to - from) / minuteMs));
}
