/** What the commands for retries and repetitions share: the numbers they take, and how they print results. */
import type { RepeatReport } from "../app/admin/delivery-view.ts";
import type { RunningDaemons } from "../app/admin/running-daemons.ts";
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

/** Who does it: the daemon of this machine, or one of the nodes. Undefined when nobody runs. */
export function daemonText({ daemonPid, liveNodes = [] }: RunningDaemons): string | undefined {
  if (liveNodes.length === 1) return `The node ${liveNodes[0]}`;
  if (liveNodes.length > 1) return `One of the nodes ${liveNodes.join(", ")}`;
  return daemonPid === undefined ? undefined : `The daemon (process ${daemonPid})`;
}

export function whenText(daemons: RunningDaemons): string {
  const who = daemonText(daemons);
  return who === undefined
    ? "The daemon is not running: its next start does it."
    : `${who} does it within a second.`;
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
  { repeats, ...daemons }: RepeatReport,
  words: RepeatWords,
): void {
  const queued = repeats.filter(({ isQueued }) => isQueued);
  const lines = queued.map(({ id, name, remarks }) => {
    const remark = remarks.length === 0 ? "" : `; ${remarks.join("; ")}`;
    return `Delivery ${id} (${name ?? ""}) ${words.done}${remark}.`;
  });
  run.printResult(options, { repeats, ...daemons }, () =>
    queued.length === 0 || words.isDry ? lines : [...lines, whenText(daemons)],
  );
  for (const { id, isQueued, remarks } of repeats)
    if (!isQueued) run.printFailure(`delivery ${id} ${words.refused}: ${remarks.join("; ")}`);
}
