/** What a crash leaves of the taking of files, in the dot-folders of `inbound/`. */
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { againFolderName } from "../../inbound/place-arrival.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { FolderDeps } from "./folder-deps.ts";

/** Where copies grow. */
export const takingFolderName = ".taking";

/** Where the files of `inbound/` are set aside for which copies are put in their places. */
export const asideFolderName = ".aside";

/** Removes the copies of an earlier run, whose sources are still there, and hands what was set aside to the scan of `.again`. */
export async function sweepCopies(deps: Pick<FolderDeps, "disk" | "runId">, inbound: string): Promise<void> {
  const taking = join(inbound, takingFolderName);
  for (const name of (await readdir(taking).catch(unlessMissing)) ?? []) {
    if (!name.startsWith(`${deps.runId}-`)) await deps.disk.unlink(join(taking, name)).catch(unlessMissing);
    killPoint("folder.copySwept");
  }
  const aside = join(inbound, asideFolderName);
  for (const name of (await readdir(aside).catch(unlessMissing)) ?? []) {
    await mkdir(join(inbound, againFolderName), { recursive: true, mode: 0o750 });
    await rename(join(aside, name), join(inbound, againFolderName, name));
    killPoint("folder.asideRecovered");
  }
}
