/**
 * Commands of the source in the process of the test, on the state of a site. For tests of something else that need many of
 * them: a process for each costs a third of a second of a core. What is tested runs as the program does: `Site.cli`.
 */
import { runCli } from "../../src/cli/run-cli.ts";
import type { Site } from "./daemon.ts";

/** Runs a command that has to succeed; its standard output. */
export async function runInProcess(site: Site, ...args: readonly string[]): Promise<string> {
  let [stdout, stderr] = ["", ""];
  const exitCode = await runCli([...args, "--config", site.configFile], {
    ...{ env: process.env, cwd: site.folder },
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
  });
  if (exitCode !== 0)
    throw new Error(`dropgate ${args.join(" ")} ended with ${exitCode}: ${stdout}${stderr}`);
  return stdout;
}
