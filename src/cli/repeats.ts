/** What the commands for retries and repetitions share: the numbers they take, and how they print results. */
import type { RepeatReport } from "../app/admin/delivery-view.ts";
import { type CliRun, type CommonOptions, wholeNumber } from "./command-line.ts";

export const readNumber: (text: string) => number = wholeNumber(1, Number.MAX_SAFE_INTEGER);

export function readNumbers(value: string, before: readonly number[] | undefined): readonly number[] {
  return [...(before ?? []), readNumber(value)];
}

/** From this many on, a selection is not listed one by one. */
const namedAtMost = 20;

export function numbersText(ids: readonly number[]): string {
  const shown = ids.slice(0, namedAtMost).join(", ");
  return ids.length > namedAtMost ? `${shown} and ${ids.length - namedAtMost} more` : shown;
}

export function whenText(daemonPid: number | undefined): string {
  return daemonPid === undefined
    ? "The daemon is not running: its next start does it."
    : `The daemon (process ${daemonPid}) does it within a second.`;
}

interface RepeatWords {
  readonly done: string;
  readonly refused: string;
  /** Nothing was done. */
  readonly isDry?: true;
}

/** A line for each delivery; exit code 1 when one is refused. */
export function printRepeats(
  run: CliRun,
  options: CommonOptions,
  { repeats, daemonPid }: RepeatReport,
  words: RepeatWords,
): void {
  const queued = repeats.filter(({ isQueued }) => isQueued);
  const lines = queued.map(({ id, name, remarks }) => {
    const remark = remarks.length === 0 ? "" : `; ${remarks.join("; ")}`;
    return `Delivery ${id} (${name ?? ""}) ${words.done}${remark}.`;
  });
  run.printResult(options, { repeats, daemonPid }, () =>
    queued.length === 0 || words.isDry ? lines : [...lines, whenText(daemonPid)],
  );
  for (const { id, isQueued, remarks } of repeats)
    if (!isQueued) run.printFailure(`delivery ${id} ${words.refused}: ${remarks.join("; ")}`);
}
