/**
 * The endpoint that takes files out of folders: each company's own `inbound/` and further drop folders. Every folder has a
 * task of its own, so that a share that hangs blocks no other. The endpoint reads the list of folders before each round of
 * scans, and starts and ends tasks as companies come and go. The companies have their turns one after the other in the
 * course of a round, each with all its folders together: of two files of a stop in two folders, no scan may find the later
 * a round before the earlier.
 *
 * Where several nodes share a database, each scans the folders of the companies that it has (`begin`, `end`); what another
 * one has left there is recovered then, as at a start.
 */
import type { FolderStanding } from "../../domain/files/folder-standing.ts";
import { aborted } from "../../lib/aborted.ts";
import { syncFileSystems } from "../../lib/files/sync-file-system.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Service } from "../../lib/service.ts";
import { sleep } from "../../lib/sleep.ts";
import { TakenCompanies } from "../../lib/taken-companies.ts";
import {
  type FolderDeps,
  type FolderDisk,
  localFolderDisk,
  systemFolderDisk,
  type WatchedFolder,
} from "./folder-deps.ts";
import { FolderTask, type FolderTaskDeps, type Former } from "./folder-task.ts";
import { type WatchFolder, watchFolder } from "./folder-watch.ts";
import { ScanRounds } from "./scan-rounds.ts";
import { createTakeThread, type TakeThread } from "./take-thread.ts";

export interface FolderEndpointDeps
  extends Pick<
    FolderDeps,
    "inbox" | "settings" | "clock" | "log" | "isIncomplete" | "whyNoRoom" | "changeClock" | "againEveryMs"
  > {
  readonly folders: () => Promise<readonly WatchedFolder[]>;
  /** Whether this process has all companies for ever; otherwise those that it is given. Default true. */
  readonly isSole?: boolean;
  /** Default: for ever. */
  readonly mayTakeForMs?: FolderDeps["mayTakeForMs"];
  /** System calls, hints and the thread of copies: tests put their own in. */
  readonly disk?: FolderDisk;
  readonly watch?: WatchFolder;
  readonly takeThread?: () => TakeThread;
}

/** So long after the end of a company is due, folders that have not answered are given up. */
const lateMs = 2_000;

function keyOf({ companyId, path, isInbox, inboundDirectory }: WatchedFolder): string {
  return JSON.stringify([companyId, path, isInbox, inboundDirectory]);
}

/** The last task of the folder of those that are being closed. */
function formerOf(key: string, closing: ReadonlyMap<FolderTask, Promise<void>>): Former | undefined {
  const last = [...closing].findLast(([task]) => keyOf(task.folder) === key);
  if (last === undefined) return undefined;
  const [task, closed] = last;
  return { times: task.times, closed };
}

/** Give it the inbox of the same process, or files are handed over twice. */
export class FolderEndpoint implements Service {
  readonly name = "folders";
  readonly #deps: FolderEndpointDeps;
  readonly #taskDeps: Omit<FolderTaskDeps, "runId">;
  readonly #tasks = new Map<string, FolderTask>();
  readonly #closing = new Map<FolderTask, Promise<void>>();
  readonly #rounds: ScanRounds<readonly FolderTask[]>;
  readonly #refreshing: ReturnType<typeof loggingFirstFailure>;
  readonly #companies: TakenCompanies;
  #isStartUp = true;
  #isStopped = false;

