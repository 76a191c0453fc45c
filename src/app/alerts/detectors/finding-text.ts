/** What several kinds of findings say in the same words. */
import { counted } from "../../../lib/counted.ts";
import { hourMs, minuteMs } from "../../../lib/durations.ts";
import { isoTime } from "../../../lib/iso-time.ts";

const floodTimes = 100;

/** 2 for a hundred times as many as open an incident: worth telling once more. */
export function levelOfMany(count: number, opensAt: number): number {
  return count >= floodTimes * opensAt ? 2 : 1;
}

/** How long (milliseconds), in words: minutes, hours from two on, and days from more than three on. */
export function lasting(ms: number): string {
  const minutes = Math.round(ms / minuteMs);
  if (minutes < 120) return counted(minutes, "minute");
  const hours = Math.round(minutes / 60);
  return hours <= 72 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

/** The option that lists what arrived since then: by the day, for a file arrives before it is decided. */
export function sinceOption(at: number): string {
  return `--since ${isoTime(at - hourMs).slice(0, 10)}`;
}
