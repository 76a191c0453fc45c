/**
 * The endpoint that takes files out of folders: each company's own `inbound/` and further drop folders. Every folder has a
 * task of its own, so that a share that hangs holds up no other. The list of folders is asked for before each round of scans:
 * a company that was added while the daemon runs is picked up, one that is gone is let go. The companies have their turns
 * one after the other in the course of a round, each with all its folders together: of two files of a stop in two folders
 * the later is not to be found a round before the earlier.
 */
import { randomBytes } from "node:crypto";
import { aborted } from "../../lib/aborted.ts";
import type { Service } from "../../lib/service.ts";
import { syncFileSystems } from "../../lib/files/sync-file-system.ts";
import {
  type FolderDeps,
  type FolderDisk,
  localFolderDisk,
  systemFolderDisk,
  type WatchedFolder,
} from "./folder-deps.ts";
import { type WatchFolder, watchFolder } from "./folder-hints.ts";
import { FolderTask, type FolderTaskDeps } from "./folder-task.ts";
import { ScanRounds } from "./scan-rounds.ts";
import { createTakeThread, type TakeThread } from "./take-thread.ts";

export type { FolderSettings, WatchedFolder } from "./folder-deps.ts";

export interface FolderEndpointDeps
  extends Pick<FolderDeps, "inbox" | "settings" | "clock" | "log" | "isIncomplete" | "whyNoRoom"> {
  readonly folders: () => Promise<readonly WatchedFolder[]>;
  /** The system calls; tests put their own in. */
  readonly disk?: FolderDisk;
  /** Watches a folder for hints; tests put their own in. */
  readonly watch?: WatchFolder;
  /** Where files are copied; tests put their own in. */
  readonly takeThread?: () => TakeThread;
}

export interface FolderEndpoint extends Service {
  /** Asks for the list of folders and scans each; resolves when all have been scanned. Files settle after that. */
  scanNow(): Promise<void>;
}

/** Makes the endpoint. Give it the inbox of the same process, or files are handed over twice. */
export function createFolderEndpoint(deps: FolderEndpointDeps): FolderEndpoint {
  return new FolderTasks(deps);
}

function keyOf({ companyId, path, isInbox, inboundDirectory }: WatchedFolder): string {
  return JSON.stringify([companyId, path, isInbox, inboundDirectory]);
}

class FolderTasks implements FolderEndpoint {
  readonly name = "folders";
  readonly #deps: FolderEndpointDeps;
  readonly #taskDeps: FolderTaskDeps;
  readonly #tasks = new Map<string, FolderTask>();
  readonly #closing = new Set<Promise<void>>();
  readonly #rounds: ScanRounds<readonly FolderTask[]>;
  #isStartUp = true;
  #isListFailing = false;
  #isStopped = false;

  constructor(deps: FolderEndpointDeps) {
    this.#deps = deps;
    const takeThread = deps.takeThread ?? createTakeThread;
    this.#rounds = new ScanRounds({
      items: () => this.#nextRound(),
      visit: (tasks) => {
        for (const task of tasks) task.scanUnlessResting();
      },
      scanMs: () => deps.settings().scanMs,
    });
    this.#taskDeps = {
      inbox: deps.inbox,
      settings: deps.settings,
      clock: deps.clock,
      log: deps.log.child({ endpoint: "folders" }),
      disk: deps.disk ?? systemFolderDisk,
      localDisk: deps.disk ?? localFolderDisk,
      watch: deps.watch ?? watchFolder,
      runId: randomBytes(6).toString("hex"),
      isIncomplete: deps.isIncomplete,
      whyNoRoom: deps.whyNoRoom,
      syncCopies: (folder) => syncFileSystems([folder]),
      takeThread,
      inboxThread: takeThread(),
    };
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#useFolders(await this.#deps.folders());
    this.#isStartUp = false;
    if (signal.aborted) await this.#close();
    signal.throwIfAborted();
    this.#rounds.start();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await Promise.race([this.#close(), aborted(deadline)]);
  }

  async scanNow(): Promise<void> {
    await this.#refresh();
    await Promise.all([...this.#tasks.values()].map((task) => task.scan()));
  }

  async #close(): Promise<void> {
    this.#isStopped = true;
    this.#rounds.stop();
    await Promise.all([
      ...this.#closing,
      ...[...this.#tasks.values()].map((task) => task.close({ isEnd: true })),
    ]);
    await this.#taskDeps.inboxThread.close();
  }

  async #nextRound(): Promise<readonly (readonly FolderTask[])[]> {
    await this.#refresh();
    return [...Map.groupBy(this.#tasks.values(), ({ companyId }) => companyId).values()];
  }

  async #refresh(): Promise<void> {
    try {
      this.#useFolders(await this.#deps.folders());
      this.#isListFailing = false;
    } catch (error) {
      if (!this.#isListFailing) {
        this.#deps.log.error({ err: error }, "the list of folders cannot be read; the last one stays in use");
      }
      this.#isListFailing = true;
    }
  }

  #useFolders(folders: readonly WatchedFolder[]): void {
    if (this.#isStopped) return;
    const wanted = new Map(folders.map((folder) => [keyOf(folder), folder]));
    for (const [key, task] of this.#tasks) {
      if (wanted.has(key)) continue;
      this.#tasks.delete(key);
      const closed = task.close({ isEnd: false }).finally(() => this.#closing.delete(closed));
      this.#closing.add(closed);
    }
    for (const [key, folder] of wanted) {
      if (this.#tasks.has(key)) continue;
      const task = new FolderTask(this.#taskDeps, folder, this.#isStartUp);
      this.#tasks.set(key, task);
      void task.scan();
    }
  }
}
