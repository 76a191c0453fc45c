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

interface CheckOptions extends CommonOptions {
  readonly remote?: true;
  readonly upgrade?: true;
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
    .option(
      "--upgrade",
      "only what a new version can find different: the configuration without its secrets, and the database",
    )
    .action(async (options: CheckOptions, command: Command) => {
      const { checkAll } = await import("../app/checks/check.ts");
      const found = await checkAll(await loadConfigFor(run, command, options.upgrade !== true), options);
      printResult(run, options, found, (findings) => findings.map(findingLine));
      if (found.some(({ status }) => status === "problem")) run.exitCode = exitCodes.wrongUse;
    });
}
