/**
 * From local date-times with their zone to moments and back, right on days with 23 and 25 hours.
 *
 * A time that a day skips is taken as much later as the clocks went forward; one that a day has twice is the first.
 */
import { dayMs, hourMs, minuteMs } from "../../lib/durations.ts";

/**
 * The abbreviations (specification/gateway.md#time-zones) in hours. Each means one offset, also where a zone of the
 * IANA has its name.
 */
const abbreviationHours: ReadonlyMap<string, number> = new Map(
  Object.entries({
    ...{
      EST: -5,
      EDT: -4,
      CST: -6,
      CDT: -5,
      MST: -7,
      MDT: -6,
      PST: -8,
      PDT: -7,
      AKST: -9,
      AKDT: -8,
      HST: -10,
    },
    ...{ GMT: 0, UTC: 0, BST: 1, CET: 1, CEST: 2, EET: 2, EEST: 3 },
  }),
);

/** The abbreviations that dropgate takes besides IANA names. */
export const zoneAbbreviations: readonly string[] = [...abbreviationHours.keys()];

/** An IANA zone, with its cached offsets. */
interface Zone {
  readonly formatter: Intl.DateTimeFormat;
  /** The offset from UTC, by the hour; undefined for an hour in which it changes. */
  readonly offsets: Map<number, number | undefined>;
}

const zones = new Map<string, Zone>();
// A client that goes through all spellings of zones, or through all times, must not fill the memory.
const maxZones = 1_000;
const maxOffsets = 100;

function createFormatter(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}

function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const zone = { formatter: createFormatter(name), offsets: new Map() };
  if (zones.size >= maxZones) zones.clear();
  zones.set(name, zone);
  return zone;
}

/** What the clocks of a zone of the IANA show, as if it were UTC. */
function wallMs(at: number, { formatter }: Zone): number {
  const parts = new Map(formatter.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  // Not `Date.UTC`: it takes the years 0 to 99 for those of the twentieth century.
  const wall = new Date(0);
  wall.setUTCFullYear(part("year"), part("month") - 1, part("day"));
  return wall.setUTCHours(part("hour"), part("minute"), part("second"));
}

/** Formatting costs 10 µs. */
function formattedOffsetMs(at: number, zone: Zone): number {
  const second = Math.floor(at / 1_000) * 1_000;
  return wallMs(second, zone) - second;
}

/** The offset in all of an hour of UTC; undefined when it is another at its end. */
function offsetOfHour(hour: number, zone: Zone): number | undefined {
  const { offsets } = zone;
  if (offsets.has(hour)) return offsets.get(hour);
  const first = formattedOffsetMs(hour * hourMs, zone);
  const offset = first === formattedOffsetMs((hour + 1) * hourMs, zone) ? first : undefined;
  if (offsets.size >= maxOffsets) offsets.clear();
  offsets.set(hour, offset);
  return offset;
}

/** How far the clocks of the zone are ahead of UTC at this moment, in milliseconds. */
export function offsetMs(at: number, name: string): number {
  const hours = abbreviationHours.get(name);
  if (hours !== undefined) return hours * hourMs;
  const zone = zoneOf(name);
  return offsetOfHour(Math.floor(at / hourMs), zone) ?? formattedOffsetMs(at, zone);
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

/** The same, but of the two moments that a local time can mean when clocks go back, the second. */
export function lastMomentOf(local: string, zone: string): number {
  const first = momentOf(local, zone);
  const wall = Date.parse(`${local}Z`);
  const after = offsetMs(wall + dayMs, zone);
  return offsetMs(wall - after, zone) === after ? Math.max(first, wall - after) : first;
}

/**
 * The first moment, to the second, at which the clocks show a local time; of one that they skip, the first moment after
 * the gap.
 */
export function firstMomentOf(local: string, zone: string): number {
  const at = momentOf(local, zone);
  const offset = offsetMs(at, zone);
  const skippedMs = at + offset - Date.parse(`${local}Z`);
  let [low, high] = [at - skippedMs, at];
  while (high - low > 1_000) {
    const middle = low + Math.floor((high - low) / 2_000) * 1_000;
    if (offsetMs(middle, zone) === offset) high = middle;
    else low = middle;
  }
  return high;
}

/** The local date-time `YYYY-MM-DDThh:mm:ss` of a moment (milliseconds UTC) in the zone. */
export function localTimeOf(at: number, zone: string): string {
  return new Date(at + offsetMs(at, zone)).toISOString().slice(0, 19);
}

/** Whole minutes between two moments; 0 when the second is the earlier one. */
export function minutesBetween(from: number, to: number): number {
  return Math.max(0, Math.round((to - from) / minuteMs));
}
