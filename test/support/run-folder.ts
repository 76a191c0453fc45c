/**
 * A folder for what the tests of one run share, for all their processes; removed at the end. Programs that use the support
 * of the tests without a run, as the nightly ones, have one of their own.
 */
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemCodeOf } from "../../src/lib/errors.ts";

const variable = "DROPGATE_TEST_RUN_FOLDER";

function makeRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-run-"));
  process.env[variable] = folder;
  return folder;
}

/**
 * Under another name first: a worker that ends writes what it has compiled into the folder, also while it is removed. What it
 * had begun to write there is removed with the next try; nothing comes after that.
 */
function remove(folder: string): void {
  const nobodys = `${folder}-over`;
  renameSync(folder, nobodys);
  for (let triesLeft = 20; ; triesLeft -= 1) {
    try {
      rmSync(nobodys, { recursive: true, force: true });
      return;
    } catch (error) {
      if (triesLeft === 0 || systemCodeOf(error) !== "ENOTEMPTY") throw error;
    }
  }
}

function runFolder(): string {
  const known = process.env[variable];
  if (known !== undefined) return known;
  const folder = makeRunFolder();
  process.on("exit", () => remove(folder));
  return folder;
}

/** What vitest does before all tests; gives what it does after them. */
export default function setup(): () => void {
  const folder = makeRunFolder();
  // The programs that tests start, hundreds of times, compile the same source.
  process.env["NODE_COMPILE_CACHE"] ??= join(folder, "compile-cache");
  return () => remove(folder);
}

/** A folder that `make` fills once in a run. Two processes that begin at once may both make one, and the first stays. */
export async function onceInRun(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const made = join(runFolder(), name);
  if (existsSync(made)) return made;
  const own = mkdtempSync(`${made}-`);
  await make(own);
  try {
    await rename(own, made);
  } catch (error) {
    if (!existsSync(made)) throw error;
  }
  return made;
}
