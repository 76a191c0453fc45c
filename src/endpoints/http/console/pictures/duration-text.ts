import { dayMs, hourMs, minuteMs, secondMs } from "../../../../lib/durations.ts";

/** How long something took, for a label: `42 ms`, `3.5 s`, `12 min`, `3 h 5 min`, `12 d 4 h`. */
export function durationText(ms: number): string {
  const length = Math.abs(Math.round(ms));
  if (length < secondMs) return `${length} ms`;
  if (length < minuteMs) return `${Number((length / secondMs).toFixed(1))} s`;
  const minutes = Math.round(length / minuteMs);
  if (minutes < 60) return `${minutes} min`;
  if (minutes * minuteMs < dayMs) return pair([Math.floor(minutes / 60), "h"], [minutes % 60, "min"]);
  const hours = Math.round(length / hourMs);
  return pair([Math.floor(hours / 24), "d"], [hours % 24, "h"]);
}

function pair(large: readonly [number, string], small: readonly [number, string]): string {
  return small[0] === 0 ? large.join(" ") : `${large.join(" ")} ${small.join(" ")}`;
}
