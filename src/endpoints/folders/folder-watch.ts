/**
 * Watch events of one folder, as hints that a scan of some names is worth it. Nothing depends on them: inotify drops
 * events when its queue is full, and shares have none.
 */
import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { type ChokidarOptions, FSWatcher } from "chokidar";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { hourMs } from "../../lib/durations.ts";

export interface HintHandlers {
  /** An entry changed; null when the system does not say which. */
  hinted(name: string | null): void;
  /** The watch does not work (any more). */
  failed(error: unknown): void;
}

interface FolderHints {
  close(): Promise<void>;
}

export type WatchFolder = (path: string, handlers: HintHandlers) => FolderHints;

/**
 * chokidar lists a folder and checks each entry when it starts and whenever the folder's own times change: 3.4 s of this
 * process for 100,000 files. The scan does that here, so this watcher reads no entries; it only keeps one watch on the
 * folder itself, also over its removal and return.
 */
class UnreadWatcher extends FSWatcher {
  readonly #folder: string;

  constructor(folder: string, options: ChokidarOptions) {
    super(options);
    this.#folder = folder;
  }

  override createScanStream(): undefined {
    return undefined;
  }

  /** chokidar ignores entries too, but only after 0.03 ms of work on each event. */
  override isUnwatched(path: string): boolean {
    return dirname(path) === this.#folder || super.isUnwatched(path);
  }
}

/** Watches the entries of one folder, not of those below it. `path` must be a real path. */
export const watchFolder: WatchFolder = (path, handlers) => {
  const watcher = new UnreadWatcher(path, {
    ignoreInitial: true,
    depth: 0,
    atomic: false,
    followSymlinks: false,
    // Polling would check each file; the scan is the polling here.
    backend: "native",
    ignored: (entry) => entry !== path,
  });
  watcher.on("raw", (_event, name, details) => {
    if (isWatchOf(details, path)) handlers.hinted(name);
  });
  watcher.on("error", (error) => handlers.failed(error));
  watcher.add(path);
  return { close: () => watcher.close() };
};

/** While the folder is missing its parent is watched; those events are not ours. */
function isWatchOf(details: unknown, path: string): boolean {
  return (
    typeof details === "object" &&
    details !== null &&
    "watchedPath" in details &&
    details.watchedPath === path
  );
}

const firstPauseMs = 60_000;
const longestPauseMs = hourMs;

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: "raise fs.inotify.max_user_watches",
  EMFILE: "raise fs.inotify.max_user_instances",
};

export interface WatchKeeperDeps extends Pick<HintHandlers, "hinted"> {
  readonly watch: WatchFolder;
  readonly log: Logger;
}

/**
 * Keeps a watch on one folder: a scan sets it up, drops it when it fails or when the folder is gone or replaced, and
 * later scans retry. Without it the scans go on.
 */
export class FolderWatchKeeper {
  readonly #deps: WatchKeeperDeps;
  readonly #closing = new Set<Promise<void>>();
  #hints: FolderHints | undefined;
  #identity = "";
  #failures = 0;
  #retryAtMs = 0;

  constructor(deps: WatchKeeperDeps) {
    this.#deps = deps;
  }

  /** Watches the folder, unless it is watched already or the last try has just failed. */
  keep(path: string, folder: Stats, nowMs: number): void {
    // With the birth time, because a folder that is made again may get the same inode.
    const identity = `${path}:${folder.dev}:${folder.ino}:${folder.birthtimeMs}`;
    if (this.#hints !== undefined && identity !== this.#identity) this.release();
    if (this.#hints !== undefined || nowMs < this.#retryAtMs) return;
    this.#identity = identity;
    let hints: FolderHints | undefined;
    try {
      const { watch, hinted } = this.#deps;
      hints = watch(path, { hinted, failed: (error) => this.#failed(error, hints) });
      this.#hints = hints;
    } catch (error) {
      this.#failed(error, undefined);
    }
  }

  /** Ends the watch: the folder is gone, or nobody needs hints any more. */
  release(): void {
    const closed = this.#hints?.close().catch((error: unknown) => {
      this.#deps.log.debug({ reason: messageOf(error) }, "closing the watch of a folder failed");
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
    this.#deps.log.warn(
      { systemCode, reason: messageOf(error), remedy },
      "a folder cannot be watched; it is scanned",
    );
  }
}
