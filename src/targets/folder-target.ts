/**
 * Delivers into a folder of this machine or of a mounted share.
 *
 *   .<name>.<16 hex>.part   written, synced
 *   both names              linked: fails when the name is taken, and never replaces
 *   <name>                  the hidden name removed, the folder synced: delivered
 *
 * A crash leaves the file under its final name, or a hidden one, or both names of one file. What is tried again finds the
 * same bytes under the name and is delivered. Hidden names that an earlier process of the same state directory has made are
 * removed before the first delivery, those of others when they are an hour old.
 *
 * A share whose server is gone answers no call, and each call keeps one of the few threads that the whole process has for
 * such file systems (`foreign-calls.ts`). So nothing is asked of a folder while a call that was given up has not come back.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { makeDirectoryDurably, writeWhole } from "../lib/files/durable-file.ts";
import { isMissing, systemCodeOf } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { Delivery, DeliveryFile, DeliveryOutcome, Target } from "../outbound/target.ts";
import { readBytes } from "./delivery-bytes.ts";
import { checkNames, isTemporaryName } from "./delivery-names.ts";
import { markOfThisProcess, TemporaryNames } from "./temporary-names.ts";
import { type FolderDisk, foreignDisk, ownDisk } from "./folder-disk.ts";
import { folderFault } from "./folder-faults.ts";
import { type OpenFolder, OpenFolders } from "./open-folders.ts";
import { failedBy, outcomeOf, TransferFault } from "../remote/transfer-fault.ts";
import { PendingCalls, watchDisk } from "./pending-calls.ts";
import { settledOrAborted } from "./settled-or-aborted.ts";

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

/** So many files in hand share the syncs of their folder: three to four times as many a second as a loop of one file after another. */
const ownConcurrency = 32;
/** A dead share keeps a thread of the pool for each delivery in hand. */
const foreignConcurrency = 2;
const sweepEveryMs = 3_600_000;
const leftoverAgeMs = 3_600_000;

/** What a file system says that has no second names for a file, or lets nobody make one. */
const noLinkCodes: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "EMLINK",
]);
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

class FolderTarget implements Target {
  readonly concurrency: number;
  readonly #path: string;
  readonly #isOwn: boolean;
  readonly #mustBeMount: boolean;
  readonly #names: TemporaryNames;
  readonly #disk: FolderDisk;
  readonly #folders: OpenFolders;
  #sweptAt = Number.NEGATIVE_INFINITY;
  readonly #pending = new PendingCalls();

