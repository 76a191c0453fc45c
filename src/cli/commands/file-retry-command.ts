/** `dropgate file retry`: files by their numbers, or all that options select. */
import type { FileRetries } from "../../app/admin/file-retry.ts";
import type { FileView } from "../../app/admin/file-view.ts";
import type { Config } from "../../config/schema.ts";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import type { CliCommand, CliRun, LongListOptions } from "../command-line.ts";
import { fileTable } from "../file-table.ts";
import { type FileFilterOptions, fileFilterOf, withFileFilter } from "../filters.ts";
import { whenText } from "../repeats.ts";
import { runSelection, type SelectionOptions, type SelectionWords, withSelection } from "../selections.ts";

type Options = FileFilterOptions & SelectionOptions & LongListOptions;

function printRefused(run: CliRun, { retries }: FileRetries, isDryRun: boolean): void {
  const verb = isDryRun ? "would not be" : "is not";
  for (const { given: entry, why } of retries)
    if (why !== undefined) run.printFailure(`entry ${entry} ${verb} tried again: ${why}`);
}

async function retryNumbers(run: CliRun, config: Config, entries: readonly string[], options: Options) {
  const { dryRun: isDryRun = false } = options;
  const { retryFiles } = await import("../../app/admin/file-retry.ts");
  const report = await retryFiles(config, entries, { isDryRun });
  const lines = report.retries
    .filter(({ why }) => why === undefined)
    .map(
      ({ id, name }) => `Entry ${id ?? ""} (${name ?? ""}) ${isDryRun ? "would" : "is to"} be tried again.`,
    );
  run.printResult(options, report.retries, () =>
    lines.length === 0 || isDryRun ? lines : [...lines, whenText(report)],
  );
  printRefused(run, report, isDryRun);
}

const words: SelectionWords<FileView> = {
  noun: ["file", "files"],
  done: "tried again",
  action: "try",
  about: ({ name, receivedAt }) => `${name}, received ${receivedAt}`,
  table: fileTable,
};

async function retrySelected(run: CliRun, config: Config, options: Options): Promise<void> {
  const { retrySelectedFiles } = await import("../../app/admin/file-retry.ts");
  const filter = fileFilterOf(options);
  const { limit } = options;
  const report = await runSelection(run, options, words, (mode) =>
    retrySelectedFiles(config, filter, { ...mode, limit }),
  );
  if (report?.ids.length === 0)
    run.printFailure("no refused or superseded file of that kind can be tried again");
}

/** `dropgate file retry` */
export function declareFileRetry(file: CliCommand): void {
  const retry = withFileFilter(file.declare("retry", "retry refused and superseded files").withJson());
  withSelection(retry, "retry")
    .withLimit()
    .argument("[entry...]", "numbers of ledger entries, or the references in their receipts")
    .addHelpText(
      "after",
      "\nFiles that options select are retried with --yes, or when you say so at the terminal. Exit code 1 when a named\nfile is not retried, or none is selected.",
    )
    .action(async (named: readonly string[] | undefined, options: Options, command: CliCommand) => {
      const { run } = command;
      const entries = named ?? [];
      if (entries.length > 0 === Object.keys(fileFilterOf(options)).length > 0) {
        throw new WrongUseError(
          "name ledger entries, or choose them by options such as --state refused --since 24h, but not both",
        );
      }
      const config = await command.requireConfig();
      if (entries.length > 0) await retryNumbers(run, config, entries, options);
      else await retrySelected(run, config, options);
    });
}
