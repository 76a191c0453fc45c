/**
 * One watched folder.
 *
 *   scan (each scanMs) ─┐
 *                       ├─> candidates ──check, settleMs later─> settled ──all together──> pipeline
 *   hint (inotify) ─────┘        ^                        │
 *                                └─── changed since ──────┘
 *
 * The scan is the truth: it reads all entries and checks those that are new. An empty `inbound/` is scanned again when its
 * times have changed, and once a minute. A hint only makes it quicker, by a scan of the named entries. Scans, checks and
 * hints run one after the other: `FolderScanner` finds candidates, `FolderTaker` takes those that have settled. All of it
 * is in memory: after a restart the first scan finds the files that had not been handed over.
 */
import { type FolderStanding, type LeftFile, mostLeftFiles } from "../../domain/files/folder-standing.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { Candidates } from "./candidates.ts";
import type { WatchedFolder } from "./folder-deps.ts";
import { FolderScanner } from "./folder-scanner.ts";
import { FolderTaker, type FolderTakerDeps } from "./folder-taker.ts";
import { FolderTrouble } from "./folder-trouble.ts";
import { FolderWatchKeeper } from "./folder-watch.ts";
import { HintedNames } from "./hinted-names.ts";
import { StayingFiles } from "./staying-files.ts";

export type FolderTaskDeps = Omit<FolderTakerDeps, "candidates" | "staying" | "hints" | "changed">;

const remedy = "see to the share that it lies on: files in it are taken when it answers";

const nothing = (): void => undefined;

/** A task of the same folder that is closed, and whose last call has not come back yet. */
export interface Former {
  readonly times: Pick<FolderStanding, "lookedAt" | "scanningSince">;
  /** Resolves when it has. */
  readonly closed: Promise<void>;
}

/**
 * A task that was given up amid a call has no files any more, and the pipeline is as if it were not there: that has forgotten
 * what the task had told it, and may know the same places from another task of the same folder.
 */
function untilGivenUp(deps: FolderTaskDeps, isGivenUp: () => boolean): FolderTaskDeps {
  const { inbox } = deps;
  return {
    ...deps,
    mayTakeForMs: (companyId) => (isGivenUp() ? 0 : deps.mayTakeForMs(companyId)),
    inbox: {
      isKnown: (path) => inbox.isKnown(path),
      clearReceipt: (arrival) => inbox.clearReceipt(arrival),
      arriveAll: (arrivals) => inbox.arriveAll(arrivals),
      reserve: (path, file) => (isGivenUp() ? undefined : inbox.reserve(path, file)),
      release: (path) => (isGivenUp() ? undefined : inbox.release(path)),
      keepBack: (companyId, name) => (isGivenUp() ? nothing : inbox.keepBack(companyId, name)),
      hold: async (companyId) => (isGivenUp() ? nothing : await inbox.hold(companyId)),
    },
  };
}

export class FolderTask {
  readonly companyId: number;
  readonly folder: WatchedFolder;
  readonly #staying: StayingFiles;
  readonly #watch: FolderWatchKeeper;
  readonly #trouble: FolderTrouble;
  readonly #hints: HintedNames;
  readonly #scanner: FolderScanner;
  readonly #taker: FolderTaker;
  #serial: Promise<void>;
  /** A scan, or a look whether one is due. */
  readonly #queued: { scan: Promise<void> | undefined; isLook: boolean } = { scan: undefined, isLook: false };
  #takeTimer: NodeJS.Timeout | undefined;
  #end: "none" | "closed" | "given up" = "none";

  #former: Former | undefined;

