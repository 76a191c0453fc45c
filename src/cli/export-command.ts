import type { Command } from "commander";
import type { ExportOutcome, ExportView } from "../app/admin/export-admin.ts";
import {
  type CliRun,
  declare,
  exitCodes,
  printError,
  printJson,
  printLines,
  requireConfig,
  wholeNumber,
  withJson,
} from "./command-line.ts";

interface ExportOptions {
  readonly company?: string;
  readonly name?: string;
  readonly again?: number;
  readonly json?: true;
}

function exportLine(made: ExportView): string {
  const stops = made.stops === 1 ? "1 stop" : `${made.stops} stops`;
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
    .action(async (options: ExportOptions, command: Command) => {
      const config = await requireConfig(run, command);
      const { runExports } = await import("../app/admin/export-admin.ts");
      const { company, name, again } = options;
      const outcome = await runExports(config, {
        ...(company === undefined ? {} : { companyCode: company }),
        ...(name === undefined ? {} : { name }),
        ...(again === undefined ? {} : { again }),
      });
      if (options.json) printJson(run, outcome.exports);
      else printLines(run, exportLines(outcome));
      for (const refusal of outcome.refusals) printError(run, `dropgate: ${refusal}`);
      if (outcome.refusals.length > 0) run.exitCode = exitCodes.failure;
    });
}
