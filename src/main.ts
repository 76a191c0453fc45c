/** Process entry: argv → command → exit code. Nothing else ends the process. */
import { faultOfNodeVersion } from "./cli/node-version.ts";

/** A reader that has seen enough (`| head`) is no failure. */
function endWhenNobodyReads(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
}

async function main(): Promise<number> {
  const fault = faultOfNodeVersion(process.versions.node);
  if (fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    return 2;
  }
  // Only now: an unsupported Node.js ends without a word while a native package is loaded.
  const { runCli } = await import("./cli/run-cli.ts");
  const { askOn } = await import("./cli/ask.ts");
  const { env, stdin, stdout, stderr } = process;
  const ask = stdin.isTTY && stdout.isTTY ? { ask: askOn(stdin, stdout) } : {};
  return await runCli(process.argv.slice(2), { env, cwd: process.cwd(), stdout, stderr, ...ask });
}

process.stdout.on("error", endWhenNobodyReads);
const exitCode = await main();
// What was written is passed on first; then the process ends, whatever a library may still hold open.
process.stdout.write("", () => process.exit(exitCode));
