/** The day of a load: for each visit its planned window, when it is expected, and when it was. */
import { type Html, html } from "../kit/html.ts";
import { axisHeight, axisLines } from "./axis-lines.ts";
import { laneMark } from "./lanes-picture.ts";
import { labelText, percent, type PictureFrame, widePicture } from "./picture.ts";
import { timeAxis } from "./time-axis.ts";

/** One visit of a stop; times are milliseconds UTC. */
export interface DayVisit {
  readonly label: string;
  /** The window that was asked for. */
  readonly planned?: { readonly from: number; readonly to?: number };
  /** When it is expected now, or was expected last. */
  readonly expectedAt?: number;
  readonly arrivedAt?: number;
  readonly departedAt?: number;
  /** It came after its window, or is expected after it. */
  readonly isLate: boolean;
}

export interface DayWords {
  planned(label: string): string;
  expected(label: string): string;
  actual(label: string): string;
}

/** With more visits than this the rows are thin, and only some have their label. */
const mostLabelled = 60;
const labelledHeight = 40;
const thinHeight = 9;
const labelEvery = 5;

function momentsOf({ planned, expectedAt, arrivedAt, departedAt }: DayVisit): readonly number[] {
  const all = [planned?.from, planned?.to, expectedAt, arrivedAt, departedAt];
  return all.filter((moment): moment is number => moment !== undefined);
}

interface RowPlace {
  readonly y: number;
  at(moment: number): number;
}

function visitMarks(visit: DayVisit, place: RowPlace, words: DayWords): readonly Html[] {
  const { label, planned, expectedAt, arrivedAt, departedAt, isLate } = visit;
  const marks: Html[] = [];
  if (planned !== undefined) {
    const { from: at, to: until = planned.from } = planned;
    marks.push(laneMark({ at, until, label: words.planned(label), kind: "planned" }, place));
  }
  if (arrivedAt !== undefined) {
    const kind = isLate ? "bad" : "done";
    const mark = { at: arrivedAt, label: words.actual(label), kind } as const;
    marks.push(laneMark(departedAt === undefined ? mark : { ...mark, until: departedAt }, place));
  } else if (expectedAt !== undefined) {
    const kind = isLate ? "bad" : "open";
    const x = percent(place.at(expectedAt));
    const { y } = place;
    marks.push(
      html`<svg class="picture-over" x="${x}" y="${y}"><path class="picture-mark picture-${kind}" d="M0 -6L6 0L0 6L-6 0Z"><title>${words.expected(label)}</title></path></svg>`,
    );
  }
  return marks;
}

/** The day as a picture; nothing when no visit has any time. */
export function loadDayPicture(
  frame: Omit<PictureFrame, "height">,
  visits: readonly DayVisit[],
  options: {
    readonly zone?: string;
    readonly now?: number;
    readonly words: DayWords;
    readonly nowLabel: string;
  },
): Html | undefined {
  const moments = visits.flatMap(momentsOf);
  if (moments.length === 0) return undefined;
  const { now, words, nowLabel } = options;
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  const isUnderWay = now !== undefined && now > first && now < last;
  const axis = timeAxis(isUnderWay ? [...moments, now] : moments, options);
  const isThin = visits.length > mostLabelled;
  const height = isThin ? thinHeight : labelledHeight;
  const bottom = visits.length * height + 4;
  const rows = visits.map((visit, index) => {
    const y = height * index + (isThin ? 7 : 28);
    const isLabelled = !isThin || index % labelEvery === 0;
    const at = isThin ? y + 3 : y - 14;
    const label = isLabelled
      ? html`<text class="${isThin ? "picture-small" : "picture-label"}" x="4" y="${at}">${labelText(visit.label, 48)}</text>`
      : undefined;
    const rail = html`<line class="picture-rail" x1="0" x2="100%" y1="${y}" y2="${y}"/>`;
    return html`${isThin ? undefined : rail}${visitMarks(visit, { y, at: axis.at }, words)}${label}`;
  });
  const nowX = isUnderWay ? percent(axis.at(now)) : undefined;
  const nowLine =
    nowX === undefined
      ? undefined
      : html`<line class="picture-now" x1="${nowX}" x2="${nowX}" y1="0" y2="${bottom}"><title>${nowLabel}</title></line>`;
  return widePicture({ ...frame, height: bottom + axisHeight }, [
    axisLines(axis, { top: 0, bottom }),
    nowLine,
    rows,
  ]);
}
