/** Hours in which customers get no messages, by the clocks of their zone. */
import { dateAfter, minutesOfDay } from "../time/local-time.ts";
import { localTimeOf, momentOf } from "../time/zoned-time.ts";
import { minuteMs } from "../../lib/durations.ts";

/** Times of day `hh:mm`. When `to` is not later than `from`, they go over midnight. */
export interface QuietHours {
  readonly from: string;
  readonly to: string;
}

function isWithin(time: string, { from, to }: QuietHours): boolean {
  return from < to ? time >= from && time < to : time >= from || time < to;
}

/**
 * The end of the quiet hours around the moment (milliseconds UTC), or undefined when it is in none. On days on which the
 * clocks change, the end is what the clocks show; a time of day that such a day skips is as much later.
 */
export function endOfQuietHours(at: number, hours: QuietHours, zone: string): number | undefined {
  const local = localTimeOf(at, zone);
  const [date, time] = [local.slice(0, 10), local.slice(11, 16)];
  if (!isWithin(time, hours)) return undefined;
  const isToday = time < hours.to;
  const end = momentOf(`${isToday ? date : dateAfter(date, 1)}T${hours.to}:00`, zone);
  if (end > at) return end;
  // In the second pass of an hour that the clocks go through twice, the end found is that of the first.
  return at + (minutesOfDay(hours.to) - minutesOfDay(time)) * minuteMs;
}
