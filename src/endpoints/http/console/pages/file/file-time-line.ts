/** The moments of a file, as a picture and as a table; what is not recorded is said to be so. */
import { type Html, html } from "../../kit/html.ts";
import { section } from "../../kit/section.ts";
import { table } from "../../kit/table.ts";
import { timeText } from "../../kit/times.ts";
import { type LadderStep, stepsPicture } from "../../pictures/steps-picture.ts";
import { words } from "../../words/words.ts";
import type { FileFound } from "./file-view.ts";

const said = words.file;

/** CCYYMMDDHHMMSS as `2026-11-05 08:00:00`. */
function nameTimeText(time: number): string {
  const digits = String(time).padStart(14, "0");
  return digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, "$1-$2-$3 $4:$5:$6");
}

function unrecorded(name: string, note: string = said.notes.notRecorded): LadderStep {
  return { name, at: undefined, note, kind: "unrecorded" };
}

function nameStep({ nameTime }: FileFound): readonly LadderStep[] {
  if (nameTime === null) return [];
  return [unrecorded(said.steps.named, `${nameTimeText(nameTime)}, ${said.notes.named}`)];
}

function decisionKind(state: FileFound["state"]): LadderStep["kind"] {
  return state === "refused" ? "bad" : "done";
}

function formerSteps({ repeats }: FileFound): readonly LadderStep[] {
  return repeats.flatMap(({ state, decidedAt, askedAt }): LadderStep[] => [
    {
      ...{ name: said.steps.decidedBefore, at: decidedAt ?? undefined },
      ...{ note: words.files.states[state], kind: decisionKind(state) },
    },
    { name: said.steps.askedAgain, at: askedAt, kind: "open" },
  ]);
}

function lastSteps({ state, decidedAt, isFiled, removedAt, receipt }: FileFound): readonly LadderStep[] {
  const isDecided = receipt !== undefined;
  const decision: LadderStep = isDecided
    ? {
        ...{ name: said.steps.decided, at: decidedAt ?? undefined },
        note: words.files.states[state],
        kind: decisionKind(state),
      }
    : { name: said.steps.decided, at: undefined, note: said.notes.notYet, kind: "open" };
  const filed: LadderStep =
    isDecided && isFiled
      ? unrecorded(said.steps.filed, said.notes.filed)
      : { name: said.steps.filed, at: undefined, note: said.notes.notYet, kind: "open" };
  const removed: readonly LadderStep[] =
    removedAt === null ? [] : [{ name: said.steps.removed, at: removedAt, kind: "done" }];
  return [decision, filed, unrecorded(said.steps.fetched), ...removed];
}

/** The steps of a file in their order. */
function stepsOf(file: FileFound): readonly LadderStep[] {
  return [
    ...nameStep(file),
    unrecorded(said.steps.began),
    { name: said.steps.closed, at: file.receivedAt, kind: "done" },
    unrecorded(said.steps.entered, said.notes.entered),
    unrecorded(said.steps.parsed),
    ...formerSteps(file),
    ...lastSteps(file),
  ];
}

export function timeLineSection(file: FileFound): Html {
  const steps = stepsOf(file);
  const description = said.timeLineHint(steps.map(({ name }) => name).join(", "));
  const picture = stepsPicture({ id: "file-steps", title: said.timeLine, description }, steps);
  const rows = steps.map(({ name, at, note }) => [
    name,
    at === undefined ? undefined : timeText(at, { isPrecise: true }),
    note,
  ]);
  const shown = table([said.step, said.moment, said.note], rows, {
    ...{ caption: said.timeLineCaption, empty: "", isCaptionHidden: true },
  });
  return section(said.timeLine, html`<div class="picture-and-table">${picture}${shown}</div>`, {
    id: "times",
  });
}
