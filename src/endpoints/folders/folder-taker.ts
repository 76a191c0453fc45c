/**
 * Takes the candidates of one folder that have settled, and hands them over to the pipeline, portion by portion. A file on
 * which `lstat` fails stays, like one that cannot be read: it keeps back the later files of its stop, and no others.
 */
import type { Stats } from "node:fs";
import { join } from "node:path";
import type { FolderStanding } from "../../domain/files/folder-standing.ts";
import { type Candidates, fileStateOf, type SettledFile } from "./candidates.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import { FolderTrouble, RoomTrouble } from "./folder-trouble.ts";
import type { HintedNames } from "./hinted-names.ts";
import { statEntries } from "./scan-folder.ts";
import type { StayingFiles } from "./staying-files.ts";
import { takeSettled } from "./take-settled.ts";
import type { TakeThread } from "./take-thread.ts";
import type { TakenFiles } from "./taken-files.ts";

/** Files checked and handed over together: with 100,000 files at once, memory does not hold the state of all. */
const checkPortion = 2_000;
/** Files that settle within so short a time are handed over together. */
const checksApartMs = 250;

/** `CCYYMMDD_HHMMSS.xml`. */
const timeLength = 19;

function timeOf(name: string): string {
  return name.slice(-timeLength);
}

/**
 * Names in the order of their times; those without a time stand anywhere. So the order of each stop holds, and the pipeline
 * can begin with the first portion while the taker still copies the rest.
 */
function byTime(names: readonly string[]): string[] {
  const groups = Map.groupBy(names, timeOf);
  return [...groups.keys()].sort().flatMap((time) => groups.get(time) ?? []);
}

/** Holds the pipeline while the files of one second go over in several portions: only their content tells their order. */
class PortionHold {
  readonly #hold: () => Promise<() => void>;
  #release: (() => void) | undefined;
  #goesOn = false;

  constructor(hold: () => Promise<() => void>) {
    this.#hold = hold;
  }