  constructor(options: FolderTargetOptions, disk: FolderDisk, processMark: string) {
    const { path, isOwn = false, mustBeMount = false, instanceMark } = options;
    this.#mustBeMount = mustBeMount;
    this.#names = new TemporaryNames(instanceMark, processMark);
    this.concurrency = isOwn ? ownConcurrency : foreignConcurrency;
    this.#path = path;
    this.#isOwn = isOwn;
    // The own folder is on the disk of the database: when that hangs, all does.
    this.#disk = isOwn ? disk : watchDisk(disk, this.#pending);
    this.#folders = new OpenFolders(this.#disk);
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#outcome(() => this.#whileMounted(() => this.#place(delivery, signal)), signal);
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#outcome(() => this.#whileMounted(() => this.#try()), signal);
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

  /** The folder stays open meanwhile, so that its file system cannot be unmounted but by force. */
  async #whileMounted(work: () => Promise<DeliveryOutcome>): Promise<DeliveryOutcome> {
    if (!this.#mustBeMount) return await work();
    return await this.#folders.use(this.#path, async () => {
      await this.#checkMount();
      const outcome = await work();
      // Unmounted by force all the same: what was written may lie in the empty mount point.
      await this.#checkMount();
      return outcome;
    });
  }

  async #checkMount(): Promise<void> {
    if (await this.#disk.isMountPoint(this.#path)) return;
    const words =
      "nothing is mounted there (`mustBeMount`); mount the share, then deliveries go on by themselves";
    throw new TransferFault("missingFolder", `${this.#path}: ${words}.`);
  }

  async #place(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    checkNames(delivery);
    const path = await this.#folderOf(delivery);
    return await this.#folders.use(path, async (folder) => {
      const last = delivery.files.at(-1);
      for (const file of delivery.files) {
        signal.throwIfAborted();
        // The last one says that all are there: after a power failure too.
        if (file === last && delivery.files.length > 1) await folder.sync();
        if (!(await this.#placeFile(folder, file))) return { kind: "nameTaken", name: file.name };
      }
      await folder.sync();
      return { kind: "delivered" };
    });
  }

  /** The folder for the files, made when it is ours to make. */
  async #folderOf({ directory }: Delivery): Promise<string> {
    await this.#makeOwn();
    await this.#sweepOften();
    if (directory === undefined) return this.#path;
    const path = join(this.#path, directory);
    try {
      await this.#disk.mkdir(path);
      await this.#folders.use(this.#path, (folder) => folder.sync());
    } catch (error) {
      if (systemCodeOf(error) !== "EEXIST") throw error;
      // A link would lead out of the target.
      if (!(await this.#disk.lstat(path)).isDirectory()) {
        throw new TransferFault(
          "content",
          `${path}: a file has the name of the folder for this delivery; remove it.`,
        );
      }
      await this.#sweep(path);
    }
    return path;
  }

  async #makeOwn(): Promise<void> {
    if (!this.#isOwn) return;
    try {
      await this.#disk.lstat(this.#path);
    } catch (error) {
      if (!isMissing(error)) throw error;
      await makeDirectoryDurably(this.#path);
    }
  }

  /** False when another file has the name. */
  async #placeFile(folder: OpenFolder, file: DeliveryFile): Promise<boolean> {
    const bytes = await readBytes(file);
    const final = join(folder.path, file.name);
    const temporary = join(folder.path, this.#names.newName(file.name));
    await this.#write(temporary, bytes);
    killPoint("delivery.written");
    try {
      await this.#giveName(temporary, final);
      return true;
    } catch (error) {
      if (systemCodeOf(error) !== "EEXIST") throw error;
      return await this.#hasBytes(final, bytes);
    } finally {
      await this.#remove(temporary);
    }
  }

  /** Writes a new file and makes its bytes durable; leaves none behind when that fails. */
  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const fd = await this.#disk.open(path, createFlags, 0o640);
    try {
      await writeWhole(this.#disk, fd, bytes, 0);
      await this.#disk.sync(fd);
    } catch (error) {
      await this.#remove(path);
      throw error;
    } finally {
      await this.#disk.close(fd);
    }
  }

  async #giveName(temporary: string, final: string): Promise<void> {
    try {
      await this.#disk.link(temporary, final);
    } catch (error) {
      if (!noLinkCodes.has(systemCodeOf(error))) throw error;
      await this.#renameUnlessTaken(temporary, final);
    }
  }

  /** Where there are no links, a look before the rename has to do; nobody but us makes files of these names. */
  async #renameUnlessTaken(temporary: string, final: string): Promise<void> {
    const isTaken = await this.#disk.lstat(final).then(
      () => true,
      (error: unknown) => {
        if (isMissing(error)) return false;
        throw error;
      },
    );
    if (isTaken) throw Object.assign(new Error("the name is taken"), { code: "EEXIST" });
    await this.#disk.rename(temporary, final);
  }

  async #hasBytes(path: string, bytes: Uint8Array): Promise<boolean> {
    let fd: number;
    try {
      fd = await this.#disk.open(path, readFlags);
    } catch (error) {
      if (systemCodeOf(error) === "ELOOP") return false;
      if (!isMissing(error)) throw error;
      // Whether it had our bytes cannot be told any more.
      throw new TransferFault("busy", `${path}: a file of this name was collected just now.`, {
        scope: "delivery",
      });
    }
    try {
      const stats = await this.#disk.fstat(fd);
      if (!stats.isFile() || stats.size !== bytes.byteLength) return false;
      const there = Buffer.alloc(bytes.byteLength);
      for (let at = 0; at < there.length; ) {
        const count = await this.#disk.read(fd, there.subarray(at), at);
        if (count === 0) return false;
        at += count;
      }
      return there.equals(bytes);
    } finally {
      await this.#disk.close(fd);
    }
  }

  async #remove(path: string): Promise<void> {
    try {
      await this.#disk.unlink(path);
    } catch {
      // Renamed, or the disk is gone: what is left is swept later.
    }
  }

  async #sweepOften(): Promise<void> {
    const now = performance.now();
    if (now - this.#sweptAt < sweepEveryMs) return;
    this.#sweptAt = now;
    await this.#pending.track(this.#sweep(this.#path));
  }

  /** Removes what a crash has left of ours. */
  async #sweep(path: string): Promise<void> {
    for await (const entry of await this.#disk.entries(path)) {
      if (!entry.isFile() || !isTemporaryName(entry.name)) continue;
      const leftover = join(path, entry.name);
      if (this.#names.isOfEarlierProcess(entry.name)) {
        await this.#remove(leftover);
        continue;
      }
      const stats = await this.#disk.lstat(leftover).catch(() => undefined); // gone meanwhile
      if (stats !== undefined && Date.now() - stats.mtimeMs > leftoverAgeMs) await this.#remove(leftover);
    }
  }

  async #try(): Promise<DeliveryOutcome> {
    await this.#makeOwn();
    return await this.#folders.use(this.#path, async (folder) => {
      const temporary = join(folder.path, this.#names.newName("probe"));
      await this.#write(temporary, Buffer.from("probe"));
      await this.#disk.unlink(temporary);
      return { kind: "delivered" };
    });
  }
}

/**
 * Makes a target that puts files into a folder, readable for owner and group (0640, less what the umask takes). A subfolder
 * for a delivery's `directory` is made; the folder itself only when it is our own. Faults are of scope `target` and
 * temporary, but for names.
 */
export function createFolderTarget(
  options: FolderTargetOptions,
  disk: FolderDisk = options.isOwn === true ? ownDisk : foreignDisk,
  processMark: string = markOfThisProcess,
): Target {
  return new FolderTarget(options, disk, processMark);
}
