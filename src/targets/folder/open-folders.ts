/**
 * The folders that files are being delivered to. All deliveries in hand share one descriptor of a folder and its syncs; it
 * is closed with the last of them, and replaced after a second, so that a replaced folder is noticed.
 */
import { constants } from "node:fs";
import { shareRuns } from "../../lib/files/shared-run.ts";
import type { FolderDisk } from "./folder-disk.ts";

const longestUseMs = 1_000;

export interface OpenFolder {
  readonly path: string;
  /** When it resolves, every entry that was made before is durable. */
  readonly sync: () => Promise<void>;
}

interface SharedFolder extends OpenFolder {
  readonly fd: number;
  readonly openedAt: number;
  users: number;
}

export class OpenFolders {
  readonly #disk: FolderDisk;
  readonly #folders = new Map<string, SharedFolder>();

  constructor(disk: FolderDisk) {
    this.#disk = disk;
  }

  /** Runs with the folder open. Rejects with the error of the system when it cannot be opened. */
  async use<T>(path: string, work: (folder: OpenFolder) => Promise<T>): Promise<T> {
    const folder = await this.#acquire(path);
    try {
      return await work(folder);
    } finally {
      await this.#release(folder);
    }
  }

  async #acquire(path: string): Promise<SharedFolder> {
    const known = this.#folders.get(path);
    if (known !== undefined && performance.now() - known.openedAt < longestUseMs) {
      known.users += 1;
      return known;
    }
    const fd = await this.#disk.open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    const sync = shareRuns(() => this.#disk.sync(fd));
    const made = { path, fd, sync, openedAt: performance.now(), users: 1 };
    this.#folders.set(path, made);
    return made;
  }

  async #release(folder: SharedFolder): Promise<void> {
    folder.users -= 1;
    if (folder.users > 0) return;
    if (this.#folders.get(folder.path) === folder) this.#folders.delete(folder.path);
    await this.#disk.close(folder.fd);
  }
}
