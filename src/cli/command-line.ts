/** What all commands share: how they are declared, where they write, how they find their configuration. */
import { Command, InvalidArgumentError, Option } from "commander";
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
  /** Asks whoever sits at the terminal; undefined when nobody does. */
  readonly ask?: (question: string) => Promise<string>;
}

export const exitCodes = { fine: 0, failure: 1, wrongUse: 2 } as const;

/** The configuration cannot be used; its faults are printed, one per line. */
export class FaultyConfigError extends Error {
  constructor(faults: readonly ConfigFault[], file: string | undefined) {
    super(formatConfigFaults(faults, file ?? ""));
    this.name = "FaultyConfigError";
  }
}

/** The options that many commands have. */
export interface CommonOptions {
  readonly company?: string;
  readonly json?: true;
}

export interface LongListOptions extends CommonOptions {
  readonly limit: number;
}

/** One run of the program: where it prints, and the exit code, which a command sets. */
export class CliRun {
  readonly io: CliIo;
  exitCode: number = exitCodes.fine;

  constructor(io: CliIo) {
    this.io = io;
  }

  printLines(lines: readonly string[]): void {
    if (lines.length > 0) this.io.stdout.write(`${lines.map(printable).join("\n")}\n`);
  }

  /** Prints a result: with `--json` for programs, else its lines for people. */
  printResult<T>({ json }: CommonOptions, result: T, linesOf: (result: T) => readonly string[]): void {
    if (json) this.io.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
    else this.printLines(linesOf(result));
  }

  /** Prints a list of which `--limit` may have cut the end. */
  printLongList<T extends { readonly id: number }>(
    options: LongListOptions,
    { items, isCut }: { readonly items: readonly T[]; readonly isCut: boolean },
    linesOf: (items: readonly T[]) => readonly string[],
  ): void {
    // On standard error, so that programs which read the list can see it too.
    if (isCut)
      this.printError(
        `(only ${items.length}: --limit shows more, --before ${items.at(-1)?.id ?? 0} the ones before)`,
      );
    this.printResult(options, items, linesOf);
  }

  /** Prints how many there are, instead of the list. */
  printCount(options: CommonOptions, count: number): void {
    this.printResult(options, { count }, () => [String(count)]);
  }

  printError(message: string): void {
    this.io.stderr.write(`${message.split("\n").map(printable).join("\n")}\n`);
  }

  /** Prints what a command has not done, and sets the exit code. */
  printFailure(message: string, exitCode: number = exitCodes.failure): void {
    this.printError(`dropgate: ${message}`);
    this.exitCode = exitCode;
  }
}

const configText =
  "configuration file (else $DROPGATE_CONFIG, ./config/dropgate.yaml, /etc/dropgate/dropgate.yaml)";

/** An option with the values that it takes, or the usual ones; what it is given to says when another is wrong. */
export class ValuesOption extends Option {
  readonly values: readonly string[];

  constructor(flags: string, description: string, values: readonly string[]) {
    super(flags, description);
    this.values = values;
  }
}

/** As in `waiting, dead or dropped`. */
export function alternatives(values: readonly string[]): string {
  return `${values.slice(0, -1).join(", ")} or ${values.at(-1) ?? ""}`;
}

/** A command, or a group of commands, in one run of the program. */
export class CliCommand extends Command {
  readonly run: CliRun;

  constructor(run: CliRun, name?: string) {
    super(name);
    this.run = run;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(this.run, name);
  }

  /** A command below this one, with the option that every command has. */
  declare(name: string, summary: string): CliCommand {
    return this.command(name).description(summary).option("-c, --config <file>", configText);
  }

  /** Adds the option of commands whose result programs can read. */
  withJson(): this {
    return this.option("--json", "print JSON");
  }

  /** Adds the option of commands whose lists may be long. */
  withLimit(): this {
    return this.option("--limit <count>", "how many at most", wholeNumber(1, 100_000), 50);
  }

  /** What `--config` names, before or behind the command. */
  get configPath(): string | undefined {
    const path: unknown = this.optsWithGlobals()["config"];
    return typeof path === "string" ? path : undefined;
  }

  async loadConfig(needsSecrets: boolean): Promise<LoadOutcome> {
    const { loadConfig } = await import("../config/load-config.ts");
    const { env, cwd } = this.run.io;
    return await loadConfig({ ...given({ path: this.configPath }), env, cwd, needsSecrets });
  }

  /** The configuration, read without its secrets, or an error with all of its faults. */
  async requireConfig(): Promise<Config> {
    const loaded = await this.loadConfig(false);
    if (loaded.kind === "faulty") throw new FaultyConfigError(loaded.faults, loaded.file);
    return loaded.config;
  }

  /** What the command does with the configuration; `work` gets its arguments and options too. */
  onConfig<Arguments extends unknown[]>(
    work: (run: CliRun, config: Config, ...given: Arguments) => Promise<void>,
  ): this {
    return this.action(async (...given: [...Arguments, CliCommand]) => {
      await work(this.run, await this.requireConfig(), ...(given.slice(0, -1) as Arguments));
    });
  }
}

/** Hosts choose names: control characters and invisible ones must not reach a terminal. */
export const printable = visible;

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
