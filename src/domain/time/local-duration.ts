/** How long it is from one local date-time to another, right on days on which clocks change. */
import { isLocalDateTime, isTimeZone } from "./local-time.ts";
import { minutesBetween, momentOf, offsetMs } from "./zoned-time.ts";
import { dayMs } from "../../lib/durations.ts";

export interface ZonedLocalTime {
  /** `YYYY-MM-DDThh:mm:ss`. */
  readonly local: string;
  /** An IANA name or one of the listed abbreviations. */
  readonly zone: string;
}

// Finding the changes of a zone on a day costs some 100 µs, and the stops of a day all need the same.
const steadyDays = new Map<string, boolean>();
const maxSteadyDays = 1_000;

function wallMs(local: string): number {
  return Date.parse(`${local}Z`);
}

/** Whether the clocks of the zone stay as they are on the local day and on those around it. */
function isSteady(local: string, zone: string): boolean {
  const day = local.slice(0, 10);
  const key = `${zone} ${day}`;
  const known = steadyDays.get(key);
  if (known !== undefined) return known;
  const begin = wallMs(`${day}T00:00:00`);
  const steady = offsetMs(begin - dayMs, zone) === offsetMs(begin + 2 * dayMs, zone);
  if (steadyDays.size >= maxSteadyDays) steadyDays.clear();
  steadyDays.set(key, steady);
  return steady;
}

function isReal({ local, zone }: ZonedLocalTime): boolean {
  return isLocalDateTime(local) && isTimeZone(zone);
}

/** Whole minutes; 0 when the second is the earlier one, undefined when one is no date-time or in no zone. */
export function minutesBetweenLocal(from: ZonedLocalTime, to: ZonedLocalTime): number | undefined {
  if (!isReal(from) || !isReal(to)) return undefined;
  const isOneDay = from.zone === to.zone && from.local.slice(0, 10) === to.local.slice(0, 10);
  return isOneDay && isSteady(from.local, from.zone)
    ? minutesBetween(wallMs(from.local), wallMs(to.local))
    : minutesBetween(momentOf(from.local, from.zone), momentOf(to.local, to.zone));
}