  constructor(deps: FolderEndpointDeps) {
    this.#deps = deps;
    const { takeThread = createTakeThread, isSole = true, mayTakeForMs = () => undefined } = deps;
    this.#companies = new TakenCompanies({ isSole });
    this.#rounds = new ScanRounds({
      items: () => this.#nextRound(),
      visit: (tasks) => {
        for (const task of tasks) task.scanUnlessResting();
      },
      scanMs: () => deps.settings().scanMs,
    });
    this.#refreshing = loggingFirstFailure(
      deps.log,
      "the list of folders cannot be read; the last one stays in use",
    );
    this.#taskDeps = {
      ...deps,
      log: deps.log.child({ endpoint: "folders" }),
      disk: deps.disk ?? systemFolderDisk,
      localDisk: deps.disk ?? localFolderDisk,
      watch: deps.watch ?? watchFolder,
      syncCopies: (folder) => syncFileSystems([folder]),
      ...{ takeThread, mayTakeForMs, inboxThread: takeThread() },
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

  /** From now on the folders of the company are scanned here. */
  async begin(companyId: number): Promise<void> {
    const folders = await this.#deps.folders();
    this.#companies.take(companyId);
    for (const folder of folders) if (folder.companyId === companyId) this.#open(folder, true);
  }

  /**
   * No more files of the company are taken. Resolves when none is in hand; some time after the deadline without the folders
   * that do not answer: a share that hangs must not keep the company from other nodes, nor from this one.
   */
  async end(companyId: number, deadline: AbortSignal): Promise<void> {
    this.#companies.leave(companyId);
    for (const [key, task] of this.#tasks) {
      if (task.companyId !== companyId) continue;
      this.#tasks.delete(key);
      // As at the end of the process: what stays keeps back what is in line behind it.
      this.#closeTask(task, { isEnd: true });
    }
    const ended = new AbortController();
    const isLate = aborted(deadline).then(() => sleep(lateMs, ended.signal));
    const own = [...this.#closing].filter(([task]) => task.companyId === companyId);
    const { log } = this.#taskDeps;
    await Promise.all(own.map(([task, closed]) => task.closedOrGivenUp(closed, isLate, log)));
    ended.abort();
  }

  /** Reads the list of folders and scans each; resolves when all have been scanned. Files settle after that. */
  async scanNow(): Promise<void> {
    await this.#refresh();
    await Promise.all([...this.#tasks.values()].map((task) => task.scan()));
  }

  /** How the folders of the company stand, its own `inbound/` first. */
  standings(companyId: number): readonly FolderStanding[] {
    const { scanMs } = this.#deps.settings();
    const own = [...this.#tasks.values()].filter((task) => task.companyId === companyId);
    const all = own.map(({ standing }) => ({ ...standing, scanMs }));
    return all.toSorted((one, other) => Number(other.isInbox) - Number(one.isInbox));
  }

  async #close(): Promise<void> {
    this.#isStopped = true;
    this.#rounds.stop();
    for (const task of this.#tasks.values()) this.#closeTask(task, { isEnd: true });
    await Promise.all(this.#closing.values());
    await this.#taskDeps.inboxThread.close();
  }

  async #nextRound(): Promise<readonly (readonly FolderTask[])[]> {
    await this.#refresh();
    return [...Map.groupBy(this.#tasks.values(), ({ companyId }) => companyId).values()];
  }

  #refresh(): Promise<void> {
    return this.#refreshing(async () => this.#useFolders(await this.#deps.folders()));
  }

  #useFolders(folders: readonly WatchedFolder[]): void {
    if (this.#isStopped) return;
    const wanted = new Map(this.#companies.of(folders).map((folder) => [keyOf(folder), folder]));
    for (const [key, task] of this.#tasks) {
      if (wanted.has(key)) continue;
      this.#tasks.delete(key);
      this.#closeTask(task, { isEnd: false });
    }
    for (const folder of wanted.values()) this.#open(folder, this.#isStartUp);
  }

  #closeTask(task: FolderTask, how: { readonly isEnd: boolean }): void {
    const closed = task.close(how).finally(() => this.#closing.delete(task));
    this.#closing.set(task, closed);
  }

  #open(folder: WatchedFolder, isStartUp: boolean): void {
    const key = keyOf(folder);
    if (this.#isStopped || this.#tasks.has(key)) return;
    const runId = this.#companies.runIdOf(folder.companyId);
    const task = new FolderTask(
      { ...this.#taskDeps, runId },
      folder,
      isStartUp,
      formerOf(key, this.#closing),
    );
    this.#tasks.set(key, task);
    void task.scan();
  }
}
