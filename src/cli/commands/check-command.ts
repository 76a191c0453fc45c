import type { CheckFinding } from "../../app/watch/check-finding.ts";
import { type CliCommand, type CommonOptions, exitCodes, printable } from "../command-line.ts";

function findingLine({ status, what, remedy }: CheckFinding): string {
  const text = `${status.padEnd(7)}  ${what}`;
  return printable(remedy === undefined ? text : `${text}  → ${remedy}`);
}

interface CheckOptions extends CommonOptions {
  readonly remote?: true;
  readonly upgrade?: true;
}

/** `dropgate check` */
export function declareCheck(program: CliCommand): void {
  program
    .declare("check", "check the configuration against the real world; exit code 2 on problems")
    .withJson()
    .option(
      "--remote",
      "try the servers of targets and remotes too: connect and sign in, and leave nothing behind",
    )
    .option(
      "--upgrade",
      "only what a new version can find different: the configuration without its secrets, and the database",
    )
    .action(async (options: CheckOptions, command: CliCommand) => {
      const { run } = command;
      const { checkAll } = await import("../../app/checks/check.ts");
      const found = await checkAll(await command.loadConfig(options.upgrade !== true), options);
      run.printResult(options, found, (findings) => findings.map(findingLine));
      if (found.some(({ status }) => status === "problem")) run.exitCode = exitCodes.wrongUse;
    });
}
