/** What happened around a stop on one axis: a lane for each kind of thing, with a mark for each moment. */
import { type Html, html } from "../kit/html.ts";
import { axisHeight, axisLines } from "./axis-lines.ts";
import { labelText, percent, type PictureFrame, widePicture } from "./picture.ts";
import { timeAxis } from "./time-axis.ts";

export interface LaneMark {
  /** Milliseconds UTC. */
  readonly at: number;
  /** Where it is a span. */
  readonly until?: number;
  /** Shown when a pointer rests on it. */
  readonly label: string;
  readonly kind: "done" | "bad" | "open" | "planned";
}

export interface Lane {
  readonly name: string;
  readonly marks: readonly LaneMark[];
}

const laneHeight = 40;
/** More marks than these cannot be told from each other; the newest are shown. */
const mostMarks = 300;

/** A span so short that nobody could see it has this width, percent. */
const leastSpan = 0.8;

/** A mark, or a bar from one moment to another. Also for pictures of other forms: `y` is its middle, pixels. */
export function laneMark(mark: LaneMark, place: { readonly y: number; at(moment: number): number }): Html {
  const { at, until, label, kind } = mark;
  const { y } = place;
  const title = html`<title>${labelText(label, 200)}</title>`;
  const x = place.at(at);
  if (until === undefined)
    return html`<circle class="picture-mark picture-${kind}" cx="${percent(x)}" cy="${y}" r="5">${title}</circle>`;
  const width = Math.max(leastSpan, place.at(until) - x);
  return html`<rect class="picture-bar picture-${kind}" x="${percent(x)}" width="${percent(width)}" y="${y - 5}" height="10" rx="2">${title}</rect>`;
}

/** The lanes on one axis; a lane without marks stands there empty. Nothing when there is no mark at all. */
export function lanesPicture(
  frame: Omit<PictureFrame, "height">,
  lanes: readonly Lane[],
  options: { readonly zone?: string; readonly now?: number },
): Html | undefined {
  const shown = lanes.map((lane) => ({ ...lane, marks: lane.marks.slice(-mostMarks) }));
  const moments = shown.flatMap(({ marks }) =>
    marks.flatMap(({ at, until }) => (until === undefined ? [at] : [at, until])),
  );
  if (moments.length === 0) return undefined;
  const axis = timeAxis(moments, options);
  const bottom = laneHeight * lanes.length;
  const rows = shown.map(({ name, marks }, index) => {
    const y = laneHeight * index + 27;
    return html`<text class="picture-label" x="4" y="${y - 14}">${labelText(name, 40)}</text><line class="picture-rail" x1="0" x2="100%" y1="${y}" y2="${y}"/>${marks.map((mark) => laneMark(mark, { y, at: axis.at }))}`;
  });
  return widePicture({ ...frame, height: bottom + axisHeight }, [axisLines(axis, { top: 0, bottom }), rows]);
}
