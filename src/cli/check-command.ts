import type { Command } from "commander";
import type { CheckFinding } from "../app/checks/check.ts";
import {
  type CliRun,
  type CommonOptions,
  declare,
  exitCodes,
  loadConfigFor,
  printable,
  printResult,
  withJson,
} from "./command-line.ts";

function findingLine({ status, what, remedy }: CheckFinding): string {
  const text = `${status.padEnd(7)}  ${what}`;
  return printable(remedy === undefined ? text : `${text}  → ${remedy}`);
}

/** `dropgate check` */
export function declareCheck(program: Command, run: CliRun): void {
  withJson(
    declare(program, "check", "check the configuration against the real world; exit code 2 on problems"),
  )
    .option(
      "--remote",
      "try the servers of targets and remotes too: connect and sign in, and leave nothing behind",
    )
    .action(async (options: CommonOptions & { readonly remote?: true }, command: Command) => {
      const { checkAll } = await import("../app/checks/check.ts");
      const found = await checkAll(await loadConfigFor(run, command, true), options.remote);
      printResult(run, options, found, (findings) => findings.map(findingLine));
      if (found.some(({ status }) => status === "problem")) run.exitCode = exitCodes.wrongUse;
    });
}
