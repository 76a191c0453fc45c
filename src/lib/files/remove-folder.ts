import { join } from "node:path";
import { mapConcurrently } from "../concurrency.ts";
import { unlessMissing } from "../errors.ts";
import { rm, rmdir } from "./changes.ts";
import { entriesOf } from "./entries-of.ts";

/** At each depth: enough for a share whose calls take their time. */
const mostAtOnce = 4;

/**
 * Removes a folder with all that is in it, and calls `removed` after each file and folder, so that somebody can see that it
 * gets on: removing moves no bytes. Links are removed, not followed. What goes meanwhile is as good as removed. Rejects with
 * the first fault, when all else is gone.
 */
export async function removeFolder(folder: string, removed: () => void = () => undefined): Promise<void> {
  const faults: unknown[] = [];
  await mapConcurrently(await entriesOf(folder), mostAtOnce, async (entry) => {
    try {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return await removeFolder(path, removed);
      await rm(path, { force: true });
      removed();
    } catch (error) {
      if (faults.length === 0) faults.push(error);
    }
  });
  if (faults.length > 0) throw faults[0];
  await rmdir(folder).catch(unlessMissing);
  removed();
}
