import type { PruneOptions, PruneReport } from "../../app/admin/prune-admin.ts";
import { type CliCommand, type CommonOptions, exitCodes } from "../command-line.ts";
import { tableLines } from "../table.ts";

function reportLines({ isDryRun, amounts, heldUp }: PruneReport): readonly string[] {
  if (amounts.length === 0) return [heldUp === undefined ? "Nothing is too old." : "Nothing was removed."];
  const head = ["KIND", "COMPANY", isDryRun ? "WOULD GO" : "REMOVED", "BYTES", "OLDEST", "NEWEST"];
  const rows = amounts.map((one) => [
    ...[one.kind, one.company, one.count, one.bytes, one.oldestAt ?? "-", one.newestAt ?? "-"],
  ]);
  return tableLines(head, rows);
}

/** What becomes of files that had to stay. */
const laterText = "the daemon removes them then, within the hour; without one, say `dropgate prune` again";
function failureText({ kind, company, message }: PruneReport["failures"][number]): string {
  const what = kind ?? "what an interrupted pass has left";
  const whose = company === undefined ? "" : ` of company ${company}`;
  return `${what}${whose} is not done: ${message}; the rest was gone through, and the next pass tries it again`;
}

/** `dropgate prune` */
export function declarePrune(program: CliCommand): void {
  program
    .declare("prune", "remove now what is older than the section retention keeps it")
    .option("--company <code>", "only what is of a company")
    .option("--dry-run", "print what would go, and remove nothing")
    .option("--clock-is-right", "the clock shows the right time, although it has jumped ahead: remove by it")
    .withJson()
    .addHelpText(
      "after",
      [
        "\nThe daemon does the same once an hour. While its clock is more than a day ahead of the newest time before, nothing is",
        "removed, and this ends with exit code 1. After a machine was off for days, say --clock-is-right once. While a backup is",
        "made, old files stay where they are: this says so, with exit code 1, and they go in a later pass.",
      ].join("\n"),
    )
    .onConfig(async (run, config, options: PruneOptions & CommonOptions) => {
      const { pruneNow } = await import("../../app/admin/prune-admin.ts");
      const report = await pruneNow(config, options);
      if (report.paused === undefined || report.isDryRun) run.printResult(options, report, reportLines);
      for (const failure of report.failures) run.printFailure(failureText(failure));
      if (report.paused !== undefined) run.printFailure(report.paused);
      if (report.heldUp !== undefined) run.printFailure(`${report.heldUp}; ${laterText}`);
      if (report.isDryRun && report.failures.length === 0) run.exitCode = exitCodes.fine;
    });
}
