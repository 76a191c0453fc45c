/** syncfs(2), which Node does not offer: one call for many files, where one by one would cost a sync each. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Syncing a file system that is being written to takes its time. */
const timeoutMs = 120_000;

const run = promisify(execFile);

/**
 * Makes everything durable that was written to the file systems of these folders, through the `sync` of the system.
 * Rejects when there is none that can, when it takes longer than two minutes, and when the disk reports a fault.
 */
export async function syncFileSystems(folders: readonly string[]): Promise<void> {
  await run("sync", ["-f", "--", ...folders], { timeout: timeoutMs });
}
