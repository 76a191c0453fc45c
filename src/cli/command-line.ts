/** What all commands share: how they are declared, where they write, how they find their configuration. */
import { type Command, InvalidArgumentError } from "commander";
import { type ConfigFault, formatConfigFaults } from "../config/reader/config-fault.ts";
import type { LoadOutcome } from "../config/load-config.ts";
import type { Config } from "../config/schema.ts";
import { visible } from "../lib/logs/visible-text.ts";

export interface CliOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export interface CliIo {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdout: CliOutput;
  readonly stderr: CliOutput;
}

/** One run of the program; a command sets its exit code here. */
export interface CliRun {
  readonly io: CliIo;
  exitCode: number;
}

export const exitCodes = { fine: 0, failure: 1, wrongUse: 2 } as const;

/** The configuration cannot be used; its faults are printed, one per line. */
export class FaultyConfigError extends Error {
  constructor(faults: readonly ConfigFault[], file: string | undefined) {
    super(formatConfigFaults(faults, file ?? ""));
    this.name = "FaultyConfigError";
  }
}

const configText =
  "configuration file (else $DROPGATE_CONFIG, ./config/dropgate.yaml, /etc/dropgate/dropgate.yaml)";

/** Declares a command, or a group of commands, with the option that every command has. */
export function declare(parent: Command, name: string, summary: string): Command {
  return parent.command(name).description(summary).option("-c, --config <file>", configText);
}

/** Adds the option of commands that print a list. */
export function withJson(command: Command): Command {
  return command.option("--json", "print JSON");
}

/** What `--config` names, before or behind the command. */
export function configPathOf(command: Command): string | undefined {
  const given: unknown = command.optsWithGlobals()["config"];
  return typeof given === "string" ? given : undefined;
}

export async function loadConfigFor(
  run: CliRun,
  command: Command,
  needsSecrets: boolean,
): Promise<LoadOutcome> {
  const { loadConfig } = await import("../config/load-config.ts");
  const { env, cwd } = run.io;
  const path = configPathOf(command);
  return await loadConfig({ ...(path === undefined ? {} : { path }), env, cwd, needsSecrets });
}

/** The configuration, read without its secrets, or an error with all of its faults. */
export async function requireConfig(run: CliRun, command: Command): Promise<Config> {
  const loaded = await loadConfigFor(run, command, false);
  if (loaded.kind === "faulty") throw new FaultyConfigError(loaded.faults, loaded.file);
  return loaded.config;
}

/** Hosts choose names: control characters and invisible ones must not reach a terminal. */
export const printable = visible;

export function printLines(run: CliRun, lines: readonly string[]): void {
  if (lines.length > 0) run.io.stdout.write(`${lines.map(printable).join("\n")}\n`);
}

export function printJson(run: CliRun, value: unknown): void {
  run.io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printError(run: CliRun, message: string): void {
  run.io.stderr.write(`${message.split("\n").map(printable).join("\n")}\n`);
}

/** Reads a whole number within limits, for an option or argument. */
export function wholeNumber(least: number, greatest: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least && value <= greatest) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${greatest}.`);
  };
}

/** Collects an option that may be given several times. */
export function gathered(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
