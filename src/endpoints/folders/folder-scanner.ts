/**
 * Finds new files in one folder, by a scan of all of it or of the names of hints, and makes candidates of them. Other
 * entries go to `StayingFiles` or `LeftAlone`.
 */
import { constants, type Stats } from "node:fs";
import { join } from "node:path";
import type { LeftFile } from "../../domain/files/folder-standing.ts";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { assertHeld, unlessHoldOver } from "../../inbound/places/shared-moves.ts";
import { mayShortCallsWait } from "../../lib/files/short-calls.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { AgainLooks, type AgainLooksDeps } from "./again-looks.ts";
import type { Candidates, FileState } from "./candidates.ts";
import { EmptyFolder } from "./empty-folder.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import type { FolderWatchKeeper } from "./folder-watch.ts";
import { LeftAlone } from "./left-alone.ts";
import { type Entry, type ScanVisitor, scanFolder, scanNames } from "./scan-folder.ts";
import { ScanTimes } from "./scan-times.ts";
import type { StayingFiles } from "./staying-files.ts";
import { sweepCopies } from "./sweep-copies.ts";

export interface FolderScannerDeps
  extends AgainLooksDeps,
    Pick<FolderDeps, "inbox" | "settings" | "clock" | "runId" | "mayTakeForMs"> {
  readonly log: Logger;
  readonly candidates: Candidates;
  readonly staying: StayingFiles;
  readonly watch: Pick<FolderWatchKeeper, "keep" | "release">;
}

type Found = Map<string, FileState>;

export class FolderScanner {
  readonly #deps: FolderScannerDeps;
  readonly #folder: WatchedFolder;
  /** When it was looked at. */
  readonly times: ScanTimes;
  readonly #leftAlone: LeftAlone;
  /** For `inbound/` alone, which lies in the state directory: the share of a further folder may not keep the times of a folder. */
  readonly #empty: EmptyFolder | undefined;
  /** Until the first scan is done: what it finds was there when the process started. */
  #isRecovering: boolean;
  readonly #again: AgainLooks;
  #at: string | undefined;

  /** `isStartUp`: files found by the first scan were left by an earlier run. */
  constructor(deps: FolderScannerDeps, folder: WatchedFolder, isStartUp: boolean) {
    this.#deps = deps;
    this.#folder = folder;
    this.#isRecovering = isStartUp && folder.isInbox;
    this.times = new ScanTimes(deps.clock);
    this.#leftAlone = new LeftAlone(deps.log);
    this.#again = new AgainLooks(deps, folder.isInbox);
    this.#empty = folder.isInbox ? new EmptyFolder() : undefined;
  }

  /** The real path of the folder, when the last scan found it. */
  get at(): string | undefined {
    return this.#at;
  }

  /** Entries that are no files, or unfinished ones. */
  leftAlone(): readonly LeftFile[] {
    return this.#leftAlone.list();
  }

