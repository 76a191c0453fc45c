/** Makes what was copied durable. */
import { dirname, join } from "node:path";
import { open, syncFile } from "../lib/files/changes.ts";
import { syncFileSystems } from "../lib/files/sync-file-system.ts";

/** The files, and the folders that they lie in up to the one that their paths begin in. */
function withFolders(files: Iterable<string>): ReadonlySet<string> {
  const all = new Set<string>(files);
  for (const path of [...all])
    for (let folder = dirname(path); !all.has(folder); folder = dirname(folder)) all.add(folder);
  return all;
}

/** Makes files below a folder durable, and their names: at once where the system can, else one by one, each of them told. */
export async function syncAll(
  root: string,
  files: Iterable<string>,
  onProgress?: (progress: { readonly done: number; readonly total: number }) => void,
): Promise<void> {
  try {
    return await syncFileSystems([root]);
  } catch {
    // There is no such program, or it took too long: what counts is that each file and folder is synced.
  }
  const all = [...withFolders(files)];
  for (const [done, path] of all.entries()) {
    onProgress?.({ done, total: all.length });
    const handle = await open(join(root, path), "r");
    await syncFile(handle).finally(() => handle.close());
  }
}
