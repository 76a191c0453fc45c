/**
 * Keeps a watch on one folder as far as the system gives one: set up by a scan, given up when it fails or the folder is
 * gone or replaced, tried again by later scans. Without it the scans go on.
 */
import type { Stats } from "node:fs";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { FolderHints, HintHandlers, WatchFolder } from "./folder-hints.ts";

const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: "raise fs.inotify.max_user_watches",
  EMFILE: "raise fs.inotify.max_user_instances",
};

export class FolderWatchKeeper {
  readonly #watch: WatchFolder;
  readonly #log: Logger;
  readonly #hinted: HintHandlers["hinted"];
  readonly #closing = new Set<Promise<void>>();
  #hints: FolderHints | undefined;
  #identity = "";
  #failures = 0;
  #retryAtMs = 0;

  constructor(deps: {
    readonly watch: WatchFolder;
    readonly log: Logger;
    readonly hinted: HintHandlers["hinted"];
  }) {
    this.#watch = deps.watch;
    this.#log = deps.log;
    this.#hinted = deps.hinted;
  }

  /** The folder is there: watches it, unless that is done or has just failed. */
  keep(path: string, folder: Stats, nowMs: number): void {
    // With the time of its making, because a folder that is made again may get the same inode.
    const identity = `${path}:${folder.dev}:${folder.ino}:${folder.birthtimeMs}`;
    if (this.#hints !== undefined && identity !== this.#identity) this.release();
    if (this.#hints !== undefined || nowMs < this.#retryAtMs) return;
    this.#identity = identity;
    let hints: FolderHints | undefined;
    try {
      hints = this.#watch(path, {
        hinted: (name) => this.#hinted(name),
        failed: (error) => this.#failed(error, hints),
      });
      this.#hints = hints;
    } catch (error) {
      this.#failed(error, undefined);
    }
  }

  /** The folder is gone, or nobody needs hints any more. */
  release(): void {
    const closed = this.#hints?.close().catch((error: unknown) => {
      this.#log.debug({ reason: messageOf(error) }, "closing the watch of a folder failed");
    });
    this.#hints = undefined;
    if (closed === undefined) return;
    this.#closing.add(closed);
    void closed.finally(() => this.#closing.delete(closed));
  }

  async close(): Promise<void> {
    this.release();
    await Promise.all(this.#closing);
  }

  #failed(error: unknown, hints: FolderHints | undefined): void {
    // An old watch may fail while it is being closed.
    if (hints !== undefined && hints !== this.#hints) return;
    this.release();
    this.#failures += 1;
    const pauseMs = Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs);
    this.#retryAtMs = performance.now() + pauseMs;
    if (this.#failures > 1) return;
    const systemCode = systemCodeOf(error);
    const remedy =
      remedies[systemCode ?? ""] ?? "none is needed: the scans find all files, only a little later";
    this.#log.warn(
      { systemCode, reason: messageOf(error), remedy },
      "a folder cannot be watched; it is scanned",
    );
  }
}