  /** To be called before the portion that ends with `last`; the next one begins with `next`. */
  async before(last: string | undefined, next: string | undefined): Promise<void> {
    this.#goesOn = last !== undefined && next !== undefined && timeOf(last) === timeOf(next);
    if (this.#goesOn) this.#release ??= await this.#hold();
  }

  /** To be called after each portion. */
  after(): void {
    if (!this.#goesOn) this.end();
  }

  end(): void {
    this.#release?.();
    this.#release = undefined;
  }
}

export interface FolderTakerDeps extends FolderDeps {
  /** The thread of the companies' own folders. */
  readonly inboxThread: TakeThread;
  readonly candidates: Candidates;
  readonly staying: StayingFiles;
  readonly hints: Pick<HintedNames, "expectRemoval" | "endRemoval">;
  /** The file has changed since it settled: it has to settle again. */
  readonly changed: (name: string) => void;
}

export class FolderTaker {
  readonly #deps: FolderTakerDeps;
  readonly #folder: WatchedFolder;
  readonly #trouble: FolderTrouble;
  readonly #roomTrouble: RoomTrouble;
  /** Of a further folder: another folder that hangs must not block it. */
  readonly #ownThread: TakeThread | undefined;
  readonly #handing = new Set<Promise<void>>();
  #isStopped = false;

  constructor(deps: FolderTakerDeps, folder: WatchedFolder) {
    this.#deps = deps;
    this.#folder = folder;
    this.#ownThread = folder.isInbox ? undefined : deps.takeThread();
    this.#trouble = new FolderTrouble(deps.log, deps.clock);
    this.#roomTrouble = new RoomTrouble(deps.log);
  }

  /** Why no file can be taken out of the folder; undefined when they can. */
  get trouble(): FolderStanding["fault"] {
    return this.#trouble.current;
  }

  /** A scan is to sweep first what lies aside. */
  get #mayTake(): boolean {
    return !this.#isStopped && !this.#deps.candidates.mayLieAside;
  }

  /** When the next candidates are due; undefined while there are none. */
  get nextTakeInMs(): number | undefined {
    if (!this.#mayTake) return undefined;
    const { settleMs } = this.#deps.settings();
    const dueAtMs = this.#deps.candidates.dueAtMs(settleMs);
    if (dueAtMs === undefined) return undefined;
    return Math.max(Math.ceil(dueAtMs - performance.now()), Math.min(checksApartMs, settleMs));
  }

  /** Checks the candidates that are due, in the folder at the real path `at`, and takes those that have settled. */
  async takeDue(at: string | undefined): Promise<void> {
    const { candidates, settings, inbox } = this.#deps;
    if (!this.#mayTake) return;
    const names = byTime(candidates.due(performance.now(), settings().settleMs));
    if (names.length === 0) return;
    if (at === undefined) return this.#forget(names);
    const hold = new PortionHold(() => inbox.hold(this.#folder.companyId));
    try {
      for (let from = 0; from < names.length && this.#mayTake; from += checkPortion) {
        const unknown = this.#withoutKnown(at, names.slice(from, from + checkPortion));
        const portion = await this.#withRoom(unknown);
        if (portion.length === 0) continue;
        await hold.before(portion.at(-1), names[from + checkPortion]);
        const settled = await this.#settledOf(at, portion);
        if (settled.length > 0) await this.#handOver(at, settled);
        hold.after();
      }
    } catch (error) {
      // The next scan that can read the folder finds them again.
      this.#forget(names);
      throw error;
    } finally {
      hold.end();
    }
  }

  /** Takes no more files; those in hand go on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Resolves when the files in hand are handed over. At the end of the process (`isEnd`) files that stay go on keeping back others. */
  async close({ isEnd }: { readonly isEnd: boolean }): Promise<void> {
    await this.handedOver();
    if (!isEnd) this.#deps.staying.close();
    await this.#ownThread?.close();
  }

  /** Resolves when all that was taken is handed over. */
  async handedOver(): Promise<void> {
    await Promise.all(this.#handing);
  }

  /**
   * The files that there is room for; later scans find the others again. A file that others wait for is taken all the same:
   * when all waiting files are behind it, there would never be room.
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

  /** Another node may have entered a file since it was found: it waits in the pipeline then. */
  #withoutKnown(at: string, names: readonly string[]): readonly string[] {
    const { isInbox } = this.#folder;
    if (!isInbox) return names;
    const isKnown = (name: string) => this.#deps.inbox.isKnown(join(at, name));
    const { known = [], others = [] } = Object.groupBy(names, (name) => (isKnown(name) ? "known" : "others"));
    this.#forget(known);
    return others;
  }

  #forget(names: readonly string[]): void {
    for (const name of names) this.#deps.candidates.drop(name);
  }

  async #settledOf(at: string, names: readonly string[]): Promise<SettledFile[]> {
    const settled: SettledFile[] = [];
    const { disk, candidates, staying, clock, settings } = this.#deps;
    const found = new Map<string, Stats | undefined>();
    const failed = await statEntries(disk, at, names, (name, stats) => found.set(name, stats));
    const moment = { nowMs: performance.now(), now: clock.now() };
    for (const { name, error } of failed) {
      candidates.drop(name);
      staying.failed(name, error, { ...moment, scanMs: settings().scanMs });
    }
    for (const name of names.filter((one) => found.has(one))) {
      const stats = found.get(name);
      if (stats?.isFile() !== true) {
        candidates.drop(name);
        staying.drop(name);
        continue;
      }
      const file = candidates.checkAgain(name, fileStateOf(stats), moment.nowMs);
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
    for (const { name, state, isRecovered } of taken.behind)
      candidates.add(name, state, { atMs, isRecovered });
    if (taken.arrivals.length === 0) return;
    log.debug({ files: taken.arrivals.length }, "files taken");
    if (this.#isLost()) {
      // Another node finds them in their places, and may have decided about them already.
      for (const { path } of taken.arrivals) inbox.release(path);
      return;
    }
    // Not awaited: the pipeline knows the paths from here on, and checks go on while the ledger is written.
    const handing = inbox.arriveAll(taken.arrivals).finally(() => this.#handing.delete(handing));
    this.#handing.add(handing);
    // They are in line, in their order: the files that waited for them may follow.
    for (const name of taken.removed) staying.drop(name);
  }

  /** Whether another node takes the files of the company. */
  #isLost(): boolean {
    return this.#deps.mayTakeForMs(this.#folder.companyId) === 0;
  }

  async #take(at: string, files: readonly SettledFile[]): Promise<TakenFiles> {
    const isStopped = () => this.#isStopped || this.#isLost();
    const deps = { ...this.#deps, thread: this.#ownThread ?? this.#deps.inboxThread };
    try {
      const taken = await takeSettled(deps, { folder: this.#folder, at, files, isStopped });
      this.#trouble.clear();
      this.#deps.candidates.noteBetween(taken);
      return taken;
    } catch (error) {
      // No single file is at fault; the next scan finds them all again.
      this.#trouble.report(error);
      this.#deps.candidates.left(files.map(({ name }) => name));
      this.#deps.candidates.noteBetween({ isLeftInAgain: true, isLeftAside: true });
      return { arrivals: [], removed: [], changed: [], behind: [] };
    }
  }
}
