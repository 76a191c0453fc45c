import type { Command } from "commander";
import type { ExportOutcome, ExportView } from "../app/admin/export-admin.ts";
import { given } from "../lib/given.ts";
import {
  type CliRun,
  type CommonOptions,
  counted,
  declare,
  onConfig,
  printFailure,
  printResult,
  wholeNumber,
  withJson,
} from "./command-line.ts";

interface ExportOptions extends CommonOptions {
  readonly name?: string;
  readonly again?: number;
}

function exportLine(made: ExportView): string {
  const stops = counted(made.stops, "stop");
  const what = `Export ${made.sequenceNbr} of ${made.export} (${made.company})`;
  const place = `${made.name}, delivery ${made.delivery} to ${made.target}`;
  return made.isAgain
    ? `${what} of ${made.madeAt}, ${stops}, is delivered again: ${place}.`
    : `${what} made with ${stops}: ${place}.`;
}

/** The lines for people. */
function exportLines({ exports, daemonPid }: ExportOutcome): string[] {
  if (exports.length === 0) return [];
  const when =
    daemonPid === undefined
      ? "The daemon is not running: its next start delivers."
      : `The daemon (process ${daemonPid}) delivers within a second; \`dropgate deliveries\` shows what became of it.`;
  return [...exports.map(exportLine), when];
}

/** `dropgate export` */
export function declareExport(program: Command, run: CliRun): void {
  withJson(declare(program, "export", "make exports now instead of waiting for their schedules"))
    .option("--company <code>", "exports of a company; without it, of all")
    .option("--name <name>", "the export of this name")
    .option("--again <number>", "deliver an earlier export again", wholeNumber(1, 999_999_999))
    .addHelpText(
      "after",
      "\nAn export contains everything completed since the last one of its name; the schedule continues\nfrom there. With --again it contains the same as that export.",
    )
    .action(
      onConfig(run, async (config, options: ExportOptions) => {
        const { runExports } = await import("../app/admin/export-admin.ts");
        const { company, name, again } = options;
        const outcome = await runExports(config, given({ companyCode: company, name, again }));
        printResult(run, options, outcome.exports, () => exportLines(outcome));
        for (const refusal of outcome.refusals) printFailure(run, refusal);
      }),
    );
}
