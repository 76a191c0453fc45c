import { minuteMs, secondMs } from "./durations.ts";

/** How long something has waited (milliseconds), for people: whole seconds, and minutes from two on. */
export function waitText(ms: number): string {
  return ms < 2 * minuteMs ? `${Math.round(ms / secondMs)} s` : `${Math.round(ms / minuteMs)} min`;
}
