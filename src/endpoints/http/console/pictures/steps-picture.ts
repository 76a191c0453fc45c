/** What happened to a file as a ladder: one step below the other, with the time between them. */
import { type Html, html } from "../kit/html.ts";
import { durationText } from "../kit/times.ts";
import { minuteMs, secondMs } from "../../../../lib/durations.ts";
import { words } from "../words/words.ts";
import { labelText, type PictureFrame, units, widePicture } from "./picture.ts";

export interface LadderStep {
  readonly name: string;
  /** Milliseconds UTC; undefined for what is not recorded or has not happened. */
  readonly at: number | undefined;
  /** Short, beside the name. */
  readonly note?: string;
  readonly kind: "done" | "bad" | "open" | "unrecorded";
}

const stepHeight = 38;
const left = 14;
const longestLabel = 44;

/** With milliseconds, as long as they are of interest; in the same units as the words beside it. */
function preciseText(ms: number): string {
  return ms >= secondMs && ms < minuteMs ? words.kit.seconds(ms / secondMs) : durationText(ms);
}

function sinceText(steps: readonly LadderStep[], index: number): string | undefined {
  const at = steps[index]?.at;
  const before = steps.slice(0, index).findLast((step) => step.at !== undefined)?.at;
  if (at === undefined || before === undefined) return undefined;
  return `${at < before ? "−" : "+"} ${preciseText(Math.abs(at - before))}`;
}

function stepMark(steps: readonly LadderStep[], index: number): Html {
  const step = steps[index];
  if (step === undefined) return html``;
  const y = stepHeight * (index + 0.5);
  const since = sinceText(steps, index);
  const beside = [since, step.note].filter((text) => text !== undefined).join(" · ");
  const line =
    index === 0
      ? undefined
      : html`<line class="picture-line" x1="${left}" x2="${left}" y1="${units(y - stepHeight + 7)}" y2="${units(y - 7)}"/>`;
  return html`${line}<circle class="picture-mark picture-${step.kind}" cx="${left}" cy="${units(y)}" r="6"/><text class="picture-label" x="${left + 16}" y="${units(y - 1)}">${labelText(step.name, longestLabel)}</text><text class="picture-small" x="${left + 16}" y="${units(y + 13)}">${labelText(beside, longestLabel + 6)}</text>`;
}

/** The ladder of these steps, in their order. */
export function stepsPicture(frame: Omit<PictureFrame, "height">, steps: readonly LadderStep[]): Html {
  return widePicture(
    { ...frame, height: Math.max(1, steps.length) * stepHeight },
    steps.map((_, index) => stepMark(steps, index)),
  );
}
