/** The texts of a time axis: as many of its ticks have one as fit beside each other into a picture of that width. */
import type { Tick } from "./time-axis.ts";

export interface TickLabel {
  /** Percent of the width. */
  readonly x: number;
  readonly time: string;
  /** `2026-11-05`, where a day begins among the texts. */
  readonly day?: string;
  /** Where in the text its tick is: a text at an end of the picture lies within it. */
  readonly anchor: "start" | "middle" | "end";
}

/** Of a sign of eleven pixels, in fonts that are wide; and what is free between two texts. */
const signWidth = 6.6;
const gap = 8;

interface Placed {
  readonly anchor: TickLabel["anchor"];
  /** Pixels from the left. */
  readonly from: number;
  readonly to: number;
}

function placed(middle: number, length: number, width: number): Placed {
  if (middle - length / 2 < 0) return { anchor: "start", from: middle, to: middle + length };
  if (middle + length / 2 > width) return { anchor: "end", from: middle - length, to: middle };
  return { anchor: "middle", from: middle - length / 2, to: middle + length / 2 };
}

/** The ticks, from the left, whose texts do not touch in a picture of so many pixels. The first always has its text. */
export function tickLabels(ticks: readonly Tick[], width: number): readonly TickLabel[] {
  const labels: TickLabel[] = [];
  let end = Number.NEGATIVE_INFINITY;
  let shownDay = "";
  for (const { x, time, day } of ticks) {
    const isNewDay = day !== shownDay;
    const length = signWidth * Math.max(time.length, isNewDay ? day.length : 0);
    const { anchor, from, to } = placed((x / 100) * width, length, width);
    if (from < end + gap) continue;
    end = to;
    shownDay = day;
    labels.push({ x, time, anchor, ...(isNewDay ? { day } : {}) });
  }
  return labels;
}
