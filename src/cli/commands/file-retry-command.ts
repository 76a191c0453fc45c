/** The options by which commands choose files of the ledger, and the command that retries them. */
import type { FileFilter } from "../../app/admin/file-filter.ts";
import type { FileRetries } from "../../app/admin/file-retry.ts";
import type { Config } from "../../config/schema.ts";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import { given } from "../../lib/given.ts";
import { type CliCommand, type CliRun, counted, wholeNumber } from "../command-line.ts";
import { momentText, readMoment } from "../moment.ts";
import { isConfirmed, numbersText, type SelectionOptions, whenText } from "../repeats.ts";

const readReason = wholeNumber(900, 9_999);

/** Adds the options that choose files. */
export function withFileFilter(command: CliCommand): CliCommand {
  return command
    .option("--state <state>", "waiting, retry, applied, refused, duplicate or superseded")
    .option("--stop <number>", "files of a stop: by their name, or by a Stop in them")
    .option("--company <code>", "files of a company")
    .option("--since <moment>", `files received since ${momentText}`, (text: string) => readMoment(text))
    .option("--until <moment>", "files received before a moment", (text: string) => readMoment(text))
    .option("--name <name>", "files of that name; * stands for any characters, ? for one")
    .option("--reason <code>", "files with that reason code, as in 953", readReason)
    .option("--channel <channel>", "sftp, ftp, folder, recovered, remote, or remote:NAME")
    .option("--user <name>", "files that a user has uploaded");
}

/** The filter alone, without the other options of a command. */
export function fileFilterOf(options: FileFilter): FileFilter {
  const { state, stop, company, since, until, name, reason, channel, user } = options;
  return given({ state, stop, company, since, until, name, reason, channel, user });
}

type Options = FileFilter & SelectionOptions;

function printRefused(run: CliRun, { retries }: FileRetries, isDryRun: boolean): void {
  const verb = isDryRun ? "would not be" : "is not";
  for (const { given: entry, why } of retries)
    if (why !== undefined) run.printFailure(`entry ${entry} ${verb} tried again: ${why}`);
}

async function retryNumbers(run: CliRun, config: Config, entries: readonly string[], isDryRun: boolean) {
  const { retryFiles } = await import("../../app/admin/file-retry.ts");
  const report = await retryFiles(config, entries, { isDryRun });
  const lines = report.retries
    .filter(({ why }) => why === undefined)
    .map(
      ({ id, name }) => `Entry ${id ?? ""} (${name ?? ""}) ${isDryRun ? "would" : "is to"} be tried again.`,
    );
  if (lines.length > 0) run.printLines(isDryRun ? lines : [...lines, whenText(report.daemonPid)]);
  printRefused(run, report, isDryRun);
}

async function retrySelected(run: CliRun, config: Config, options: Options): Promise<void> {
  const { retryFiles, selectRetries } = await import("../../app/admin/file-retry.ts");
  const ids = await selectRetries(config, fileFilterOf(options));
  if (ids.length === 0)
    return run.printFailure("no refused or superseded file of that kind can be tried again");
  const wouldBe = `${counted(ids.length, "file")} (${numbersText(ids)}) would be tried again`;
  if (!isConfirmed(run, options, wouldBe, `try ${ids.length === 1 ? "it" : "them"}`)) return;
  const report = await retryFiles(config, ids.map(String), { isDryRun: false });
  const done = report.retries.filter(({ why }) => why === undefined).map(({ id }) => id ?? 0);
  const verb = done.length === 1 ? "is" : "are";
  if (done.length > 0)
    run.printLines([
      `${counted(done.length, "file")} (${numbersText(done)}) ${verb} to be tried again.`,
      whenText(report.daemonPid),
    ]);
  printRefused(run, report, false);
}

/** `dropgate file retry` */
export function declareFileRetry(file: CliCommand): void {
  withFileFilter(file.declare("retry", "retry refused and superseded files"))
    .argument("[entry...]", "numbers of ledger entries, or the references in their receipts")
    .option("--dry-run", "list what would be retried, and change nothing")
    .option("--yes", "retry all files that the other options select")
    .addHelpText(
      "after",
      "\nFiles that options select are retried only with --yes; without it the command prints how many they are. Exit code 1\nwhen a named file is not retried, or none is selected.",
    )
    .action(async (named: readonly string[] | undefined, options: Options, command: CliCommand) => {
      const { run } = command;
      const { dryRun = false } = options;
      const entries = named ?? [];
      if (entries.length > 0 === Object.keys(fileFilterOf(options)).length > 0) {
        throw new WrongUseError(
          "name ledger entries, or choose them by options such as --state refused --since 24h, but not both",
        );
      }
      const config = await command.requireConfig();
      if (entries.length > 0) await retryNumbers(run, config, entries, dryRun);
      else await retrySelected(run, config, options);
    });
}
