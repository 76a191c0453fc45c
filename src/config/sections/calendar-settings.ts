/** Settings of calendars: days of the week, times of day, days that are left out. */
import { type Weekday, weekdays } from "../../domain/time/weekday.ts";
import { choice, list, text } from "../reader/setting.ts";

/** A local time of day, `hh:mm`. */
export function timeOfDay(description: string, example: string) {
  return text(description, {
    example,
    maxLength: 5,
    pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
    form: "a time of day such as 21:00, in quotes",
  });
}

/** The same, or 24:00, the end of the day. */
export function timeUpToEndOfDay(description: string, example: string) {
  return text(description, {
    example,
    maxLength: 5,
    pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
    form: "a time of day such as 08:00",
  });
}

/** All days of the week unless given. */
export function weekdayList(description: string, options: { readonly example?: Weekday[] } = {}) {
  const all = { default: [...weekdays], maxItems: weekdays.length, ...options };
  return list(description, choice("A day of the week.", weekdays), all);
}

export function closedDays(description: string) {
  const date = text("A date.", {
    maxLength: 10,
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    form: "a date such as 2026-12-25",
  });
  return list(description, date, { default: [], maxItems: 2_000, example: ["2026-12-25"] });
}
