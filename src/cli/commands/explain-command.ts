import { type CliCommand, type CommonOptions, exitCodes } from "../command-line.ts";

/** `dropgate explain` */
export function declareExplain(program: CliCommand): void {
  program
    .declare("explain", "show where a file is and why, or what became of a stop")
    .withJson()
    .argument(
      "<file-or-stop>",
      "name of a file or of its receipt, the reference in a receipt, or number of a stop",
    )
    .option("--company <code>", "search this company only")
    .addHelpText("after", "\nExit code 1 when nothing is known of it.")
    .onConfig(async (run, config, subject: string, options: CommonOptions) => {
      const { explainSubject } = await import("../../app/admin/explain-admin.ts");
      const { facts, lines, isKnown } = await explainSubject(config, { subject, ...options });
      run.printResult(options, facts, () => lines);
      if (!isKnown) run.exitCode = exitCodes.failure;
    });
}
