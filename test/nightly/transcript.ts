/** What a walk through a system did and saw, on standard output as it happens, and what it expected. */
import { type ProgramResult, runProgram } from "../support/run-program.ts";

/** Progress of apt and dpkg that overwrites itself on a terminal. */
const progress = /^(?:\(Reading database .*|debconf: .*|.*running with root privileges.*)$/;

export class Transcript {
  readonly #faults: string[] = [];

  step(title: string): void {
    console.log(`\n=== ${title}`);
  }

  /** A command, as it is typed, with what it printed. */
  ran(command: string, { exitCode, output }: ProgramResult): void {
    const lines = output.split(/\r|\n/).filter((line) => line.trim() !== "" && !progress.test(line));
    console.log([`# ${command}`, ...lines].join("\n"));
    if (exitCode !== 0) console.log(`(exit code ${exitCode})`);
  }

  /** Says whether it is so; what is not makes the walk fail at its end. */
  expect(what: string, isSo: boolean, seen = ""): void {
    console.log(`${isSo ? "   ok" : "FAULT"}: ${what}${seen === "" ? "" : `: ${seen}`}`);
    if (!isSo) this.#faults.push(what);
  }

  /** The exit code of the walk. */
  end(): number {
    const count = this.#faults.length;
    console.log(count === 0 ? "\nall as expected" : `\n${count} NOT SO:\n  ${this.#faults.join("\n  ")}`);
    return count === 0 ? 0 : 1;
  }
}

/** Ends the process when it is not root, or lacks a program. */
export function requireRootAnd(
  programs: Readonly<Record<string, string>>,
  isInstalled: (name: string) => boolean,
): void {
  const missing = Object.entries(programs).filter(([name]) => !isInstalled(name));
  const needs = [
    ...(process.getuid?.() === 0 ? [] : ["be run as root"]),
    ...(missing.length === 0 ? [] : [`have ${missing.map(([, of]) => of).join(", ")} installed`]),
  ];
  if (needs.length === 0) return;
  console.error(`this walk has to ${needs.join(" and to ")}`);
  process.exit(2);
}

/** Runs a program that has to succeed; its standard output. */
export async function mustRun(
  program: string,
  args: readonly string[],
  timeoutMs = 900_000,
): Promise<string> {
  const { exitCode, stdout, output } = await runProgram(program, args, { timeoutMs });
  if (exitCode !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${exitCode}: ${output}`);
  return stdout;
}
