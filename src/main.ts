/** Process entry: argv → command → exit code. Nothing else ends the process. */
import { existsSync } from "node:fs";
import type * as asking from "./cli/ask.ts";
import { faultOfNodeVersion } from "./cli/node-version.ts";
import type * as cli from "./cli/run-cli.ts";

/** A reader that has seen enough (`| head`) is no failure. */
function endWhenNobodyReads(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
}

const bundled = new URL("./bundled/", import.meta.url);
const { DROPGATE_KILL_POINT: killPoint = "", DROPGATE_STEPS_FILE: stepsFile = "" } = process.env;
/**
 * Of few files, as `tools/bundle` makes them, the program is loaded in a third of the time. Where steps are watched it runs
 * module by module: they have their names from the modules that make them.
 */
const isWhole = !killPoint.includes("@") && stepsFile === "" && existsSync(bundled);

async function main(): Promise<number> {
  const fault = faultOfNodeVersion(process.versions.node);
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    return 2;
  }
  const args = process.argv.slice(2);
  // Only now: an unsupported Node.js ends without a word while a native package is loaded.
  const { runCli }: typeof cli = await (isWhole
    ? import(new URL(args[0] === "serve" ? "serve.js" : "cli.run-cli.js", bundled).href)
    : import("./cli/run-cli.ts"));
  const { askOn }: typeof asking = await (isWhole
    ? import(new URL("cli.ask.js", bundled).href)
    : import("./cli/ask.ts"));
  const { env, stdin, stdout, stderr } = process;
  const ask = stdin.isTTY && stdout.isTTY ? { ask: askOn(stdin, stdout) } : {};
  return await runCli(args, { env, cwd: process.cwd(), stdout, stderr, ...ask });
}

process.stdout.on("error", endWhenNobodyReads);
const exitCode = await main();
// What was written is passed on first; then the process ends, whatever a library may still hold open.
process.stdout.write("", () => process.exit(exitCode));
