/**
 * The axis of a picture over time. Long spells in which nothing happened are cut out of it, so that what happened within
 * minutes, weeks apart, can be told from each other; each cut is marked.
 */
import { dayMs, hourMs, minuteMs, secondMs } from "../../../../lib/durations.ts";
import { localTimeOf, offsetMs } from "../../../../domain/time/zoned-time.ts";

export interface Tick {
  /** Percent of the width. */
  readonly x: number;
  /** `08:15`, `08:15:30` or `08:15:30.250`, in the zone of the axis. */
  readonly time: string;
  /** `2026-11-05`, in the zone of the axis. */
  readonly day: string;
}

/** A spell without anything that is cut out. */
export interface AxisCut {
  /** Percent of the width, its middle. */
  readonly x: number;
  /** How long it is, milliseconds. */
  readonly lengthMs: number;
}

export interface TimeAxis {
  /** Where a moment (milliseconds UTC) is, percent of the width; what lies outside is at the nearer end. */
  at(moment: number): number;
  readonly ticks: readonly Tick[];
  readonly cuts: readonly AxisCut[];
  /** The zone of its texts: the one that was asked for, or UTC where that is none. */
  readonly zone: string;
}

/** What is left free at both ends, percent. */
const margin = 3;
/** Width of a cut, and the least width of what lies between two, percent. */
const cutWidth = 4;
const leastWidth = 8;
/** A spell is cut out when it is more than this share of what is left of the axis. */
const cutShare = 0.8;
const mostCuts = 5;
const leastCutMs = minuteMs;
/** Ticks are so far apart where they can, percent, and at least half of it; `tickLabels` says which have their text. */
const tickDistance = 14;

const steps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[secondMs, 5 * secondMs, 15 * secondMs, 30 * secondMs],
  ...[minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs],
  ...[hourMs, 2 * hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs],
  ...[1, 2, 7, 14, 30, 90, 365, 3_650].map((days) => days * dayMs),
];

interface Piece {
  readonly from: number;
  readonly to: number;
}

interface PlacedPiece extends Piece {
  readonly x: number;
  readonly width: number;
}

/** The zone when there is such a one, else UTC: a picture is not the place to complain. */
export function knownZone(zone: string | undefined): string {
  if (zone === undefined) return "UTC";
  try {
    offsetMs(0, zone);
    return zone;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "UTC";
  }
}

/** Where in the sorted moments to cut: behind these indexes. The last spell that is left is never cut: it is the axis. */
function cutsOf(sorted: readonly number[]): ReadonlySet<number> {
  const gaps = sorted
    .slice(1)
    .map((moment, index) => ({ index, length: moment - (sorted[index] ?? moment) }));
  let left = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  const cuts = new Set<number>();
  for (const { index, length } of gaps.toSorted((one, other) => other.length - one.length)) {
    if (cuts.size === mostCuts || length < leastCutMs || length <= cutShare * left || length === left) break;
    cuts.add(index);
    left -= length;
  }
  return cuts;
}

function piecesOf(sorted: readonly number[]): readonly Piece[] {
  const cuts = cutsOf(sorted);
  const pieces: Piece[] = [];
  let from = sorted[0] ?? 0;
  for (const [index, moment] of sorted.entries()) {
    if (!cuts.has(index) && index < sorted.length - 1) continue;
    pieces.push({ from, to: moment });
    from = sorted[index + 1] ?? moment;
  }
  return pieces;
}

/** Each piece has its least width; what is left is shared by how long they last. */
function placed(pieces: readonly Piece[]): readonly PlacedPiece[] {
  const free = 100 - 2 * margin - (pieces.length - 1) * cutWidth - pieces.length * leastWidth;
  const total = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  let x = margin;
  return pieces.map((piece) => {
    const share = total === 0 ? 1 / pieces.length : (piece.to - piece.from) / total;
    const one = { ...piece, x, width: leastWidth + share * free };
    x += one.width + cutWidth;
    return one;
  });
}

function placeIn({ from, to, x, width }: PlacedPiece, moment: number): number {
  if (to === from) return x + width / 2;
  return x + (Math.min(Math.max(moment - from, 0), to - from) / (to - from)) * width;
}

function timeText(local: string, { stepMs, moment }: { stepMs: number; moment: number }): string {
  if (stepMs >= minuteMs) return local.slice(11, 16);
  if (stepMs >= secondMs) return local.slice(11, 19);
  return `${local.slice(11, 19)}.${String(((moment % secondMs) + secondMs) % secondMs).padStart(3, "0")}`;
}

function stepOf({ from, to, width }: PlacedPiece, isFine: boolean): number {
  const most = Math.max(1, Math.floor(width / (isFine ? 2 * tickDistance : tickDistance)));
  const longest = steps.at(-1) ?? dayMs;
  return steps.find((step) => (to - from) / step <= most) ?? longest;
}

/** Full steps of the zone's clock within the piece; its beginning when there is none. */
function momentsOf(piece: PlacedPiece, zone: string, stepMs: number): readonly number[] {
  const { from, to } = piece;
  const offset = offsetMs(from, zone);
  const first = Math.ceil((from + offset) / stepMs) * stepMs - offset;
  const found: number[] = [];
  for (let moment = first; moment <= to && found.length < 20; moment += stepMs) found.push(moment);
  return found.length === 0 ? [from] : found;
}

function ticksOf(pieces: readonly PlacedPiece[], zone: string): readonly Tick[] {
  let lastX = Number.NEGATIVE_INFINITY;
  const ticks: Tick[] = [];
  for (const piece of pieces) {
    const coarse = stepOf(piece, false);
    const stepMs = coarse < minuteMs ? stepOf(piece, true) : coarse;
    for (const moment of momentsOf(piece, zone, stepMs)) {
      const x = placeIn(piece, moment);
      if (x - lastX < tickDistance / 2) continue;
      lastX = x;
      const local = localTimeOf(moment, zone);
      ticks.push({ x, time: timeText(local, { stepMs, moment }), day: local.slice(0, 10) });
    }
  }
  return ticks;
}

/** The axis for these moments (milliseconds UTC, in any order), of which there is at least one. */
export function timeAxis(moments: readonly number[], asked: { readonly zone?: string } = {}): TimeAxis {
  const zone = knownZone(asked.zone);
  const sorted = [...new Set(moments.filter(Number.isFinite))].sort((one, other) => one - other);
  const pieces = placed(piecesOf(sorted.length === 0 ? [0] : sorted));
  const cuts = pieces.slice(1).map(({ x, from }, index) => ({
    x: x - cutWidth / 2,
    lengthMs: from - (pieces[index]?.to ?? from),
  }));
  return {
    zone,
    cuts,
    ticks: ticksOf(pieces, zone),
    at(moment) {
      const piece = pieces.find(({ to }) => moment <= to) ?? pieces.at(-1);
      return piece === undefined ? margin : placeIn(piece, moment);
    },
  };
}
