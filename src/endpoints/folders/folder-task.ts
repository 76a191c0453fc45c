/**
 * One watched folder.
 *
 *   scan (each scanMs) ─┐
 *                       ├─> candidates ──look, settleMs later──> settled ──all together──> pipeline
 *   hint (inotify) ─────┘        ^                        │
 *                                └─── changed since ──────┘
 *
 * The scan is the truth: it goes over all entries and looks at those that nobody knows; an empty `inbound/` is listed again
 * when its times have changed, and once a minute. A hint only makes it quicker, by a look at the named entries. Scan, looks and hints run one after the other. Nothing is kept over a restart: files that
 * had not been handed over are found by the first scan.
 */
import { constants, type Stats } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../../lib/logs/log.ts";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { againFolderName } from "../../inbound/places/place-arrival.ts";
import { systemCodeOf } from "../../lib/errors.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { Candidates, type Look, lookOf, type SettledFile } from "./candidates.ts";
import { EmptyFolder } from "./empty-folder.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import { FolderTrouble, RoomTrouble } from "./folder-trouble.ts";
import { FolderWatchKeeper } from "./folder-watch-keeper.ts";
import { LeftAlone } from "./left-alone.ts";
import { byTime, PortionHold } from "./name-order.ts";
import { type Entry, lookAtEntries, looksAt, scanFolder } from "./scan-folder.ts";
import { StayingFiles } from "./staying-files.ts";
import { sweepCopies } from "./sweep-copies.ts";
import { type TakenFiles, takeSettled } from "./take-settled.ts";
import type { TakeThread } from "./take-thread.ts";

/** With 100,000 files at once, what is known of each is not kept until all are handed over. */
const lookPortion = 2_000;
/** Hints are collected for so long before the named entries are looked at. */
const hintPauseMs = 100;
/** With more names than this a scan is the cheaper look. */
const maxHints = 1_000;
/** Files that settle within so short a time are handed over together. */
const looksApartMs = 250;
/** A scan is followed by a rest of so many times its own duration. */
const restFactor = 5;
export interface FolderTaskDeps extends FolderDeps {
  /** The thread of the companies' own folders. */
  readonly inboxThread: TakeThread;
}

