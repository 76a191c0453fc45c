import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { patienceMs } from "./wait-for.ts";

export interface ProgramResult {
  readonly exitCode: number;
  readonly stdout: string;
  /** Standard output and standard error as they came. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  /** In a process group of its own, so that it can be ended with all that it has started. */
  readonly detached?: boolean;
  /** Called with the process once it runs, for tests that end it. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs a program to its end. A signal counts as 128 and more, a program that is not there as 127. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const { cwd, env, input, timeoutMs = patienceMs, detached = false, onStart } = options;
    const child = spawn(program, args, { cwd, env, detached, timeout: timeoutMs, killSignal: "SIGKILL" });
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", (error) => resolve({ exitCode: 127, stdout, output: `${output}${error.message}` }));
    child.on("close", (code) => resolve({ exitCode: code ?? 137, stdout, output }));
    // A program that ends without reading its input is judged by its exit code.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    onStart?.(child);
  });
}

/** Whether a program is on the PATH or where system programs lie. */
export function isInstalled(program: string): boolean {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
