/**
 * The pipeline takes only files whose bytes survive a power failure, and whoever put files into a folder has hardly
 * synced them. A few are synced one by one; many by one call that syncs their whole file system, because 100,000 single
 * ones take half a minute.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { mapAtOnce } from "../../lib/at-once.ts";
import { messageOf } from "../../lib/errors.ts";
import { openRegularFile } from "../../lib/open-regular-file.ts";
import { syncFileSystems } from "../../lib/sync-file-system.ts";
import { isSameLook, type Look, lookOf } from "./candidates.ts";
import type { FolderDeps } from "./folder-deps.ts";

/** `changed`: it is not the file any more that was looked at. */
export type Durability =
  | { readonly kind: "durable" }
  | { readonly kind: "changed" }
  | { readonly kind: "failed"; readonly error: unknown };

interface LookedAtFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly look: Look;
}

const fewFiles = 64;
const syncsAtOnce = 8;
const checksAtOnce = 64;

const durable: Durability = { kind: "durable" };

/** Makes files and their entries in `directory` durable; says for each, in order, what came of it. */
export async function makeDurable(
  deps: Pick<FolderDeps, "disk" | "log">,
  directory: string,
  files: readonly LookedAtFile[],
): Promise<Durability[]> {
  if (files.length > fewFiles && (await syncFileSystem(deps, directory))) {
    return await mapAtOnce(files, checksAtOnce, ({ name }) => checkReadable(deps, join(directory, name)));
  }
  const outcomes = await mapAtOnce(files, syncsAtOnce, ({ name, look }) =>
    syncFile(deps, join(directory, name), look),
  );
  const fd = await deps.disk.open(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await deps.disk.fsync(fd);
  } finally {
    await deps.disk.close(fd);
  }
  return outcomes;
}

/** False when the system has no `sync` that can. */
async function syncFileSystem(deps: Pick<FolderDeps, "log">, directory: string): Promise<boolean> {
  try {
    await syncFileSystems([directory]);
    return true;
  } catch (error) {
    deps.log.debug({ reason: messageOf(error) }, "sync -f failed; files are synced one by one");
    return false;
  }
}

async function checkReadable({ disk }: Pick<FolderDeps, "disk">, path: string): Promise<Durability> {
  try {
    await disk.access(path, constants.R_OK);
    return durable;
  } catch (error) {
    return { kind: "failed", error };
  }
}

async function syncFile({ disk }: Pick<FolderDeps, "disk">, path: string, look: Look): Promise<Durability> {
  try {
    const opened = await openRegularFile(path, constants.O_RDONLY, disk);
    if (opened === undefined) return { kind: "changed" };
    try {
      if (!isSameLook(lookOf(opened.stats), look)) return { kind: "changed" };
      await disk.fsync(opened.fd);
    } finally {
      await disk.close(opened.fd);
    }
    return durable;
  } catch (error) {
    return { kind: "failed", error };
  }
}
