import { spawn } from "node:child_process";

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