  /**
   * False while the folder rests after a long scan, or when nothing can have come since the last one: then a look at its
   * times has told that it is empty, and counts as one at the folder. "unknown" where that look may take seconds:
   * `hasChanged` makes it.
   */
  isDue(): boolean | "unknown" {
    if (this.times.isResting) return false;
    if (this.#again.isDue || this.#deps.candidates.mayLieAside) return true;
    if (this.#empty?.mayAsk(performance.now()) !== true) return true;
    if (mayShortCallsWait()) return "unknown";
    try {
      if (!this.#empty.isUnchanged(this.#deps.disk.statNow(this.#folder.path))) return true;
      this.times.looked();
      return false;
    } catch {
      // The scan meets the same fault, and reports it.
      return true;
    }
  }

  /** Whether something can have come since the last scan. Never rejects: the scan meets the same fault. */
  async hasChanged(): Promise<boolean> {
    const begunMs = this.times.beginLook();
    try {
      if (this.#empty?.isUnchanged(await this.#deps.disk.stat(this.#folder.path)) !== true) return true;
      this.times.looked();
      return false;
    } catch {
      return true;
    } finally {
      this.times.endLook(begunMs);
    }
  }

  /** Scans all entries. Rejects when the folder cannot be read. */
  async scan(): Promise<void> {
    const startedMs = this.times.begin();
    try {
      await this.#scanFrom(startedMs);
      this.times.looked();
    } catch (error) {
      this.#empty?.forget();
      // A watch on what is gone would keep its parent folders under watch.
      if (this.#at === undefined) this.#deps.watch.release();
      throw error;
    } finally {
      this.times.end();
    }
  }

  async #scanFrom(startedMs: number): Promise<void> {
    const { disk, clock, settings, staying, watch } = this.#deps;
    const now = clock.now();
    const folder = await this.#locate();
    watch.keep(folder.at, folder.stats, startedMs);
    await this.#sweep(folder.at);
    const changes = this.#isRecovering ? await this.#changesIn(folder.stats) : undefined;
    const found: Found = new Map();
    const { isEmpty } = await scanFolder(disk, folder.at, this.#visitor(folder.at, found));
    // After the plain names: a file lies under .again because another of its name came before it.
    if (this.#again.isDue) await this.#again.scan(folder.at, this.#visitor(folder.at, found));
    killPoint("folder.scanned");
    this.#add(found, changes);
    const listing = { before: folder.stats, isEmpty, now, nowMs: startedMs };
    await this.#empty?.listed(listing, () => disk.stat(folder.at));
    this.#leftAlone.endScan();
    staying.endScan({ now: clock.now(), giveUpAfterMs: settings().giveUpAfterMs });
    this.#isRecovering = false;
  }

  /** What was set aside gets a name by it. */
  async #sweep(at: string): Promise<void> {
    const { candidates } = this.#deps;
    if (!candidates.mayLieAside) return;
    const isOver = () => this.#deps.mayTakeForMs(this.#folder.companyId) === 0;
    const sweeping = sweepCopies({ ...this.#deps, assertHeld: () => assertHeld({ isOver }) }, at);
    const wasAside = await sweeping.catch(unlessHoldOver);
    // Whoever has the company deals with it.
    if (wasAside === undefined) return;
    candidates.mayLieAside = false;
    if (!wasAside) return;
    // Later files of its stop settle with it, and all are in the order in which they came.
    candidates.clear();
    this.#isRecovering = true;
  }

  async #locate(): Promise<{ at: string; stats: Stats }> {
    const { disk } = this.#deps;
    this.#at = undefined;
    const at = await disk.realpath(this.#folder.path);
    const stats = await disk.stat(at);
    // Before the scan: files that cannot be removed from a folder cannot be taken out of it.
    if (!this.#folder.isInbox) await disk.access(at, constants.W_OK);
    this.#at = at;
    return { at, stats };
  }

  /** A hint names an entry. Whether there may be something new under the name. */
  isNews(name: string): boolean {
    this.#deps.staying.wake(name);
    // Our own uploads and moves, and unfinished files, are no news.
    return !isUnfinishedName(name) && this.#at !== undefined && !this.#isOurs(this.#at, name);
  }

  /** Scans some entries. Rejects when `lstat` fails on all of several. */
  async scanEntries(names: readonly string[]): Promise<void> {
    const at = this.#at;
    // Its copy may have the name already: the scan that deals with that finds all.
    if (at === undefined || this.#deps.candidates.mayLieAside) return;
    const found: Found = new Map();
    const unknown = names.filter((name) => !this.#isOurs(at, name));
    await scanNames(this.#deps.disk, at, unknown, this.#visitor(at, found));
    this.#add(found);
  }

  /** In the pipeline or on its way there. */
  #isOurs(at: string, name: string): boolean {
    const { staying, candidates, inbox } = this.#deps;
    // Asked first, because it also notes that the file is still there.
    if (staying.isResting(name, performance.now()) || candidates.has(name)) return true;
    return this.#folder.isInbox && inbox.isKnown(join(at, name));
  }

  #visitor(at: string, found: Found): ScanVisitor {
    return {
      isOurs: (name) => this.#isOurs(at, name),
      visit: (name, entry) => {
        if (entry.kind === "file") found.set(name, entry.state);
        else this.#passOver(name, entry);
      },
    };
  }

  #passOver(name: string, entry: Exclude<Entry, { readonly kind: "file" }>): void {
    const { clock, settings, staying } = this.#deps;
    const now = clock.now();
    const { scanMs, unfinishedReportAfterMs: reportAfterMs } = settings();
    if (entry.kind === "faulty") staying.failed(name, entry.error, { nowMs: performance.now(), now, scanMs });
    else if (entry.kind === "special") this.#leftAlone.special(name, entry.special, now);
    else this.#leftAlone.unfinished(name, { nowMs: now, modifiedAtMs: entry.modifiedAtMs, reportAfterMs });
  }

  /**
   * The clock of the changes of files, while another node may have left some: they have settled since their last change, and
   * the company waits for them before anything else. Without it they settle from now on.
   */
  async #changesIn({
    dev,
  }: Stats): Promise<{ readonly nowMs: number; readonly readAtMs: number } | undefined> {
    const { changeClock, log } = this.#deps;
    if (changeClock === undefined) return undefined;
    try {
      const clock = await changeClock();
      return clock?.dev === dev ? { nowMs: clock.nowMs, readAtMs: performance.now() } : undefined;
    } catch (error) {
      log.warn(
        { err: error },
        "the clock of the tree cannot be read; files that another node has left settle from now on",
      );
      return undefined;
    }
  }

  /** All checks of one pass count from its end, so that its files are due together; or from the last change of each file. */
  #add(found: Found, changes?: { readonly nowMs: number; readonly readAtMs: number }): void {
    const [atMs, isRecovered] = [performance.now(), this.#isRecovering];
    for (const [name, state] of found) {
      const changedAtMs =
        changes === undefined ? atMs : Math.min(atMs, changes.readAtMs - (changes.nowMs - state.ctimeMs));
      this.#deps.candidates.add(name, state, { atMs: changedAtMs, isRecovered });
    }
  }
}
