/**
 * Delivers into a folder of this machine or of a mounted share.
 *
 *   .<name>.<16 hex>.part   written, synced
 *   both names              linked: fails when the name is taken, and never replaces
 *   <name>                  the hidden name removed, the folder synced: delivered
 *
 * A crash leaves the file under its final name, or a hidden one, or both names of one file. The next attempt finds the same
 * bytes under the name and has delivered. Before the first delivery the target removes hidden names of an earlier process of
 * the same state directory, and those of others when they are an hour old.
 *
 * A share whose server is gone answers no call, and each call keeps one of the few threads that the whole process has for
 * such file systems (`foreign-calls.ts`). So no call goes to a folder while one that was given up has not come back. The
 * company's own folder, below the state directory, is on the disk of the database: when that hangs, everything does. So files
 * go there in groups, in a thread. Any other path may be a share, or become one.
 */
import type { Delivery, DeliveryOutcome, Target } from "../../outbound/target.ts";
import { failedBy, outcomeOf } from "../../remote/transfer-fault.ts";
import { DeliveryFolder } from "./delivery-folder.ts";
import { FileGroups, groupSize } from "./file-groups.ts";
import { type FolderDisk, foreignDisk, ownDisk } from "./folder-disk.ts";
import { folderFault } from "./folder-faults.ts";
import { createFolderThread, type FolderThread } from "./folder-thread.ts";
import { PendingCalls, watchDisk } from "./pending-calls.ts";
import { settledOrAborted } from "../../lib/aborted.ts";
import { markOfThisProcess, TemporaryNames } from "./temporary-names.ts";

export interface FolderTargetOptions {
  /** Absolute. */
  readonly path: string;
  /** The company's own folder below the state directory: it is made when it is missing. Default false. */
  readonly isOwn?: boolean;
  /** Nothing is put there unless something is mounted at the path. Default false. */
  readonly mustBeMount?: boolean;
  /**
   * 8 hexadecimal digits that stand for the state directory, of which at most one process is at work: temporary files that
   * another process has named with them are left over from a crash.
   */
  readonly instanceMark?: string;
}

/** What it works with; tests put their own in. */
export interface FolderTargetParts {
  readonly disk?: FolderDisk;
  readonly processMark?: string;
  /** Shared by all own folders, and closed by who has made it. */
  readonly thread?: Pick<FolderThread, "place">;
  /** Of a group that goes to the thread. */
  readonly fewestForThread?: number;
}

/** One group in the thread, one that is rendered meanwhile. */
const ownConcurrency = 2 * groupSize;
/** A dead share keeps a thread of the pool for each delivery in hand. */
const foreignConcurrency = 2;

class FolderTarget implements Target {
  readonly concurrency: number;
  readonly #path: string;
  readonly #folder: DeliveryFolder;
  readonly #pending: PendingCalls;

  constructor(options: {
    readonly path: string;
    readonly concurrency: number;
    readonly folder: DeliveryFolder;
    readonly pending: PendingCalls;
  }) {
    this.concurrency = options.concurrency;
    this.#path = options.path;
    this.#folder = options.folder;
    this.#pending = options.pending;
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#outcome(() => this.#folder.place(delivery, signal), signal);
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#outcome(() => this.#folder.probe(), signal);
  }

  async close(): Promise<void> {
    // Nothing is kept between deliveries.
  }

  async #outcome(begin: () => Promise<DeliveryOutcome>, signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    if (await this.#pending.areStuck(signal)) {
      signal.throwIfAborted();
      const words = "the file system has not answered since an earlier attempt; check the mount";
      return failedBy("unreachable", `${this.#path}: ${words}.`);
    }
    return await settledOrAborted(begin(), signal).catch((error: unknown) => {
      if (!signal.aborted) return outcomeOf(folderFault(error, this.#path));
      this.#pending.leave();
      throw signal.reason;
    });
  }
}

/**
 * Makes a target that puts files into a folder, readable for owner and group (0640, less what the umask takes). A subfolder
 * for a delivery's `directory` is made; the folder itself only when it is our own. Faults are of scope `target` and
 * temporary, but for names.
 */
export function createFolderTarget(options: FolderTargetOptions, parts: FolderTargetParts = {}): Target {
  const { path, isOwn = false, mustBeMount = false, instanceMark } = options;
  const { processMark = markOfThisProcess, thread, fewestForThread } = parts;
  const names = new TemporaryNames(instanceMark, processMark);
  const pending = new PendingCalls();
  if (!isOwn) {
    const disk = watchDisk(parts.disk ?? foreignDisk, pending);
    const folder = new DeliveryFolder({ path, mustBeMount, disk, names, groups: undefined });
    return new FolderTarget({ path, concurrency: foreignConcurrency, folder, pending });
  }
  const { disk = ownDisk } = parts;
  const groups = new FileGroups({
    folder: path,
    disk,
    thread: thread ?? createFolderThread(),
    fewestForThread,
  });
  const folder = new DeliveryFolder({ path, mustBeMount, disk, names, groups });
  return new FolderTarget({ path, concurrency: ownConcurrency, folder, pending });
}
