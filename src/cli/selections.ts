/** Commands that do something to all that others of their options select: planned, confirmed, done, told. */
import type { SelectionMode, SelectionReport } from "../app/admin/in-batches.ts";
import { type CliCommand, type CliRun, type CommonOptions, exitCodes } from "./command-line.ts";
import { counted } from "../lib/counted.ts";
import { numbersText, whenText } from "./repeats.ts";

export interface SelectionOptions {
  readonly dryRun?: true;
  readonly yes?: true;
}

/** Adds the options of such a command; `what` it does to what is selected, as in `retry`. */
export function withSelection(command: CliCommand, what: string): CliCommand {
  return command
    .option("--dry-run", `list what it would ${what}, and change nothing`)
    .option("--yes", `${what} all that the other options select, without a question`);
}

/** Whether to go on: told by `--yes`, or by whoever sits at the terminal. Prints what would be done. */
export async function isConfirmed(
  run: CliRun,
  { yes }: SelectionOptions,
  wouldBe: string,
  action: string,
): Promise<boolean> {
  if (yes === true) return true;
  const { ask } = run.io;
  if (ask === undefined) {
    run.printFailure(`${wouldBe}: add --yes to ${action}`, exitCodes.wrongUse);
    return false;
  }
  const answer = await ask(`${wouldBe}. Go on? [y/N] `);
  if (/^y(?:es)?$/i.test(answer)) return true;
  run.printFailure("nothing was done");
  return false;
}

export interface SelectionWords<View> {
  readonly noun: readonly [one: string, several: string];
  /** As in `tried again`. */
  readonly done: string;
  /** As in `try`. */
  readonly action: string;
  /** Of the first and the last one, as in `1001_20261105_080000.xml, received 2026-11-05T08:00:01.000Z`. */
  readonly about: (view: View) => string;
  readonly table: (views: readonly View[]) => readonly string[];
}

type Identified = { readonly id: number };

/** As in `2 files (17, 18)`, or with `of` in `2 deliveries to erp (3, 4)`. */
export function countText(
  ids: readonly number[],
  [one, several]: SelectionWords<never>["noun"],
  of = "",
): string {
  const which = ids.length === 0 ? "" : ` (${numbersText(ids)})`;
  return `${counted(ids.length, one, several)}${of}${which}`;
}

function printNotDone<View>(
  run: CliRun,
  { notDone }: SelectionReport<View>,
  verb: string,
  { noun, done }: SelectionWords<View>,
): void {
  for (const { ids, why } of notDone)
    run.printError(`dropgate: ${countText(ids, noun)} ${verb} ${done}: ${why}`);
}

/** The list as far as it is shown, and from which to which it goes. */
function planLines<View extends Identified>(
  { ids, items, last }: SelectionReport<View>,
  { noun, done, about, table }: SelectionWords<View>,
): readonly string[] {
  const [first] = items;
  if (first === undefined || last === null) return [];
  const cut = ids.length > items.length ? [`and ${ids.length - items.length} more (--limit, --json)`] : [];
  return [
    ...table(items),
    ...cut,
    "",
    `${countText(ids, noun)} would be ${done}.`,
    `First: ${first.id}, ${about(first)}`,
    `Last:  ${last.id}, ${about(last)}`,
  ];
}

type Act<Report> = (mode: SelectionMode) => Promise<Report>;

async function isWanted<View extends Identified>(
  run: CliRun,
  options: SelectionOptions,
  plan: SelectionReport<View>,
  { noun, done, action }: SelectionWords<View>,
): Promise<boolean> {
  const what = `${action} ${plan.ids.length === 1 ? "it" : "them"}`;
  return await isConfirmed(run, options, `${countText(plan.ids, noun)} would be ${done}`, what);
}

function printDone<View extends Identified>(
  run: CliRun,
  options: CommonOptions,
  report: SelectionReport<View>,
  words: SelectionWords<View>,
): void {
  const { ids } = report;
  const verb = ids.length === 1 ? "is" : "are";
  run.printResult(options, report, () =>
    ids.length === 0 ? [] : [`${countText(ids, words.noun)} ${verb} to be ${words.done}.`, whenText(report)],
  );
  printNotDone(run, report, "not", words);
}

/**
 * Does it, or with `--dry-run` shows what it would do. Gives the report; undefined when nobody wanted it. Exit code 1 when
 * nothing is selected.
 */
export async function runSelection<View extends Identified, Report extends SelectionReport<View>>(
  run: CliRun,
  options: SelectionOptions & CommonOptions,
  words: SelectionWords<View>,
  act: Act<Report>,
): Promise<Report | undefined> {
  if (options.dryRun === true) {
    const plan = await act({ isDryRun: true });
    run.printResult(options, plan, () => planLines(plan, words));
    printNotDone(run, plan, "would not be", words);
    return plan;
  }
  let mode: SelectionMode = { isDryRun: false };
  if (options.yes === undefined) {
    const plan = await act({ isDryRun: true });
    printNotDone(run, plan, "would not be", words);
    if (plan.ids.length === 0) return plan;
    if (!(await isWanted(run, options, plan, words))) return undefined;
    mode = { isDryRun: false, shown: plan.ids };
  }
  const report = await act(mode);
  printDone(run, options, report, words);
  return report;
}
