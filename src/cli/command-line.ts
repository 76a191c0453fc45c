/** What all commands share: how they are declared, where they write, how they find their configuration. */
import { type Command, InvalidArgumentError } from "commander";
import { type ConfigFault, formatConfigFaults } from "../config/reader/config-fault.ts";
import type { LoadOutcome } from "../config/load-config.ts";
import type { Config } from "../config/schema.ts";
import { given } from "../lib/given.ts";
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

/** The options that many commands have. */
export interface CommonOptions {
  readonly company?: string;
  readonly json?: true;
}

/** Adds the option of commands whose result programs can read. */
export function withJson(command: Command): Command {
  return command.option("--json", "print JSON");
}

export interface LongListOptions extends CommonOptions {
  readonly limit: number;
}

/** Adds the option of commands whose lists may be long. */
export function withLimit(command: Command): Command {
  return command.option("--limit <count>", "how many at most", wholeNumber(1, 100_000), 50);
}

/** What `--config` names, before or behind the command. */
export function configPathOf(command: Command): string | undefined {
  const path: unknown = command.optsWithGlobals()["config"];
  return typeof path === "string" ? path : undefined;
}

export async function loadConfigFor(
  run: CliRun,
  command: Command,
  needsSecrets: boolean,
): Promise<LoadOutcome> {
  const { loadConfig } = await import("../config/load-config.ts");
  const { env, cwd } = run.io;
  return await loadConfig({ ...given({ path: configPathOf(command) }), env, cwd, needsSecrets });
}

/** The configuration, read without its secrets, or an error with all of its faults. */
export async function requireConfig(run: CliRun, command: Command): Promise<Config> {
  const loaded = await loadConfigFor(run, command, false);
  if (loaded.kind === "faulty") throw new FaultyConfigError(loaded.faults, loaded.file);
  return loaded.config;
}

/** The action of a command that works on the configuration; `work` gets its arguments and options too. */
export function onConfig<Arguments extends unknown[]>(
  run: CliRun,
  work: (config: Config, ...given: Arguments) => Promise<void>,
): (...given: [...Arguments, Command]) => Promise<void> {
  return async (...given) => {
    const [command] = given.slice(-1) as [Command];
    await work(await requireConfig(run, command), ...(given.slice(0, -1) as Arguments));
  };
}

/** Hosts choose names: control characters and invisible ones must not reach a terminal. */
export const printable = visible;

export function printLines(run: CliRun, lines: readonly string[]): void {
  if (lines.length > 0) run.io.stdout.write(`${lines.map(printable).join("\n")}\n`);
}

/** Prints a result: with `--json` for programs, else its lines for people. */
export function printResult<T>(
  run: CliRun,
  { json }: CommonOptions,
  result: T,
  linesOf: (result: T) => readonly string[],
): void {
  if (json) run.io.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  else printLines(run, linesOf(result));
}

/** Prints a list of which `--limit` may have cut the end. */
export function printLongList<T>(
  run: CliRun,
  options: LongListOptions,
  { items, isCut }: { readonly items: readonly T[]; readonly isCut: boolean },
  linesOf: (items: readonly T[]) => readonly string[],
): void {
  // On standard error, so that programs which read the list can see it too.
  if (isCut) printError(run, `(only the newest ${options.limit}; --limit shows more)`);
  printResult(run, options, items, linesOf);
}

export function printError(run: CliRun, message: string): void {
  run.io.stderr.write(`${message.split("\n").map(printable).join("\n")}\n`);
}

/** Prints what a command has not done, and sets its exit code. */
export function printFailure(
  run: CliRun,
  message: string,
  exitCode: (typeof exitCodes)["failure" | "wrongUse"] = exitCodes.failure,
): void {
  printError(run, `dropgate: ${message}`);
  run.exitCode = exitCode;
}

/** A number with its noun, as in `1 file` and `3 entries`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Lines of a title and a value. */
export function titledLines(rows: readonly (readonly [title: string, value: string])[]): string[] {
  return rows.map(([title, value]) => `${title.padEnd(14)}${value}`);
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
