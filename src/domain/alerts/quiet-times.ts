/** Hours of the week in which an audience is told of what is urgent alone. */
import { dateAfter } from "../time/local-time.ts";
import { type Weekday, weekdayOf } from "../time/weekday.ts";
import { localTimeOf } from "../time/zoned-time.ts";

/** Times of day `hh:mm`. When `to` is not later than `from`, it is that of the next day. */
export interface QuietTime {
  /** Those on which it begins. */
  readonly days: readonly Weekday[];
  readonly from: string;
  readonly to: string;
}

/** Whether the moment (milliseconds UTC) is in one of them, by the clocks of the zone. */
export function isQuietAt(at: number, quietTimes: readonly QuietTime[], zone: string): boolean {
  const local = localTimeOf(at, zone);
  const [date, time] = [local.slice(0, 10), local.slice(11, 16)];
  const [today, yesterday] = [weekdayOf(date), weekdayOf(dateAfter(date, -1))];
  return quietTimes.some(({ days, from, to }) => {
    const beginsOn = (day: Weekday | undefined) => day !== undefined && days.includes(day);
    if (from < to) return beginsOn(today) && time >= from && time < to;
    return (beginsOn(today) && time >= from) || (beginsOn(yesterday) && time < to);
  });
}
