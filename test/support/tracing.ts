import { isInstalled, runProgram } from "./run-program.ts";

/** Whether `strace` is installed and may trace here. */
export async function canTrace(): Promise<boolean> {
  if (!isInstalled("strace")) return false;
  return (await runProgram("strace", ["-f", "-e", "trace=none", "true"])).exitCode === 0;
}
