import type { Command } from "commander";
import { given } from "../lib/given.ts";
import {
  type CliRun,
  type CommonOptions,
  declare,
  exitCodes,
  onConfig,
  printResult,
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
      onConfig(run, async (config, subject: string, options: CommonOptions) => {
        const { explainSubject } = await import("../app/admin/ledger-admin.ts");
        const query = { subject, ...given({ companyCode: options.company }) };
        const { facts, lines, isKnown } = await explainSubject(config, query);
        printResult(run, options, facts, () => lines);
        if (!isKnown) run.exitCode = exitCodes.failure;
      }),
    );
}
