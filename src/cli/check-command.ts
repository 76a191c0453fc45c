import type { Command } from "commander";
import type { CheckFinding } from "../app/checks/check.ts";
import {
  type CliRun,
  declare,
  exitCodes,
  loadConfigFor,
  printable,
  printJson,
  printLines,
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
    .action(async (options: { readonly json?: true; readonly remote?: true }, command: Command) => {
      const { checkAll } = await import("../app/checks/check.ts");
      const findings = await checkAll(await loadConfigFor(run, command, true), options.remote);
      if (options.json) printJson(run, findings);
      else printLines(run, findings.map(findingLine));
      if (findings.some(({ status }) => status === "problem")) run.exitCode = exitCodes.wrongUse;
    });
}
