import type { Command } from "commander";
import type { FileRetries } from "../app/admin/file-retry.ts";
import type { Config } from "../config/schema.ts";
import { WrongUseError } from "../app/admin/wrong-use-error.ts";
import { type CliRun, declare, exitCodes, printError, printLines, requireConfig } from "./command-line.ts";
import { type FilterOptions, fileFilterOf, withFileFilter } from "./file-filter-options.ts";
import { numbersText, whenText } from "./repeats.ts";

interface Options extends FilterOptions {
  readonly dryRun?: true;
  readonly yes?: true;
}

function countText(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

function printRefused(run: CliRun, { retries }: FileRetries, isDryRun: boolean): void {
  const verb = isDryRun ? "would not be" : "is not";
  const refused = retries.filter(({ why }) => why !== undefined);
  for (const { given, why } of refused)
    printError(run, `dropgate: entry ${given} ${verb} tried again: ${why ?? ""}`);
  if (refused.length > 0) run.exitCode = exitCodes.failure;
}

async function retryNumbers(
  run: CliRun,
  config: Config,
  entries: readonly string[],
  isDryRun: boolean,
): Promise<void> {
  const { retryFiles } = await import("../app/admin/file-retry.ts");
  const report = await retryFiles(config, entries, { isDryRun });
  const lines = report.retries
    .filter(({ why }) => why === undefined)
    .map(
      ({ id, name }) => `Entry ${id ?? ""} (${name ?? ""}) ${isDryRun ? "would" : "is to"} be tried again.`,
    );
  if (lines.length > 0) printLines(run, isDryRun ? lines : [...lines, whenText(report.daemonPid)]);
  printRefused(run, report, isDryRun);
}

async function retrySelected(run: CliRun, config: Config, options: Options): Promise<void> {
  const { retryFiles, selectRetries } = await import("../app/admin/file-retry.ts");
  const ids = await selectRetries(config, fileFilterOf(options));
  if (ids.length === 0) {
    printError(run, "dropgate: no refused or superseded file of that kind can be tried again");
    run.exitCode = exitCodes.failure;
    return;
  }
  const what = `${countText(ids.length)} (${numbersText(ids)})`;
  if (options.dryRun) return printLines(run, [`${what} would be tried again.`]);
  if (!options.yes) {
    printError(
      run,
      `dropgate: ${what} would be tried again: add --yes to try ${ids.length === 1 ? "it" : "them"}`,
    );
    run.exitCode = exitCodes.wrongUse;
    return;
  }
  const report = await retryFiles(config, ids.map(String), { isDryRun: false });
  const done = report.retries.filter(({ why }) => why === undefined).map(({ id }) => id ?? 0);
  const verb = done.length === 1 ? "is" : "are";
  if (done.length > 0)
    printLines(run, [
      `${countText(done.length)} (${numbersText(done)}) ${verb} to be tried again.`,
      whenText(report.daemonPid),
    ]);
  printRefused(run, report, false);
}

/** `dropgate file retry` */
export function declareFileRetry(file: Command, run: CliRun): void {
  withFileFilter(declare(file, "retry", "retry refused and superseded files"))
    .argument("[entry...]", "numbers of ledger entries, or the references in their receipts")
    .option("--dry-run", "list what would be retried, and change nothing")
    .option("--yes", "retry all files that the other options select")
    .addHelpText(
      "after",
      "\nFiles that options select are retried only with --yes; without it the command prints how many they are. Exit code 1\nwhen a named file is not retried, or none is selected.",
    )
    .action(async (given: readonly string[] | undefined, options: Options, command: Command) => {
      const entries = given ?? [];
      const { dryRun = false } = options;
      if (entries.length > 0 === Object.keys(fileFilterOf(options)).length > 0) {
        throw new WrongUseError(
          "name ledger entries, or choose them by options such as --state refused --since 24h, but not both",
        );
      }
      const config = await requireConfig(run, command);
      if (entries.length > 0) await retryNumbers(run, config, entries, dryRun);
      else await retrySelected(run, config, options);
    });
}
