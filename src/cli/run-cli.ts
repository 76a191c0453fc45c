/** The command line: one program, one file for each command. Commands load what they need when they run. */
import { Help, type Option } from "commander";
import { declareAlert, declareAlerts } from "./commands/alerts-command.ts";
import { declareArrivals } from "./commands/arrivals-command.ts";
import { declareBackup } from "./commands/backup-command.ts";
import { declareCheck } from "./commands/check-command.ts";
import { CliCommand, type CliIo, CliRun } from "./command-line.ts";
import { declareCompany } from "./commands/company-command.ts";
import { endingAfter } from "./exit-code.ts";
import { declareDeliveries } from "./commands/deliveries-command.ts";
import { declareDelivery } from "./commands/delivery-command.ts";
import { declareExplain } from "./commands/explain-command.ts";
import { declareExport } from "./commands/export-command.ts";
import { declareFile, declareFiles } from "./commands/file-command.ts";
import { declareInit } from "./commands/init-command.ts";
import { declareIntegration } from "./commands/integration-command.ts";
import { declareLedger } from "./commands/ledger-command.ts";
import { declareMessages } from "./commands/messages-command.ts";
import { declarePrune } from "./commands/prune-command.ts";
import { declareNodes } from "./commands/nodes-command.ts";
import { declareRemote } from "./commands/remote-command.ts";
import { declareRestore } from "./commands/restore-command.ts";
import { declareServe } from "./commands/serve-command.ts";
import { declareSimulate } from "./commands/simulate-command.ts";
import { declareStore } from "./commands/store-command.ts";
import { declareTarget } from "./commands/target-command.ts";
import { declareUser } from "./commands/user-command.ts";
import { declareValidate } from "./commands/validate-command.ts";
import { readVersion } from "../lib/program-version.ts";
import { declareVersion } from "./commands/version-command.ts";

const declarations = [
  ...[declareInit, declareServe, declareCheck, declareCompany, declareUser],
  ...[
    declareValidate,
    declareFiles,
    declareFile,
    declareExplain,
    declareArrivals,
    declareLedger,
    declarePrune,
    declareBackup,
    declareRestore,
    declareStore,
    declareIntegration,
    declareDeliveries,
    declareDelivery,
    declareExport,
    declareMessages,
    declareNodes,
    declareAlerts,
    declareAlert,
    declareRemote,
    declareTarget,
    declareSimulate,
    declareVersion,
  ],
];

/** Commander's usage line names required arguments, but not required options. */
function optionDescription(option: Option): string {
  const text = Help.prototype.optionDescription.call(new Help(), option);
  return option.mandatory ? `${text} (required)` : text;
}

/** The program with all its commands, as they are declared; what is written goes where `run` says. */
export function createProgram(run: CliRun): CliCommand {
  const program = new CliCommand(run, "dropgate")
    .description("Takes stop orders in over SFTP or from folders and applies them in order, exactly once.")
    .option("-c, --config <file>", "configuration file")
    .version(`dropgate ${readVersion()}`, "-V, --version", "print the version")
    // The column of the longest command leaves less than 40 characters, the least that commander wraps to.
    .configureHelp({ minWidthToWrap: 24, optionDescription })
    .enablePositionalOptions()
    .showHelpAfterError("(add --help for its options)")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => run.io.stdout.write(text),
      writeErr: (text) => run.io.stderr.write(text),
    });
  for (const declare of declarations) declare(program);
  return program;
}

/** Runs one command; resolves with the exit code: 0 fine, 1 failure, 2 wrong use or configuration. */
export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const run = new CliRun(io);
  try {
    await createProgram(run).parseAsync([...args], { from: "user" });
    return run.exitCode;
  } catch (error) {
    const { exitCode, message } = endingAfter(error);
    if (message !== undefined) run.printError(message);
    return exitCode;
  }
}
