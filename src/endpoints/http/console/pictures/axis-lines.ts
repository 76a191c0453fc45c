import { type Html, html } from "../kit/html.ts";
import { percent } from "./picture.ts";
import type { TimeAxis } from "./time-axis.ts";

/** Height of the texts below a time axis, pixels. */
export const axisHeight = 40;

/** Lines from `top` to `bottom` (pixels) at the ticks of an axis, with their texts below, and marks where it is cut. */
export function axisLines(axis: TimeAxis, { top, bottom }: { top: number; bottom: number }): readonly Html[] {
  const ticks = axis.ticks.map(({ x, time, day }) => {
    const place = percent(x);
    const date =
      day === undefined
        ? undefined
        : html`<text class="picture-day" x="${place}" y="${bottom + 30}" text-anchor="middle">${day}</text>`;
    return html`<line class="picture-tick" x1="${place}" x2="${place}" y1="${top}" y2="${bottom + 4}"/><text class="picture-time" x="${place}" y="${bottom + 16}" text-anchor="middle">${time}</text>${date}`;
  });
  const cuts = axis.cuts.map(
    ({ x }) =>
      html`<rect class="picture-cut" x="${percent(x - 0.75)}" width="${percent(1.5)}" y="${top}" height="${bottom - top}"/>`,
  );
  return [...ticks, ...cuts];
}
