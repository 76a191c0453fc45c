/** Lengths of time, in milliseconds. A day is 24 hours: days of a calendar are in `src/domain/time`. */
export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
