/** Moments as options take them: a day, a time, or how long ago. */
import { InvalidArgumentError } from "commander";
import { dayMs, hourMs, minuteMs } from "../lib/durations.ts";

const unitsMs = { m: minuteMs, h: hourMs, d: dayMs } as const;
const agoForm = /^(\d{1,6})([mhd])$/;
const momentForm = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

export const momentText =
  "a day or time (UTC unless it has a zone) as in 2026-11-05 or 2026-11-05T08:30, or how long ago as in 90m, 24h, 7d";

function milliseconds(text: string, now: number): number {
  const [, count, unit] = agoForm.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * unitsMs[unit as keyof typeof unitsMs];
  if (!momentForm.test(text)) return Number.NaN;
  // JavaScript would take it for local time; commands take and print UTC.
  const isPlain = text.includes("T") && !/(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const read = new Date(isPlain ? `${text}Z` : text);
  return text.startsWith(dayOf(text, read)) ? read.getTime() : Number.NaN;
}

/** The day that stands there, when there is such a day: JavaScript makes 1 March of 29 February. */
function dayOf(text: string, read: Date): string {
  if (Number.isNaN(read.getTime())) return "-";
  const day = text.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10);
}

/** Milliseconds UTC. For an option or argument. */
export function readMoment(text: string, now = Date.now()): number {
  const read = milliseconds(text.trim(), now);
  if (Number.isNaN(read)) throw new InvalidArgumentError(`It must be ${momentText}.`);
  return read;
}
