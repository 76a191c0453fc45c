/** The moments of a file, as a picture and as a table; what is not recorded is said to be so. */
import { type Html, html } from "../../kit/html.ts";
import { section } from "../../kit/section.ts";
import { sentence } from "../../kit/shown-text.ts";
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

/** The moment, or else the note that says why there is none. */
function momentStep(name: string, at: number | null, note: string): LadderStep {
  return at === null ? unrecorded(name, note) : { name, at, kind: "done" };
}

/** Ways in by which a client opens its file here. */
const withBegin: ReadonlySet<string> = new Set(["sftp", "ftp"]);

function beginStep({ beganAt, channel, enteredAt }: FileFound): LadderStep {
  const unknown = enteredAt === null ? said.notes.notRecorded : said.notes.notKnown;
  return momentStep(said.steps.began, beganAt, withBegin.has(channel) ? unknown : said.notes.notTold);
}

function formerSteps({ repeats }: FileFound): readonly LadderStep[] {
  return repeats.flatMap(({ state, decidedAt, askedAt, receiptCollectedAt }): LadderStep[] => [
    {
      ...{ name: said.steps.decidedBefore, at: decidedAt ?? undefined },
      ...{ note: words.files.states[state], kind: decisionKind(state) },
    },
    ...(receiptCollectedAt === null
      ? []
      : [{ name: said.steps.collectedBefore, at: receiptCollectedAt, kind: "done" } as const]),
    { name: said.steps.askedAgain, at: askedAt, kind: "open" },
  ]);
}

function notYet(name: string): LadderStep {
  return { name, at: undefined, note: said.notes.notYet, kind: "open" };
}

/** `isDecided`: what has no moment then has none for good. */
function parsedStep({ parsedAt, filedAt, isFiled }: FileFound, isDecided: boolean): LadderStep {
  if (!isDecided) return notYet(said.steps.parsed);
  const isOfBefore = isFiled && filedAt === null;
  return momentStep(said.steps.parsed, parsedAt, isOfBefore ? said.notes.notRecorded : said.notes.notRead);
}

function collectedStep({ receiptCollected, filedAt }: FileFound): LadderStep {
  const name = said.steps.collected;
  if (receiptCollected === undefined)
    return filedAt === null ? unrecorded(name) : { ...notYet(name), note: said.notes.notCollected };
  const { at, by, isUnread } = receiptCollected;
  const note = said.notes.collected({ by: by ?? said.notes.unknownUser, isUnread });
  return { name, at, note, kind: "done" };
}

function lastSteps(file: FileFound): readonly LadderStep[] {
  const { state, decidedAt, isFiled, filedAt, removedAt, receipt } = file;
  const isDecided = receipt !== undefined;
  const decision: LadderStep = isDecided
    ? {
        ...{ name: said.steps.decided, at: decidedAt ?? undefined },
        note: words.files.states[state],
        kind: decisionKind(state),
      }
    : notYet(said.steps.decided);
  const filed: LadderStep =
    isDecided && isFiled ? momentStep(said.steps.filed, filedAt, said.notes.filed) : notYet(said.steps.filed);
  const collected = isDecided ? collectedStep(file) : notYet(said.steps.collected);
  const removed: readonly LadderStep[] =
    removedAt === null ? [] : [{ name: said.steps.removed, at: removedAt, kind: "done" }];
  return [parsedStep(file, isDecided), decision, filed, collected, ...removed];
}

/** The steps of a file in their order. */
function stepsOf(file: FileFound): readonly LadderStep[] {
  return [
    ...nameStep(file),
    beginStep(file),
    { name: said.steps.closed, at: file.receivedAt, kind: "done" },
    momentStep(said.steps.entered, file.enteredAt, said.notes.notRecorded),
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
  const asTable = table([said.step, said.moment, said.note], rows, {
    ...{ caption: said.timeLineCaption, empty: "", isCaptionHidden: true },
  });
  const told = file.words.times.map((line) => html`<p>${sentence(line)}</p>`);
  return section(said.timeLine, [told, html`<div class="picture-and-table">${picture}${asTable}</div>`], {
    id: "times",
  });
}
