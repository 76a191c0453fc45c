/**
 * The state as the commands of an administrator use it: the same database as the daemon's, in a process of its own.
 *
 * A write that finds the database busy is tried again for some seconds; nothing of it has been done by then. No command
 * takes the process lock, so all of them work while the daemon runs.
 */
import { stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { type NodeConfig, nodePlaceOf } from "../../config/node-place.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import { makeDirectoryDurably } from "../../lib/files/durable-file.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { OperatorError } from "../../lib/operator-error.ts";
import { isStoreBusy } from "../../lib/store-error.ts";
import {
  findState,
  openStore,
  type StatePresence,
  type Store,
  stateFault,
} from "../../store/database/database.ts";
import type { Transaction, Work } from "../../store/database/groups/group-commit.ts";
import type { Owner } from "../../store/database/owner.ts";
import { type ProcessLock, takeProcessLock } from "../../store/database/process-lock.ts";
import type { StatePlace } from "../../store/database/state-place.ts";
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

/** Where the state is, for all commands. */
export type StateConfig = NodeConfig;
export type AdminStore = Pick<Store, "read" | "asOfNow" | "write" | "leases">;

/** The secret is read now: as root, this process becomes the owner of the state afterwards. */
function placeOf(config: StateConfig): StatePlace {
  try {
    return statePlaceOf(config);
  } catch (error) {
    throw new WrongUseError(messageOf(error));
  }
}

/** Whether there is a state in the directory. Wrong use when that cannot be determined. */
export function findStore(config: StateConfig): StatePresence {
  try {
    return findState(placeOf(config));
  } catch (error) {
    if (error instanceof OperatorError) throw new WrongUseError(error.message);
    throw error;
  }
}

/** A running daemon, perhaps of the version before, must not find changed tables. */
async function withoutDaemon<T>(config: StateConfig, work: () => Promise<T>): Promise<T> {
  const { nodeDir } = nodePlaceOf(config);
  await makeDirectoryDurably(nodeDir);
  const lock = lockForMigration(nodeDir);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function lockForMigration(nodeDir: string): ProcessLock {
  try {
    return takeProcessLock(nodeDir);
  } catch (error) {
    const remedy = "restart dropgate, which migrates the database, then try again";
    throw new OperatorError(`the database is of an older version, and ${messageOf(error)}: ${remedy}`, {
      cause: error,
    });
  }
}

/**
 * Opens the store for one command and closes it after it. Only `init` makes a state (`mayCreate`); for all others one that
 * is not there is wrong use. A database that is lost is never made anew.
 */
export async function withAdminStore<T>(
  config: StateConfig,
  use: (store: AdminStore) => Promise<T>,
  { mayCreate } = { mayCreate: false },
): Promise<T> {
  const { stateDir } = config;
  await becomeOwnerOf(stateDir);
  const presence = findStore(config);
  const isUsable = presence === "there" || (mayCreate && presence !== "lost");
  if (!isUsable) throw new WrongUseError(stateFault(stateDir, presence));
  if (mayCreate) await makeDirectoryDurably(stateDir);
  const { url } = placeOf(config);
  const store = await patiently(() =>
    openStore(stateDir, { url, exclusively: (work) => withoutDaemon(config, work) }),
  );
  try {
    const { read, asOfNow, leases } = store;
    const write: AdminStore["write"] = (whose, work) => patiently(() => store.write(whose, work));
    return await use({ read, asOfNow, leases, write });
  } finally {
    await store.close();
  }
}

/** Does the same for each item in turn, all of them in one unit of work. */
export async function writeEach<Item, Result>(
  store: Pick<AdminStore, "write">,
  items: readonly Item[],
  work: (tx: Transaction, item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  return await store.write("site", async (tx) => {
    const results: Result[] = [];
    for (const item of items) results.push(await work(tx, item));
    return results;
  });
}

/** A list as a command shows it. */
export interface CutList<View> {
  /** The newest first. */
  readonly items: readonly View[];
  /** Whether there are more than the limit lets through. */
  readonly isCut: boolean;
}

/** Which part of a long list is asked for. */
export interface Page {
  readonly limit: number;
  /** Only what comes behind this number, which is older. */
  readonly before?: number;
}

/** Cuts rows, of which one more than the limit was asked for. */
export function cutAt<Row, View>(
  limit: number,
  rows: readonly Row[],
  toView: (row: Row) => View,
): CutList<View> {
  return { items: rows.slice(0, limit).map(toView), isCut: rows.length > limit };
}

/** Carries the result of a dry run out of the transaction, which it rolls back. */
class DryRun extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("a dry run changes nothing");
    this.result = result;
  }
}

/** Runs a unit of work, undoes it, and gives its result. */
export async function dryRun<T>(store: Pick<AdminStore, "write">, whose: Owner, work: Work<T>): Promise<T> {
  try {
    return await store.write<never>(whose, async (tx) => {
      throw new DryRun(await work(tx));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.result as T;
    throw error;
  }
}