export class FolderTask {
  readonly #deps: FolderTaskDeps;
  readonly #folder: WatchedFolder;
  readonly #log: Logger;
  readonly #watch: FolderWatchKeeper;
  /** What keeps the folder from being read, and what keeps its files from being taken. */
  readonly #trouble: FolderTrouble;
  readonly #takingTrouble: FolderTrouble;
  readonly #roomTrouble: RoomTrouble;
  readonly #leftAlone: LeftAlone;
  readonly #staying: StayingFiles;
  /** Of a further folder: another that hangs must not stand in its way. */
  readonly #ownThread: TakeThread | undefined;
  readonly #thread: TakeThread;
  readonly #candidates = new Candidates();
  /** Of `inbound/` alone: its disk is local, and the times of others tell nothing sure. */
  readonly #empty: EmptyFolder | undefined;
  readonly #hinted = new Set<string>();
  /** Sources that we remove, each of which the watch tells of once. */
  readonly #removed = new Set<string>();
  readonly #handing = new Set<Promise<void>>();
  /** What was there when the process started, until the first scan is done. */
  #isRecovering: boolean;
  #isFirstScan = true;
  /** The real path of the folder, when the last scan found it. */
  #at: string | undefined;
  #serial: Promise<void> = Promise.resolve();
  #queuedScan: Promise<void> | undefined;
  #restUntilMs = 0;
  #hintTimer: NodeJS.Timeout | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `isStartUp`: files found by the first scan were left by an earlier run. */
  constructor(deps: FolderTaskDeps, folder: WatchedFolder, isStartUp: boolean) {
    this.#deps = folder.isInbox ? { ...deps, disk: deps.localDisk } : deps;
    this.#folder = folder;
    this.#isRecovering = isStartUp && folder.isInbox;
    this.#ownThread = folder.isInbox ? undefined : deps.takeThread();
    this.#thread = this.#ownThread ?? deps.inboxThread;
    this.#empty = folder.isInbox ? new EmptyFolder() : undefined;
    this.#log = deps.log.child({ company: folder.companyCode, folder: folder.path });
    this.#trouble = new FolderTrouble(this.#log);
    this.#takingTrouble = new FolderTrouble(this.#log);
    this.#roomTrouble = new RoomTrouble(this.#log);
    this.#leftAlone = new LeftAlone(this.#log);
    this.#staying = new StayingFiles({
      log: this.#log,
      keepBack: (name) => deps.inbox.keepBack(folder.companyId, name),
    });
    this.#watch = new FolderWatchKeeper({
      watch: deps.watch,
      log: this.#log,
      hinted: (name) => this.#hint(name),
    });
  }

  get companyId(): number {
    return this.#folder.companyId;
  }

  /** A full scan that begins after this call. Never rejects. */
  scan(): Promise<void> {
    this.#queuedScan ??= this.#inTurn(async () => {
      this.#queuedScan = undefined;
      await this.#scan();
    });
    return this.#queuedScan;
  }

  /** A scan, unless the last one took so long that the next has to wait, or nothing can have come since. */
  scanUnlessResting(): void {
    const isDue = this.#queuedScan === undefined && performance.now() >= this.#restUntilMs;
    if (isDue && !this.#isSurelyEmpty()) void this.scan();
  }

  #isSurelyEmpty(): boolean {
    if (this.#empty?.mayAsk(performance.now()) !== true) return false;
    try {
      return this.#empty.isUnchanged(this.#deps.disk.statNow(this.#folder.path));
    } catch {
      // The scan meets the same fault, and reports it.
      return false;
    }
  }

  /** Resolves when what is in hand is handed over; may be called twice. What files keep back waits for the next start (`isEnd`). */
  async close({ isEnd }: { readonly isEnd: boolean }): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#hintTimer);
    clearTimeout(this.#lookTimer);
    await this.#watch.close();
    await this.#serial;
    await Promise.all(this.#handing);
    if (!isEnd) this.#staying.close();
    await this.#ownThread?.close();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#serial.then(async () => {
      if (this.#isClosed) return;
      try {
        await work();
        this.#scheduleLook();
      } catch (error) {
        this.#trouble.report(error);
      }
    });
    this.#serial = turn;
    return turn;
  }

  async #scan(): Promise<void> {
    const startedMs = performance.now();
    this.#restUntilMs = Number.POSITIVE_INFINITY;
    try {
      const now = this.#deps.clock.now();
      const folder = await this.#locate();
      this.#watch.keep(folder.at, folder.stats, startedMs);
      const found = new Map<string, Look>();
      const isOurs = (name: string) => this.#isOurs(folder.at, name);
      const visit = (name: string, entry: Entry) => this.#visit(name, entry, found);
      const { isEmpty } = await scanFolder(this.#deps.disk, folder.at, { isOurs, visit });
      // After the plain names: a file lies under .again because another of its name came before it.
      if (this.#isFirstScan && this.#folder.isInbox) await this.#scanLeftovers(folder.at, found);
      killPoint("folder.scanned");
      this.#add(found);
      const listing = { before: folder.stats, isEmpty, now, nowMs: startedMs };
      await this.#empty?.listed(listing, () => this.#deps.disk.stat(folder.at));
      // What the watch has not told of by now it does not tell.
      this.#removed.clear();
      this.#leftAlone.endScan();
      this.#staying.endScan({
        now: this.#deps.clock.now(),
        giveUpAfterMs: this.#deps.settings().giveUpAfterMs,
      });
      this.#trouble.clear();
      this.#isFirstScan = false;
      this.#isRecovering = false;
    } catch (error) {
      this.#empty?.forget();
      // A watch on what is gone would keep its parent folders under watch.
      if (this.#at === undefined) this.#watch.release();
      throw error;
    } finally {
      const endedMs = performance.now();
      this.#restUntilMs = endedMs + restFactor * (endedMs - startedMs);
    }
  }

  async #locate(): Promise<{ at: string; stats: Stats }> {
    const { disk } = this.#deps;
    this.#at = undefined;
    const at = await disk.realpath(this.#folder.path);
    const stats = await disk.stat(at);
    // Before anything is looked at: files that cannot be removed from a folder cannot be taken out of it.
    if (!this.#folder.isInbox) await disk.access(at, constants.W_OK);
    this.#at = at;
    return { at, stats };
  }

  /** What a crash left in the dot-folders of `inbound/`. */
  async #scanLeftovers(at: string, found: Map<string, Look>): Promise<void> {
    await sweepCopies(this.#deps, at);
    const inAgain = (name: string) => `${againFolderName}/${name}`;
    try {
      await scanFolder(this.#deps.disk, join(at, againFolderName), {
        isOurs: (name) => this.#isOurs(at, inAgain(name)),
        visit: (name, entry) => this.#visit(inAgain(name), entry, found),
      });
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") throw error;
    }
  }

  /** In the pipeline or on its way there. */
  #isOurs(at: string, name: string): boolean {
    // Asked first, because it also notes that the file is still there.
    if (this.#staying.isResting(name, performance.now()) || this.#candidates.has(name)) return true;
    return this.#folder.isInbox && this.#deps.inbox.isKnown(join(at, name));
  }

  #visit(name: string, entry: Entry, found: Map<string, Look>): void {
    const nowMs = this.#deps.clock.now();
    const { unfinishedReportAfterMs } = this.#deps.settings();
    if (entry.kind === "file") found.set(name, entry.look);
    else if (entry.kind === "faulty") this.#cannotLook(name, entry.error);
    else if (entry.kind === "special") this.#leftAlone.special(name, entry.special, nowMs);
    else {
      const { modifiedAtMs } = entry;
      this.#leftAlone.unfinished(name, { nowMs, modifiedAtMs, reportAfterMs: unfinishedReportAfterMs });
    }
  }

  /** It stays, as one that cannot be read: it keeps back the later files of its stop, and no others. */
  #cannotLook(name: string, error: unknown): void {
    const { scanMs } = this.#deps.settings();
    this.#staying.failed(name, error, { nowMs: performance.now(), now: this.#deps.clock.now(), scanMs });
  }

  /** All looks of one pass count from its end, so that its files are due together. */
  #add(found: ReadonlyMap<string, Look>): void {
    const at = { atMs: performance.now(), isRecovered: this.#isRecovering };
    for (const [name, look] of found) this.#candidates.add(name, look, at);
  }

  #hint(name: string | null): void {
    if (this.#isClosed) return;
    if (name === null) {
      this.scanUnlessResting();
      return;
    }
    if (this.#removed.delete(name)) return;
    this.#staying.wake(name);
    // Our own uploads and moves, and files that are not finished: nothing to be found.
    if (isUnfinishedName(name) || this.#at === undefined || this.#isOurs(this.#at, name)) return;
    if (this.#hinted.size <= maxHints) this.#hinted.add(name);
    this.#hintTimer ??= setTimeout(() => {
      this.#hintTimer = undefined;
      if (this.#hinted.size <= maxHints) void this.#inTurn(() => this.#followHints());
      else this.#scanInsteadOfHints();
    }, hintPauseMs);
  }

  #scanInsteadOfHints(): void {
    this.#hinted.clear();
    this.scanUnlessResting();
  }

  async #followHints(): Promise<void> {
    const at = this.#at;
    const names = [...this.#hinted];
    this.#hinted.clear();
    if (at === undefined) return;
    const found = new Map<string, Look>();
    const unknown = names.filter((name) => !this.#isOurs(at, name));
    await lookAtEntries(this.#deps.disk, at, unknown, {
      visit: (name, entry) => this.#visit(name, entry, found),
    });
    this.#add(found);
  }

  #scheduleLook(): void {
    clearTimeout(this.#lookTimer);
    const { settleMs } = this.#deps.settings();
    const dueAtMs = this.#candidates.dueAtMs(settleMs);
    if (dueAtMs === undefined || this.#isClosed) return;
    const pauseMs = Math.max(Math.ceil(dueAtMs - performance.now()), Math.min(looksApartMs, settleMs));
    this.#lookTimer = setTimeout(() => void this.#inTurn(() => this.#look()), pauseMs);
  }

  async #look(): Promise<void> {
    const at = this.#at;
    const names = byTime(this.#candidates.due(performance.now(), this.#deps.settings().settleMs));
    if (names.length === 0) return;
    if (at === undefined) return this.#forget(names);
    const hold = new PortionHold(() => this.#deps.inbox.hold(this.#folder.companyId));
    try {
      for (let from = 0; from < names.length && !this.#isClosed; from += lookPortion) {
        const portion = await this.#withRoom(names.slice(from, from + lookPortion));
        if (portion.length === 0) continue;
        await hold.before(portion.at(-1), names[from + lookPortion]);
        const settled = await this.#lookAgain(at, portion);
        if (settled.length > 0) await this.#handOver(at, settled);
        hold.after();
      }
    } catch (error) {
      // Found again by the scan that finds the folder well.
      this.#forget(names);
      throw error;
    } finally {
      hold.end();
    }
  }

  /**
   * Those that there is room for. The others stay where they are; the scans find them again. One that others wait for is
   * taken all the same: where all that wait are behind it there would never be room.
   */
  async #withRoom(names: readonly string[]): Promise<readonly string[]> {
    const { companyId: id, companyCode: code } = this.#folder;
    const why = await this.#deps.whyNoRoom({ id, code });
    if (why === undefined) {
      this.#roomTrouble.clear();
      return names;
    }
    this.#roomTrouble.report(why);
    const taken = names.filter((name) => this.#staying.isWaitedFor(name));
    this.#forget(names.filter((name) => !taken.includes(name)));
    return taken;
  }

  #forget(names: readonly string[]): void {
    for (const name of names) this.#candidates.drop(name);
  }

  async #lookAgain(at: string, names: readonly string[]): Promise<SettledFile[]> {
    const settled: SettledFile[] = [];
    const { disk } = this.#deps;
    const looks = await looksAt(disk, at, names);
    const nowMs = performance.now();
    for (const [index, name] of names.entries()) {
      const stats = looks[index];
      if (stats === undefined || "error" in stats || !stats.isFile()) {
        this.#candidates.drop(name);
        if (stats !== undefined && "error" in stats) this.#cannotLook(name, stats.error);
        else this.#staying.drop(name);
        continue;
      }
      const file = this.#candidates.lookAgain(name, lookOf(stats), nowMs);
      if (file === undefined) this.#staying.changing(name, { nowMs, now: this.#deps.clock.now() });
      else settled.push(file);
    }
    return settled;
  }

  async #handOver(at: string, files: readonly SettledFile[]): Promise<void> {
    for (const { name } of files) this.#removed.add(name);
    const { arrivals, removed, changed, behind } = await this.#take(at, files);
    const gone = new Set(removed);
    for (const { name } of files) if (!gone.has(name)) this.#removed.delete(name);
    for (const name of changed) this.#hint(name);
    const atMs = performance.now();
    for (const { name, look, isRecovered } of behind) this.#candidates.add(name, look, { atMs, isRecovered });
    if (arrivals.length === 0) return;
    this.#log.debug({ files: arrivals.length }, "files taken");
    // Not waited for: the paths are known to the pipeline from here on, and looks go on while the ledger is written.
    const handing = this.#deps.inbox.arriveAll(arrivals).finally(() => this.#handing.delete(handing));
    this.#handing.add(handing);
    // They are in line, in which they keep their order: those that have waited for them may come.
    for (const name of removed) this.#staying.drop(name);
  }

  async #take(at: string, files: readonly SettledFile[]): Promise<TakenFiles> {
    const isStopped = () => this.#isClosed;
    const deps = { ...this.#deps, thread: this.#thread, staying: this.#staying };
    try {
      const taken = await takeSettled(deps, { folder: this.#folder, at, files, isStopped });
      this.#takingTrouble.clear();
      return taken;
    } catch (error) {
      // Nothing to be said of a single file; the next scan finds them all again.
      this.#takingTrouble.report(error);
      return { arrivals: [], removed: [], changed: [], behind: [] };
    }
  }
}
