/**
 * Takes the candidates of one folder that have settled, and hands them over to the pipeline, portion by portion. A file that
 * cannot be looked at stays, as one that cannot be read: it keeps back the later files of its stop, and no others.
 */
import { type Candidates, lookOf, type SettledFile } from "./candidates.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import { FolderTrouble, RoomTrouble } from "./folder-trouble.ts";
import type { HintedNames } from "./hinted-names.ts";
import { byTime, PortionHold } from "./name-order.ts";
import { looksAt } from "./scan-folder.ts";
import type { StayingFiles } from "./staying-files.ts";
import { takeSettled } from "./take-settled.ts";
import type { TakeThread } from "./take-thread.ts";
import type { TakenFiles } from "./taken-files.ts";

/** With 100,000 files at once, what is known of each is not kept until all are handed over. */
const lookPortion = 2_000;
/** Files that settle within so short a time are handed over together. */
const looksApartMs = 250;

export interface FolderTakerDeps extends FolderDeps {
  /** The thread of the companies' own folders. */
  readonly inboxThread: TakeThread;
  readonly candidates: Candidates;
  readonly staying: StayingFiles;
  readonly hints: Pick<HintedNames, "expectRemoval" | "endRemoval">;
  /** The file has changed since it settled: it is to be looked at from the beginning. */
  readonly changed: (name: string) => void;
}

export class FolderTaker {
  readonly #deps: FolderTakerDeps;
  readonly #folder: WatchedFolder;
  /** What keeps files from being taken. */
  readonly #trouble: FolderTrouble;
  readonly #roomTrouble: RoomTrouble;
  /** Of a further folder: another that hangs must not stand in its way. */
  readonly #ownThread: TakeThread | undefined;
  readonly #handing = new Set<Promise<void>>();
  #isStopped = false;

  constructor(deps: FolderTakerDeps, folder: WatchedFolder) {
    this.#deps = deps;
    this.#folder = folder;
    this.#ownThread = folder.isInbox ? undefined : deps.takeThread();
    this.#trouble = new FolderTrouble(deps.log);
    this.#roomTrouble = new RoomTrouble(deps.log);
  }

  /** When the next candidates are due; undefined while there are none. */
  get nextTakeInMs(): number | undefined {
    const { settleMs } = this.#deps.settings();
    const dueAtMs = this.#deps.candidates.dueAtMs(settleMs);
    if (dueAtMs === undefined) return undefined;
    return Math.max(Math.ceil(dueAtMs - performance.now()), Math.min(looksApartMs, settleMs));
  }

  /** Checks the candidates that are due, in the folder at the real path `at`, and takes those that have settled. */
  async takeDue(at: string | undefined): Promise<void> {
    const { candidates, settings, inbox } = this.#deps;
    const names = byTime(candidates.due(performance.now(), settings().settleMs));
    if (names.length === 0) return;
    if (at === undefined) return this.#forget(names);
    const hold = new PortionHold(() => inbox.hold(this.#folder.companyId));
    try {
      for (let from = 0; from < names.length && !this.#isStopped; from += lookPortion) {
        const portion = await this.#withRoom(names.slice(from, from + lookPortion));
        if (portion.length === 0) continue;
        await hold.before(portion.at(-1), names[from + lookPortion]);
        const settled = await this.#settledOf(at, portion);
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

  /** Takes no more; what is in hand goes on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when what is in hand is handed over. What files keep back waits for the next start (`isEnd`). */
  async close({ isEnd }: { readonly isEnd: boolean }): Promise<void> {
    await Promise.all(this.#handing);
    if (!isEnd) this.#deps.staying.close();
    await this.#ownThread?.close();
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
    const taken = names.filter((name) => this.#deps.staying.isWaitedFor(name));
    this.#forget(names.filter((name) => !taken.includes(name)));
    return taken;
  }

  #forget(names: readonly string[]): void {
    for (const name of names) this.#deps.candidates.drop(name);
  }

  async #settledOf(at: string, names: readonly string[]): Promise<SettledFile[]> {
    const settled: SettledFile[] = [];
    const { disk, candidates, staying, clock, settings } = this.#deps;
    const looks = await looksAt(disk, at, names);
    const nowMs = performance.now();
    for (const [index, name] of names.entries()) {
      const stats = looks[index];
      const moment = { nowMs, now: clock.now() };
      if (stats === undefined || "error" in stats || !stats.isFile()) {
        candidates.drop(name);
        if (stats === undefined || !("error" in stats)) staying.drop(name);
        else staying.failed(name, stats.error, { ...moment, scanMs: settings().scanMs });
        continue;
      }
      const file = candidates.lookAgain(name, lookOf(stats), nowMs);
      if (file === undefined) staying.changing(name, moment);
      else settled.push(file);
    }
    return settled;
  }

  async #handOver(at: string, files: readonly SettledFile[]): Promise<void> {
    const { hints, candidates, inbox, staying, log, changed } = this.#deps;
    for (const { name } of files) hints.expectRemoval(name);
    const taken = await this.#take(at, files);
    const gone = new Set(taken.removed);
    for (const { name } of files) if (!gone.has(name)) hints.endRemoval(name);
    for (const name of taken.changed) changed(name);
    const atMs = performance.now();
    for (const { name, look, isRecovered } of taken.behind) candidates.add(name, look, { atMs, isRecovered });
    if (taken.arrivals.length === 0) return;
    log.debug({ files: taken.arrivals.length }, "files taken");
    // Not waited for: the paths are known to the pipeline from here on, and looks go on while the ledger is written.
    const handing = inbox.arriveAll(taken.arrivals).finally(() => this.#handing.delete(handing));
    this.#handing.add(handing);
    // They are in line, in which they keep their order: those that have waited for them may come.
    for (const name of taken.removed) staying.drop(name);
  }

  async #take(at: string, files: readonly SettledFile[]): Promise<TakenFiles> {
    const isStopped = () => this.#isStopped;
    const deps = { ...this.#deps, thread: this.#ownThread ?? this.#deps.inboxThread };
    try {
      const taken = await takeSettled(deps, { folder: this.#folder, at, files, isStopped });
      this.#trouble.clear();
      return taken;
    } catch (error) {
      // Nothing to be said of a single file; the next scan finds them all again.
      this.#trouble.report(error);
      return { arrivals: [], removed: [], changed: [], behind: [] };
    }
  }
}
