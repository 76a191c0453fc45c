/**
 * Commands of the built program in the process of the test, on the state of a site. For tests of something else that need
 * many of them: a process for each costs a third of a second of a core. What is tested runs as a process: `Site.cli`.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ProgramResult } from "./run-program.ts";
import type * as cli from "../../src/cli/run-cli.ts";

const require = createRequire(import.meta.url);
const builtFile = fileURLToPath(new URL("../../dist/bundled/cli.run-cli.js", import.meta.url));

/** Where the configuration lies, and the folder in which the command runs; a `Site` has both. */
export interface CommandPlace {
  readonly configFile: string;
  readonly folder: string;
}

/** Runs a command, and gives what its process would have given. */
export async function resultInProcess(
  { configFile, folder }: CommandPlace,
  ...args: readonly string[]
): Promise<ProgramResult> {
  // Not by `import`: the loader of the tests would load each module of the program a second time, in its own way.
  const { runCli } = require(builtFile) as typeof cli;
  let [stdout, output] = ["", ""];
  const exitCode = await runCli([...args, "--config", configFile], {
    ...{ env: process.env, cwd: folder },
    stdout: {
      write: (text: string) => {
        stdout += text;
        output += text;
      },
    },
    stderr: { write: (text: string) => (output += text) },
  });
  return { exitCode, stdout, output };
}

/** Runs a command that has to succeed; its standard output. */
export async function runInProcess(place: CommandPlace, ...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, output } = await resultInProcess(place, ...args);
  if (exitCode !== 0) throw new Error(`dropgate ${args.join(" ")} ended with ${exitCode}: ${output}`);
  return stdout;
}
