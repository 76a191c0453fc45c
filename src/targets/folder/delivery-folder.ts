/**
 * The folder of a target: what has to be there, and how the files of a delivery get into it.
 *
 *   own folder, one file    in groups (`file-groups.ts`)
 *   anything else           one file after the other, the last one when the others are durable
 */
import { join } from "node:path";
import { systemCodeOf } from "../../lib/errors.ts";
import type { Delivery, DeliveryOutcome } from "../../outbound/target.ts";
import { TransferFault } from "../../remote/transfer-fault.ts";
import { checkNames, readBytes } from "../delivery-files.ts";
import type { FileGroups } from "./file-groups.ts";
import type { FolderDisk } from "./folder-disk.ts";
import { OpenFolders } from "./open-folders.ts";
import { type FileToPlace, placeFiles, tryToWrite } from "./place-files.ts";
import { makeIfMissing } from "./place-group.ts";
import { sweepLeftovers, type TemporaryNames } from "./temporary-names.ts";
import { hourMs } from "../../lib/durations.ts";

export interface DeliveryFolderOptions {
  readonly path: string;
  /** Nothing is put there unless something is mounted at the path. */
  readonly mustBeMount: boolean;
  readonly disk: FolderDisk;
  readonly names: TemporaryNames;
  /** Of the company's own folder, which is made when it is missing; undefined for any other. */
  readonly groups: FileGroups | undefined;
}

const sweepEveryMs = hourMs;
/** Larger ones go by the pool: in the thread they would keep the files of all companies waiting. */
const largestInGroup = 256 * 1024;

export class DeliveryFolder {
  readonly #options: DeliveryFolderOptions;
  readonly #folders: OpenFolders;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(options: DeliveryFolderOptions) {
    this.#options = options;
    this.#folders = new OpenFolders(options.disk);
  }

  /** Rejects with the error of the system, or what is wrong with the delivery. */
  async place(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    checkNames(delivery);
    const { groups } = this.#options;
    const [file] = delivery.files;
    const isSingle = delivery.files.length === 1 && delivery.directory === undefined;
    if (groups !== undefined && file !== undefined && isSingle) {
      const bytes = await readBytes(file);
      if (bytes.byteLength <= largestInGroup) {
        await this.#sweepOften();
        return await groups.place(this.#hidden(file.name, bytes), signal);
      }
    }
    return await this.#whileMounted(() => this.#placeInOrder(delivery, signal));
  }

  /** Tries whether a file can be written there; leaves none behind. */
  async probe(): Promise<DeliveryOutcome> {
    return await this.#whileMounted(async () => {
      await this.#makeOwn();
      const { disk, path } = this.#options;
      return await this.#folders.use(path, async () => {
        await tryToWrite(disk, path, this.#hidden("probe", Buffer.from("probe")));
        return { kind: "delivered" };
      });
    });
  }

  /** The folder stays open meanwhile, so that its file system cannot be unmounted but by force. */
  async #whileMounted(work: () => Promise<DeliveryOutcome>): Promise<DeliveryOutcome> {
    const { mustBeMount, path } = this.#options;
    if (!mustBeMount) return await work();
    return await this.#folders.use(path, async () => {
      await this.#checkMount();
      const outcome = await work();
      // Unmounted by force all the same: what was written may lie in the empty mount point.
      await this.#checkMount();
      return outcome;
    });
  }

  async #checkMount(): Promise<void> {
    const { disk, path } = this.#options;
    if (await disk.isMountPoint(path)) return;
    const words =
      "nothing is mounted there (`mustBeMount`); mount the share, then deliveries go on by themselves";
    throw new TransferFault("missingFolder", `${path}: ${words}.`);
  }

  async #placeInOrder(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    const path = await this.#folderOf(delivery);
    return await this.#folders.use(path, async (folder) => {
      const last = delivery.files.at(-1);
      for (const file of delivery.files) {
        signal.throwIfAborted();
        // The last one says that all are there: after a power failure too.
        if (file === last && delivery.files.length > 1) await folder.sync();
        const hidden = this.#hidden(file.name, await readBytes(file));
        const [result] = await placeFiles(this.#options.disk, folder.path, [hidden]);
        if (result?.status !== "fulfilled") throw result?.reason;
        if (result.value === "taken") return { kind: "nameTaken", name: file.name };
      }
      await folder.sync();
      return { kind: "delivered" };
    });
  }

  /** The folder for the files, made when it is ours to make. */
  async #folderOf({ directory }: Delivery): Promise<string> {
    const { path: base, disk, names } = this.#options;
    await this.#makeOwn();
    await this.#sweepOften();
    if (directory === undefined) return base;
    const path = join(base, directory);
    try {
      await disk.mkdir(path);
      await this.#folders.use(base, (folder) => folder.sync());
    } catch (error) {
      if (systemCodeOf(error) !== "EEXIST") throw error;
      // A link would lead out of the target.
      if (!(await disk.lstat(path)).isDirectory()) {
        throw new TransferFault(
          "content",
          `${path}: a file has the name of the folder for this delivery; remove it.`,
        );
      }
      await sweepLeftovers(disk, path, names);
    }
    return path;
  }

  async #makeOwn(): Promise<void> {
    const { groups, disk, path } = this.#options;
    if (groups !== undefined) await makeIfMissing(disk, path);
  }

  /** Removes what a crash has left, before the first delivery and each hour. */
  async #sweepOften(): Promise<void> {
    const now = performance.now();
    if (now - this.#sweptAt < sweepEveryMs) return;
    this.#sweptAt = now;
    await this.#makeOwn();
    await sweepLeftovers(this.#options.disk, this.#options.path, this.#options.names);
  }

  #hidden(name: string, bytes: Uint8Array): FileToPlace {
    return { name, temporaryName: this.#options.names.newName(name), bytes };
  }
}
