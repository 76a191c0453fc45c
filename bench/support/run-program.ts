import { spawn } from "node:child_process";
import { join, resolve } from "node:path";

/**
 * Runs a script as `bin/dropgate` runs the program, with the same Node.js, flags and environment: else two settings of the
 * engine would be compared, and not two programs.
 */
export const launcher: string = resolve(import.meta.dirname, "../../bin/run-node");

export interface ProgramRun {
  readonly stdout: string;
  readonly ms: number;
}

/** Runs a program to its end. Rejects, with what it printed, when it does not end with 0. */
export function runProgram(
  program: string,
  args: readonly string[],
  cwd: string = process.cwd(),
): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve({ stdout, ms: performance.now() - startedAt });
      else reject(new Error(`${program} ended with ${code}:\n${stderr.slice(-2000)}${stdout.slice(-2000)}`));
    });
  });
}

/** Runs a script of the benches, by its name, as the daemon runs. */
export function runScript(name: string, args: readonly string[]): Promise<ProgramRun> {
  return runProgram(launcher, [join(import.meta.dirname, "..", name), ...args]);
}
