import type { ArrivalView } from "../../app/admin/arrival-admin.ts";
import { type CliCommand, type CommonOptions, exitCodes } from "../command-line.ts";
import { tableLines } from "../table.ts";

function arrivalRow({ company, name, text, zone, nextDueAt }: ArrivalView): string[] {
  return [company, name, text, zone, nextDueAt ?? "-"];
}

function listLines(arrivals: readonly ArrivalView[]): readonly string[] {
  if (arrivals.length === 0) return ["No arrivals are expected by the configuration."];
  return tableLines(["COMPANY", "NAME", "STANDING", "ZONE", "NEXT DEADLINE"], arrivals.map(arrivalRow));
}

/** `dropgate arrivals` */
export function declareArrivals(program: CliCommand): void {
  program
    .declare("arrivals", "list the files that are expected today, and whether they are there")
    .withJson()
    .option("--company <code>", "those of a company")
    .addHelpText("after", "\nExit code 1 when some are late.")
    .onConfig(async (run, config, options: CommonOptions) => {
      const { listExpectedArrivals } = await import("../../app/admin/arrival-admin.ts");
      const arrivals = await listExpectedArrivals(config, options);
      run.printResult(options, arrivals, listLines);
      if (arrivals.some(({ standing }) => standing === "late")) run.exitCode = exitCodes.failure;
    });
}
