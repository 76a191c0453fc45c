/** Windows that end before they begin: in schedules, details and the headers of loads. */
import type { Fault } from "../../lib/errors.ts";
import { isLocalDateTime, isTimeZone } from "../time/local-time.ts";
import { lastMomentOf, momentOf } from "../time/zoned-time.ts";

/**
 * Its values may be anything, so that windows are reported together with other faults; only real dates are compared.
 */
export interface TimeWindow {
  readonly begin: unknown;
  readonly end: unknown;
  /** The zone of both, when it is known. */
  readonly zone: unknown;
  /** Name of the field of the end. */
  readonly endName: string;
}

/**
 * Whether the end is before the begin. In the hour that a day has twice, 01:10 may come after 01:50: the later one of the
 * two moments that the end can mean decides.
 */
function isBackwards({ begin, end, zone }: TimeWindow): boolean {
  if (typeof begin !== "string" || typeof end !== "string" || end >= begin) return false;
  if (!isLocalDateTime(begin) || !isLocalDateTime(end)) return false;
  if (typeof zone !== "string" || !isTimeZone(zone)) return true;
  return lastMomentOf(end, zone) < momentOf(begin, zone);
}

/** The fault (904) of a window that ends before it begins; none of any other. `path` is where its fields stand. */
export function windowFaults(window: TimeWindow, path: string): readonly Fault[] {
  if (!isBackwards(window)) return [];
  // The path of an entity that is checked by itself is empty.
  const at = `${path}.${window.endName}`.replace(/^\./, "");
  const message = `${at} is ${window.end}, before the begin of the window, ${window.begin}. Send an end that is not before its begin.`;
  return [{ code: "badDate", path: at, message }];
}
