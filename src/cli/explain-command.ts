import type { Command } from "commander";
import {
  type CliRun,
  declare,
  exitCodes,
  printJson,
  printLines,
  requireConfig,
  withJson,
} from "./command-line.ts";

/** `dropgate explain` */
export function declareExplain(program: Command, run: CliRun): void {
  withJson(declare(program, "explain", "show where a file is and why, or what became of a stop"))
    .argument(
      "<file-or-stop>",
      "name of a file or of its receipt, the reference in a receipt, or number of a stop",
    )
    .option("--company <code>", "search this company only")
    .addHelpText("after", "\nExit code 1 when nothing is known of it.")
    .action(
      async (
        subject: string,
        options: { readonly company?: string; readonly json?: true },
        command: Command,
      ) => {
        const config = await requireConfig(run, command);
        const { explainSubject } = await import("../app/admin/ledger-admin.ts");
        const { company } = options;
        const explained = await explainSubject(
          config,
          company === undefined ? { subject } : { subject, companyCode: company },
        );
        if (options.json) printJson(run, explained.facts);
        else printLines(run, explained.lines);
        if (!explained.isKnown) run.exitCode = exitCodes.failure;
      },
    );
}
