import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { dirname } from "node:path";

const nobody = 65_534;

/**
 * Runs something without root's right to read and write everything, in a folder that is given to that user first.
 * Nothing changes for a test run that is not root's.
 */
export async function asOrdinaryUser(folder: string, work: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return await work();
  execFileSync("chown", ["-R", `${nobody}:${nobody}`, folder]);
  chmodSync(dirname(folder), 0o755);
  process.seteuid?.(nobody);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
