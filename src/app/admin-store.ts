/**
 * The state as the commands of an administrator use it: the same database as the daemon's, in a process of its own.
 *
 * A write that finds the database busy is tried again for some seconds; nothing of it has been done by then. No command
 * takes the process lock, so all of them work while the daemon runs.
 */
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { makeDirectoryDurably } from "../lib/durable-file.ts";
import { systemCodeOf } from "../lib/errors.ts";
import { isStoreBusy } from "../lib/store-error.ts";
import { databaseFileName, markerFileName, openStore, type Store } from "../store/database.ts";
import { WrongUseError } from "./wrong-use-error.ts";

const patienceMs = 10_000;
const pauseMs = 50;

/** Tries again while the database is busy, up to ten seconds. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isStoreBusy(error) || performance.now() > until) throw error;
      await wait(pauseMs);
    }
  }
}

/**
 * As root, goes on as the owner of the folder: files that root makes in the daemon's folders could not be used by the
 * daemon.
 */
export async function becomeOwnerOf(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  try {
    const { uid, gid } = await stat(folder);
    if (uid === 0) return;
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
}

export type AdminStore = Pick<Store, "read" | "write">;

function isThere(stateDir: string, name: string): boolean {
  try {
    statSync(join(stateDir, name));
    return true;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    if (code !== "EACCES") throw error;
    throw new WrongUseError(`${stateDir} cannot be entered: run this as the user of the daemon, or as root`);
  }
}

/**
 * Whether there is a database in the state directory: `lost` when its marker says that there was one. Throws when it
 * cannot be looked at.
 */
export function findStore(stateDir: string): "there" | "lost" | "none" {
  if (isThere(stateDir, databaseFileName)) return "there";
  return isThere(stateDir, markerFileName) ? "lost" : "none";
}

/**
 * Opens the store for one command and closes it after it. Without `mayCreate` a state directory that has no database is
 * wrong use: a mistyped `stateDir` must not come to life as an empty one. A database that is lost is never made anew.
 */
export async function withAdminStore<T>(
  stateDir: string,
  options: { readonly mayCreate: boolean },
  use: (store: AdminStore) => Promise<T>,
): Promise<T> {
  await becomeOwnerOf(stateDir);
  // Of one that is lost, `openStore` says that it has to be restored.
  if (findStore(stateDir) === "none") {
    if (!options.mayCreate) {
      throw new WrongUseError(
        `there is no database in ${stateDir}: make it with \`dropgate init\` or \`dropgate company add\`, or correct stateDir`,
      );
    }
    await makeDirectoryDurably(stateDir);
  }
  const store = await patiently(() => openStore(stateDir));
  try {
    return await use({ read: store.read, write: (work) => patiently(() => store.write(work)) });
  } finally {
    await store.close();
  }
}
