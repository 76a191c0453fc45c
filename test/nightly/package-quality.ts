/**
 * The packages of both architectures, as `npm run package` makes them: each is built twice, at another time of the day, in
 * another time zone and language, and has the same bytes; lintian finds no error in it.
 *
 *   node test/nightly/package-quality.ts         needs lintian, which it installs where it may
 *
 * Prints the sums and what lintian says, and ends with 1 when something is not as expected. Takes some minutes.
 */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { architectures } from "../../tools/package/shipped-files.ts";
import { outputFolder, projectFolder, projectVersion } from "../../tools/package/source.ts";
import { isInstalled, runProgram } from "../support/run-program.ts";
import { buildAs } from "./built-packages.ts";
import { Transcript } from "./transcript.ts";

const minutes = 60_000;
const out = join(outputFolder, "quality");
const transcript = new Transcript();

async function sumOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}

/** Builds it in a folder of its own; its path. */
async function build(architecture: string, folder: string): Promise<string> {
  return (await buildAs(projectVersion(), architecture, join(out, folder))).path;
}

/** What differs between the machines on which a package may be built. */
function becomeElsewhere(): () => void {
  const { TZ, LC_ALL } = process.env;
  Object.assign(process.env, { TZ: "Pacific/Chatham", LC_ALL: "C" });
  return () => {
    for (const [name, value] of Object.entries({ TZ, LC_ALL })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

async function buildTwice(architecture: string): Promise<string> {
  transcript.step(`the package for ${architecture}, built twice`);
  const first = await build(architecture, "first");
  const back = becomeElsewhere();
  const second = await build(architecture, "second").finally(back);
  const sums = [await sumOf(first), await sumOf(second)];
  for (const sum of sums) console.log(`${sum}  ${basename(first)}`);
  transcript.expect("both have the same bytes", sums[0] === sums[1]);
  return first;
}

async function inspect(path: string): Promise<void> {
  transcript.step(`lintian ${basename(path)}`);
  const args = ["--fail-on", "error", "--tag-display-limit", "0", path];
  const result = await runProgram("lintian", args, { timeoutMs: 30 * minutes });
  transcript.ran(["lintian", ...args.slice(0, -1), basename(path)].join(" "), result);
  const errors = result.output.split("\n").filter((line) => line.startsWith("E: "));
  transcript.expect("it finds no error", result.exitCode === 0 && errors.length === 0, errors.join("; "));
}

async function requireLintian(): Promise<void> {
  if (isInstalled("lintian")) return;
  const script = join(projectFolder, "test/support/install-system-programs.sh");
  await runProgram("sh", [script, "lintian:lintian"], { timeoutMs: 20 * minutes });
  if (isInstalled("lintian")) return;
  console.error("lintian is missing, and cannot be installed here: install it, and begin again");
  process.exit(2);
}

await requireLintian();
await rm(out, { recursive: true, force: true });
const packages: string[] = [];
for (const architecture of Object.keys(architectures)) packages.push(await buildTwice(architecture));
for (const path of packages) await inspect(path);
process.exitCode = transcript.end();