  /**
   * `isStartUp`: files found by the first scan were left by an earlier run. `former`: this one makes no call before that one's
   * last has come back; each that hangs keeps one of the few threads that the folders of all companies have.
   */
  constructor(given: FolderTaskDeps, folder: WatchedFolder, isStartUp: boolean, former?: Former) {
    const deps = untilGivenUp(given, () => this.#end === "given up");
    const { companyId, companyCode, path, isInbox } = folder;
    const log = deps.log.child({ company: companyCode, folder: path });
    this.companyId = companyId;
    this.folder = folder;
    this.#former = former;
    const ended = former?.closed.catch(nothing).then(() => {
      this.#former = undefined;
    });
    this.#serial = ended ?? Promise.resolve();
    this.#trouble = new FolderTrouble(log, deps.clock);
    this.#watch = new FolderWatchKeeper({ watch: deps.watch, log, hinted: (name) => this.#hint(name) });
    this.#hints = new HintedNames({
      ready: () => void this.#inTurn(() => this.#scanner.scanEntries(this.#hints.take())),
      tooMany: () => this.scanUnlessResting(),
    });
    const disk = isInbox ? deps.localDisk : deps.disk;
    const candidates = new Candidates(folder);
    const staying = new StayingFiles({ log, keepBack: (name) => deps.inbox.keepBack(companyId, name) });
    this.#staying = staying;
    const shared = { ...deps, disk, log, candidates, staying };
    this.#scanner = new FolderScanner({ ...shared, watch: this.#watch }, folder, isStartUp);
    this.#taker = new FolderTaker(
      { ...shared, hints: this.#hints, changed: (name) => this.#hint(name) },
      folder,
    );
  }

  /** A full scan that begins after this call. Never rejects. */
  scan(): Promise<void> {
    this.#queued.scan ??= this.#inTurn(() => {
      this.#queued.scan = undefined;
      return this.#scan();
    });
    return this.#queued.scan;
  }

  /** A scan, unless the folder rests after a long one, or nothing can have come since. */
  scanUnlessResting(): void {
    if (this.#queued.scan !== undefined || this.#queued.isLook) return;
    const isDue = this.#scanner.isDue();
    if (isDue === true) void this.scan();
    if (isDue !== "unknown") return;
    this.#queued.isLook = true;
    void this.#inTurn(async () => {
      this.#queued.isLook = false;
      if (await this.#scanner.hasChanged()) await this.#scan();
    });
  }

  /** When it was looked at last, and since when it is: by the task before it as long as that has not ended. */
  get times(): Former["times"] {
    return this.#former?.times ?? this.#scanner.times;
  }

  /** As the last scan has found it. */
  get standing(): Omit<FolderStanding, "scanMs"> {
    const { companyId, path, isInbox } = this.folder;
    const { lookedAt, scanningSince } = this.times;
    const left = [...this.#staying.list(), ...this.#scanner.leftAlone()];
    // What nobody has noted the time of waits for another of them.
    const sinceOf = ({ since = Number.POSITIVE_INFINITY }: LeftFile) => since;
    const files = left.toSorted((one, other) => sinceOf(one) - sinceOf(other)).slice(0, mostLeftFiles);
    return {
      ...{ companyId, path, isInbox, lookedAt, scanningSince, files },
      ...{ fault: this.#trouble.current ?? this.#taker.trouble, more: left.length - files.length },
    };
  }

  /** Resolves when the files in hand are handed over. Safe to call twice. `isEnd`: see `FolderTaker.close`. */
  async close({ isEnd }: { readonly isEnd: boolean }): Promise<void> {
    if (this.#end === "none") this.#end = "closed";
    this.#taker.stop();
    this.#hints.close();
    clearTimeout(this.#takeTimer);
    await this.#watch.close();
    await this.#serial;
    await this.#taker.close({ isEnd });
  }

  /**
   * Resolves when `closed`, a call of `close`, has; or as soon as it is late and the folder still does not answer: what comes
   * of that one call then is nothing, since the company may have come back meanwhile. The company's own `inbound/` is waited
   * for in any case: it lies on the tree, and without that nothing of a company can be done at all.
   */
  async closedOrGivenUp(
    closed: Promise<void>,
    isLate: Promise<void>,
    log: Pick<Logger, "warn">,
  ): Promise<void> {
    if (this.folder.isInbox) return await closed;
    const isClosed = await Promise.race([closed.then(() => true), isLate.then(() => false)]);
    if (isClosed) return;
    const { path: folder, companyCode: company } = this.folder;
    if (this.#end !== "given up")
      log.warn({ company, folder, remedy }, "a folder does not answer; its company goes on without it");
    this.#end = "given up";
    await this.#taker.handedOver();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#serial.then(async () => {
      if (this.#end !== "none") return;
      try {
        await work();
        this.#scheduleTake();
      } catch (error) {
        this.#trouble.report(error);
      }
    });
    this.#serial = turn;
    return turn;
  }

  async #scan(): Promise<void> {
    await this.#scanner.scan();
    this.#hints.forgetRemovals();
    this.#trouble.clear();
  }

  #hint(name: string | null): void {
    if (this.#end !== "none") return;
    if (name === null) this.scanUnlessResting();
    else if (!this.#hints.endRemoval(name) && this.#scanner.isNews(name)) this.#hints.add(name);
  }

  #scheduleTake(): void {
    clearTimeout(this.#takeTimer);
    const inMs = this.#taker.nextTakeInMs;
    if (inMs === undefined || this.#end !== "none") return;
    this.#takeTimer = setTimeout(() => void this.#inTurn(() => this.#taker.takeDue(this.#scanner.at)), inMs);
  }
}
