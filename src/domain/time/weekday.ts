/** Days of the week, as settings name them. */

/** In the order of `Date.prototype.getUTCDay`. */
export const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
export type Weekday = (typeof weekdays)[number];

/** The day of the week of a date `YYYY-MM-DD`. */
export function weekdayOf(date: string): Weekday | undefined {
  return weekdays[new Date(`${date}T00:00:00Z`).getUTCDay()];
}
