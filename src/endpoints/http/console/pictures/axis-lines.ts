import { type Html, html } from "../kit/html.ts";
import { percent } from "./picture.ts";
import { type TickLabel, tickLabels } from "./tick-labels.ts";
import type { TimeAxis } from "./time-axis.ts";

/** Height of the texts below a time axis, pixels. */
export const axisHeight = 40;

/** The texts are made for pictures of at least these widths; the style sheet shows the widest that fit. */
const widths = [
  ["narrow", 250],
  ["wide", 560],
] as const;

interface Span {
  /** Pixels. */
  readonly top: number;
  readonly bottom: number;
}

function labelled({ x, time, day, anchor }: TickLabel, { top, bottom }: Span): Html {
  const place = percent(x);
  const date =
    day === undefined
      ? undefined
      : html`<text class="picture-day" x="${place}" y="${bottom + 30}" text-anchor="${anchor}">${day}</text>`;
  return html`<line class="picture-tick" x1="${place}" x2="${place}" y1="${top}" y2="${bottom + 4}"/><text class="picture-time" x="${place}" y="${bottom + 16}" text-anchor="${anchor}">${time}</text>${date}`;
}

/** Lines from `top` to `bottom` at the ticks of an axis, with their texts below, and marks where it is cut. */
export function axisLines(axis: TimeAxis, span: Span): readonly Html[] {
  const { top, bottom } = span;
  const ticks = widths.map(
    ([name, width]) =>
      html`<g class="axis-${name}">${tickLabels(axis.ticks, width).map((label) => labelled(label, span))}</g>`,
  );
  const cuts = axis.cuts.map(
    ({ x }) =>
      html`<rect class="picture-cut" x="${percent(x - 0.75)}" width="${percent(1.5)}" y="${top}" height="${bottom - top}"/>`,
  );
  return [...ticks, ...cuts];
}
