/**
 * The unfinished file of an upload on the disk: made at the first need, written, made durable. Calls come one after the
 * other; a sync of a long file runs beside them, every 32 MiB, so that the close has little left to sync.
 */
import { constants } from "node:fs";
import { systemCodeOf } from "../../lib/errors.ts";
import { type DiskCalls, writeWhole } from "../../lib/files/durable-file.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { syncAdaptively } from "../../lib/files/adaptive-sync.ts";
import type { DiskSpace } from "./disk-space.ts";
import type { Chunk } from "./upload-chunks.ts";

const backgroundSyncBytes = 32 * 1024 * 1024;
const spaceCheckBytes = 64 * 1024 * 1024;
const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export interface PartFileDeps {
  readonly disk: DiskCalls;
  readonly space: Pick<DiskSpace, "assertEnough">;
  readonly folder: PinnedFolder;
  readonly name: string;
  /** An unfinished part that is continued; without it a new file is made. */
  readonly resumed?: { readonly fd: number; readonly size: number } | undefined;
}

export class PartFile {
  readonly #deps: PartFileDeps;
  readonly #lost: (error: unknown) => void;
  #fd: number | undefined;
  #isDirty: boolean;
  #unsyncedBytes = 0;
  #uncheckedBytes = 0;
  #backgroundSync: Promise<void> | undefined;

  /** `lost` gets the fault of a background sync: the system reports a lost write once, and the last sync would not. */
  constructor(deps: PartFileDeps, lost: (error: unknown) => void) {
    this.#deps = deps;
    this.#lost = lost;
    this.#fd = deps.resumed?.fd;
    // The part of an interrupted upload has never been synced.
    this.#isDirty = deps.resumed !== undefined;
  }

  /** Makes the file when it is not there yet. */
  async made(): Promise<void> {
    await this.#opened();
  }

  async write(chunk: Chunk): Promise<void> {
    const fd = await this.#opened();
    await this.#checkSpace(chunk.length);
    this.#isDirty = true;
    await writeWhole(this.#deps.disk, fd, chunk.buffer.subarray(0, chunk.length), chunk.start);
    this.#unsyncedBytes += chunk.length;
    if (this.#unsyncedBytes >= backgroundSyncBytes) this.#syncInBackground(fd);
  }

  async truncate(size: number): Promise<void> {
    const fd = await this.#opened();
    this.#isDirty = true;
    await this.#deps.disk.ftruncate(fd, size);
  }

  /** Bytes from `offset`, `length` of them at most. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.alloc(length);
    if (length === 0 || this.#fd === undefined) return bytes;
    return bytes.subarray(0, await this.#deps.disk.read(this.#fd, bytes, offset));
  }

  /** Makes durable what was written. A file `isShort` is synced on the spot while the disk is quick. */
  async sync(isShort: boolean): Promise<void> {
    const fd = await this.#opened();
    await this.#backgroundSync;
    if (!this.#isDirty) return;
    this.#isDirty = false;
    const { disk } = this.#deps;
    await (isShort ? syncAdaptively(disk, fd) : disk.fsync(fd));
  }

  async close(): Promise<void> {
    await this.#backgroundSync;
    const fd = this.#fd;
    this.#fd = undefined;
    // Everything that had to be durable has been synced: a fault here changes nothing.
    if (fd !== undefined) await this.#deps.disk.close(fd).catch(() => undefined);
  }

  async #checkSpace(bytes: number): Promise<void> {
    this.#uncheckedBytes += bytes;
    if (this.#uncheckedBytes < spaceCheckBytes) return;
    this.#uncheckedBytes = 0;
    await this.#deps.space.assertEnough();
  }

  #syncInBackground(fd: number): void {
    if (this.#backgroundSync !== undefined) return;
    this.#unsyncedBytes = 0;
    this.#backgroundSync = this.#deps.disk
      .fdatasync(fd)
      .catch((error: unknown) => this.#lost(error))
      .finally(() => {
        this.#backgroundSync = undefined;
      });
  }

  async #opened(): Promise<number> {
    this.#fd ??= await this.#create();
    return this.#fd;
  }

  /** Always a new file: an older part may share its bytes with a file that has arrived (a crash between link and unlink). */
  async #create(): Promise<number> {
    const { disk, folder, name } = this.#deps;
    this.#isDirty = true;
    try {
      return await disk.open(folder.child(name), createFlags, 0o640);
    } catch (error) {
      if (systemCodeOf(error) !== "EEXIST") throw error;
    }
    await disk.unlink(folder.child(name));
    return await disk.open(folder.child(name), createFlags, 0o640);
  }
}
