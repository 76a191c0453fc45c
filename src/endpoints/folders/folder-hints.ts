/**
 * Watch events of one folder, as hints that make the next look quicker. Nothing depends on them: inotify drops events
 * when its queue is full, and shares have none.
 */
import { dirname } from "node:path";
import { type ChokidarOptions, FSWatcher } from "chokidar";

export interface HintHandlers {
  /** Something about the entry changed; null when the system does not tell which. */
  hinted(name: string | null): void;
  /** The watch does not work (any more). */
  failed(error: unknown): void;
}

export interface FolderHints {
  close(): Promise<void>;
}

export type WatchFolder = (path: string, handlers: HintHandlers) => FolderHints;

/**
 * chokidar lists a folder and looks at each entry when it starts and whenever the folder's own times change: 3.4 s of this
 * process for 100,000 files. The scan does that here, so the watcher is left without entries to read; what it still
 * does is to keep one watch on the folder itself, also over its removal and return.
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

  /** An entry: it is ignored, which chokidar finds only after 0.03 ms of work on each event. */
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
    // Polling would look at each file; the scan is the polling here.
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
