import type { ExportOutcome, ExportRequest, ExportView } from "../../app/admin/export-admin.ts";
import { type CliCommand, type CommonOptions, wholeNumber } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { daemonText } from "../repeats.ts";

function exportLine(made: ExportView): string {
  const stops = counted(made.stops, "stop");
  const what = `Export ${made.sequenceNbr} of ${made.export} (${made.company})`;
  const place = `${made.name}, delivery ${made.delivery} to ${made.target}`;
  return made.isAgain
    ? `${what} of ${made.madeAt}, ${stops}, is delivered again: ${place}.`
    : `${what} made with ${stops}: ${place}.`;
}

function exportLines({ exports, ...daemons }: ExportOutcome): string[] {
  if (exports.length === 0) return [];
  const who = daemonText(daemons);
  const when =
    who === undefined
      ? "The daemon is not running: its next start delivers."
      : `${who} delivers within a second; \`dropgate deliveries\` shows what became of it.`;
  return [...exports.map(exportLine), when];
}

/** `dropgate export` */
export function declareExport(program: CliCommand): void {
  program
    .declare("export", "make exports now instead of waiting for their schedules")
    .withJson()
    .option("--company <code>", "exports of a company; without it, of all")
    .option("--name <name>", "the export of this name")
    .option("--again <number>", "deliver an earlier export again", wholeNumber(1, 999_999_999))
    .addHelpText(
      "after",
      "\nAn export contains everything completed since the last one of its name; the schedule continues\nfrom there. With --again it contains the same as that export.",
    )
    .onConfig(async (run, config, options: ExportRequest & CommonOptions) => {
      const { runExports } = await import("../../app/admin/export-admin.ts");
      const outcome = await runExports(config, options);
      run.printResult(options, outcome.exports, () => exportLines(outcome));
      for (const refusal of outcome.refusals) run.printFailure(refusal);
    });
}
