/** What several kinds of findings say in the same words. */
import { counted } from "../../../lib/counted.ts";
import { minuteMs } from "../../../lib/durations.ts";

const floodTimes = 100;

/** 2 for a hundred times as many as open an incident: worth telling once more. */
export function levelOfMany(count: number, opensAt: number): number {
  return count >= floodTimes * opensAt ? 2 : 1;
}

/** How long (milliseconds), in words: minutes, or hours from two on. */
export function lasting(ms: number): string {
  const minutes = Math.round(ms / minuteMs);
  return minutes < 120 ? counted(minutes, "minute") : `${Math.round(minutes / 60)} hours`;
}
