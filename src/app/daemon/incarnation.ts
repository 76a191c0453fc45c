/**
 * Which process was the last one of a node on this machine. A node that starts again takes its own leases back at once, because
 * the process before it is gone: it had the lock that this one has. That is sure for a process of this machine since its start
 * alone: a copy of the machine has the same file, and storage of other machines may not show one machine the locks of another.
 * Containers of one machine share its start; among them the lock alone keeps two processes from having one node's directory.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../lib/errors.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../lib/files/durable-file.ts";

const fileName = "dropgate.incarnation";
const unknown = "unknown";

/** Tells one start of a machine from all others. */
export async function readBootId(): Promise<string> {
  const text = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(unlessMissing);
  return text?.trim() ?? unknown;
}

/** Notes the incarnation in the node's directory; gives that of the process before it, if that is surely gone. */
export async function changeIncarnation(
  nodeDir: string,
  incarnation: string,
  bootId: string,
): Promise<string | undefined> {
  await makeDirectoryDurably(nodeDir);
  const path = join(nodeDir, fileName);
  const [former, bootOfFormer] = (await readFile(path, "utf8").catch(unlessMissing))?.trim().split(" ") ?? [];
  await writeFileDurably(path, `${incarnation} ${bootId}\n`);
  return bootOfFormer === bootId && bootId !== unknown ? former : undefined;
}
