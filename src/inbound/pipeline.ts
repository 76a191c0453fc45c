/**
 * The inbound pipeline: complete → entered in the ledger → read → decided in order → filed away, with its receipt.
 *
 *   arrive ──> waiting ──> applied | refused | duplicate | superseded ──> filed
 *                 ^                 │
 *                 └── file retry ───┘ (refused, superseded)
 *
 * What survives a crash, and what start-up does with it:
 *   file under its final name, no entry     the folder scan enters it
 *   entry waiting                           the file is read and decided about
 *   entry decided, not filed                the move and the receipt are done (again)
 *   entry decided and filed                 nothing
 */
import { basename, dirname } from "node:path";
import type { DocumentPool } from "../documents/document-pool.ts";
import type { DecidedState } from "../domain/files/file-state.ts";
import type { Clock } from "../lib/clock.ts";
import { killPoint } from "../lib/kill-point.ts";
import { createLimitedLog, type LimitedLog } from "../lib/limited-log.ts";
import type { Logger } from "../lib/log.ts";
import type { SealedNumbers } from "../lib/sealed-numbers.ts";
import type { Service } from "../lib/service.ts";
import type { Store } from "../store/database/database.ts";
import type { LedgerEntry } from "../store/ledger/files.ts";
import { type AwaitedReceipts, type ReceiptOwner, removeReceiptsOfWaiting } from "./awaited-receipts.ts";
import { enterSurely } from "./enter-files.ts";
import { FileCounts } from "./file-counts.ts";
import { createFilingQueue, type FilingQueue } from "./filing-queue.ts";
import { type HeldInDetail, logHeld } from "./held-files.ts";
import type { Arrival, Inbox } from "./inbox.ts";
import { KnownPaths } from "./known-paths.ts";
import { LaneRunner, type PipelineSettings } from "./lane-runner.ts";
import { LeftBehind } from "./left-behind.ts";
import type { Locations } from "./locations.ts";
import type { PipelineStatistics } from "./pipeline-statistics.ts";
import { acceptRetries, redoFiling, waitingEntries } from "./recovery.ts";
import { isCutInAgain, isInAgain } from "./place-arrival.ts";
import { releaseOf } from "./release-of.ts";
import { createAwaitedReceipts } from "./restore-receipt.ts";
import { toWaitingFile, type WaitingFile, type WaitingFileSource } from "./waiting-file.ts";

export interface PipelineDependencies {
  readonly store: Pick<Store, "read" | "write" | "writeSoon">;
  readonly documents: Pick<DocumentPool, "prepareFile">;
  readonly locations: Locations;
  /** What hosts see of the numbers of ledger entries. */
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly settings: () => PipelineSettings;
  /** The code of a company as it was registered. */
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Pipeline extends Inbox, Service {
  statistics(): PipelineStatistics;
  heldInDetail(): readonly HeldInDetail[];
  /** Files that wait over all companies. */
  readonly waitingTotal: number;
}

const entryGroup = 256;
const entryPauseMs = 1_000;
const retryPollMs = 1_000;
const heldReportMs = 60_000;
/** What goes on failing is logged a few times a minute. */
const failing = { maxLines: 5, windowMs: 60_000 } as const;
/** More than an earlier run can have left in `inbound/`. */
const recoveredSequences = 2 ** 24;

class InboundPipeline implements Pipeline {
  readonly name = "inbound";
  readonly #deps: PipelineDependencies;
  readonly #filing: FilingQueue;
  readonly #lanes = new Map<number, Promise<LaneRunner>>();
  readonly #runners = new Map<number, LaneRunner>();
  /** Paths of files in the pipeline: scans leave them alone. */
  readonly #knownPaths = new KnownPaths();
  /** Paths that are about to appear. Kept apart: giving one back must not forget a file that waits under that name. */
  readonly #reservedPaths = new KnownPaths();
  readonly #awaitedReceipts: AwaitedReceipts;
  readonly #leftBehind: LeftBehind;
  readonly #counts = new FileCounts();
  readonly #decided = new Map<LaneRunner, Map<DecidedState, number>>();
  readonly #entering = new Set<Promise<void>>();
  #sequence = 0;
  #lastReceivedAt = 0;
  /** Of files that an earlier run has left: after those of the ledger, before those of this run. */
  #recoveredSequence = 0;
  readonly #failing: LimitedLog;
  #poll: NodeJS.Timeout | undefined;
  #heldReport: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Nothing is decided before all that was waiting is back in line. */
  #recovering = true;

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
    this.#leftBehind = new LeftBehind(deps.log);
    this.#failing = createLimitedLog(deps.log, failing);
    this.#filing = createFilingQueue({
      store: deps.store,
      failing: this.#failing,
      toLedger: (path) => deps.locations.toLedger(path),
      isAwaited: (key) => this.#awaitedReceipts.withholds(key),
      log: deps.log,
    });
    this.#awaitedReceipts = createAwaitedReceipts({
      ...deps,
      failing: this.#failing,
      idle: (key) => this.#filing.receiptIdle(key),
    });
  }

  get waitingTotal(): number {
    return this.#counts.total;
  }

  statistics(): PipelineStatistics {
    const runners = [...this.#runners.values()];
    return {
      waiting: runners.map((runner) => ({
        company: runner.companyCode,
        count: this.waitingCount(runner.companyId),
      })),
      decided: runners.flatMap((runner) =>
        [...(this.#decided.get(runner) ?? [])].map(([state, count]) => ({
          company: runner.companyCode,
          state,
          count,
        })),
      ),
      unfiled: this.#filing.length,
      held: runners.map((runner) => runner.held()),
    };
  }

  heldInDetail(): readonly HeldInDetail[] {
    return [...this.#runners.values()].map((runner) => runner.heldInDetail());
  }

  waitingCount(companyId: number): number {
    return this.#counts.waiting(companyId);
  }

  undecidedCount(companyId: number): number {
    return this.#counts.undecided(companyId);
  }

  isKnown(path: string): boolean {
    return this.#knownPaths.has(path) || this.#reservedPaths.has(path);
  }

  reserve(path: string, file: ReceiptOwner): void {
    this.#reservedPaths.add(dirname(path), basename(path));
    this.#awaitedReceipts.reserve(path, file);
  }

  release(path: string): void {
    this.#reservedPaths.delete(dirname(path), basename(path));
    this.#awaitedReceipts.release(path);
  }

  clearReceipt(file: ReceiptOwner): Promise<void> {
    return this.#awaitedReceipts.clear(file);
  }

  /** Not an async function: that would keep all arrivals in memory until the last is entered. */
  arriveAll(arrivals: readonly Arrival[]): Promise<void> {
    killPoint("inbox.arriving");
    const files = arrivals.map((arrival) => this.#toWaiting(arrival));
    const entering = this.#enter(files).finally(() => this.#entering.delete(entering));
    this.#entering.add(entering);
    return entering;
  }

  async hold(companyId: number): Promise<() => void> {
    return (await this.#runnerSurely(companyId)).hold();
  }

  keepBack(companyId: number, name: string): () => void {
    const keeping = this.#runnerSurely(companyId).then((runner) => {
      const release = runner.keepBack(name);
      this.#leftBehind.stays({ companyId, name });
      return release;
    });
    return releaseOf(keeping);
  }

  async start(signal: AbortSignal): Promise<void> {
    const released: (() => void)[] = [];
    await redoFiling(this.#deps, this.#filing, this.#knownPaths);
    killPoint("recovery.redone");
    await removeReceiptsOfWaiting(this.#deps.locations);
    for await (const entry of waitingEntries(this.#deps.store)) {
      signal.throwIfAborted();
      // Of a name that is cut in `.again` the files there do not tell the receipt.
      if (isCutInAgain(entry.name) && isInAgain(entry.source)) await this.clearReceipt(entry);
      const file = this.#fromLedger(entry);
      const runner = await this.#runnerFor(file.companyId);
      if (runner.size === 0) released.push(runner.hold());
      runner.add(file);
      killPoint("recovery.loaded");
    }
    this.#recoveredSequence = this.#sequence;
    this.#sequence += recoveredSequences;
    this.#recovering = false;
    killPoint("recovery.inLine");
    await Promise.all([...this.#runners.values()].map((runner) => this.#waitForLeftBehind(runner)));
    for (const release of released) release();
    this.#poll = setInterval(() => void this.#takeRetries(), retryPollMs);
    this.#poll.unref();
    this.#heldReport = setInterval(() => {
      for (const runner of this.#runners.values()) logHeld(this.#deps.log, runner.held());
    }, heldReportMs);
    this.#heldReport.unref();
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    clearInterval(this.#poll);
    clearInterval(this.#heldReport);
    this.#leftBehind.clear();
    this.#awaitedReceipts.stop();
    killPoint("stop.pipeline");
    await Promise.all([...this.#entering]);
    for (const runner of this.#runners.values()) await runner.stop();
    killPoint("stop.lanes");
    await this.#filing.close();
    killPoint("stop.filing");
  }

  #toWaiting(arrival: Arrival): WaitingFile {
    this.#counts.came(arrival.companyId);
    const file = this.#remember({
      ...arrival,
      userName: arrival.userName ?? null,
      receivedAt: this.#receivedAtOf(arrival),
      sequence: this.#nextSequence(arrival.channel),
    });
    // Not before: from its reservation on there is a file of the name on its way.
    this.release(arrival.path);
    return file;
  }

  /** When the file came, not when it is handed over: start-up knows no other time of the files that it finds. */
  #receivedAtOf({ receivedAt }: Arrival): number {
    if (receivedAt !== undefined) return Math.trunc(receivedAt);
    this.#lastReceivedAt = Math.max(this.#lastReceivedAt, this.#deps.clock.now());
    return this.#lastReceivedAt;
  }

  /** What an earlier run has answered came before all that comes now, whenever the scan finds it. */
  #nextSequence(channel: Arrival["channel"]): number {
    if (channel !== "recovered") {
      this.#sequence += 1;
      return this.#sequence;
    }
    this.#recoveredSequence += 1;
    return this.#recoveredSequence;
  }

  #fromLedger(entry: LedgerEntry): WaitingFile {
    const path = this.#deps.locations.fromLedger(entry.source);
    this.#counts.came(entry.companyId);
    this.#sequence = Math.max(this.#sequence, entry.id);
    this.#lastReceivedAt = Math.max(this.#lastReceivedAt, entry.receivedAt);
    const channel = entry.channel as WaitingFile["channel"];
    return this.#remember({ ...entry, path, channel, sequence: entry.id });
  }

  #remember(source: WaitingFileSource): WaitingFile {
    const file = toWaitingFile(source);
    this.#knownPaths.add(file.directory, file.fileName);
    this.#awaitedReceipts.add(file);
    this.#leftBehind.arrived(source);
    return file;
  }

  #runnerFor(companyId: number): Promise<LaneRunner> {
    const known = this.#lanes.get(companyId);
    if (known !== undefined) return known;
    const made = this.#makeRunner(companyId);
    this.#lanes.set(companyId, made);
    made.catch(() => this.#lanes.delete(companyId));
    return made;
  }

  async #makeRunner(companyId: number): Promise<LaneRunner> {
    const code = await this.#deps.companyCodeOf(companyId);
    const decided = new Map<DecidedState, number>();
    const runner = new LaneRunner(
      { id: companyId, code },
      {
        ...this.#deps,
        failing: this.#failing,
        filing: this.#filing,
        onDecided: (file, state) => {
          this.#notAwaited(file);
          decided.set(state, (decided.get(state) ?? 0) + 1);
        },
        onGone: (file) => {
          this.#notAwaited(file);
          this.#forget(file);
        },
        onFiled: (file) => this.#forget(file),
      },
    );
    this.#decided.set(runner, decided);
    this.#runners.set(companyId, runner);
    // While it recovers, `start` asks once all entries are known.
    if (!this.#recovering) await this.#waitForLeftBehind(runner);
    return runner;
  }

  /** The hold is there when this is called; the promise is about what to wait for. */
  async #waitForLeftBehind(runner: LaneRunner): Promise<void> {
    const { companyId, companyCode } = runner;
    const { settleMs, furtherFoldersOf } = this.#deps.settings();
    const inbound = this.#deps.locations.inboundDirectory(companyCode);
    const furtherFolders = furtherFoldersOf?.(companyCode) ?? [];
    const isKnown = (path: string) => this.isKnown(path);
    const searched = { companyId, companyCode, inbound, furtherFolders, settleMs, isKnown };
    await this.#leftBehind.waitFor(searched, runner.hold());
  }

  /** It is decided about, or gone. */
  #notAwaited(file: WaitingFile): void {
    this.#awaitedReceipts.delete(file);
    this.#counts.decided(file.companyId);
  }

  #forget(file: WaitingFile): void {
    this.#knownPaths.delete(file.directory, file.fileName);
    this.#counts.left(file.companyId);
  }

  /** The lane of the company, however often the store must be asked. Rejects only at the end of the process. */
  async #runnerSurely(companyId: number): Promise<LaneRunner> {
    for (;;) {
      try {
        return await this.#runnerFor(companyId);
      } catch (error) {
        if (this.#isStopped) throw error;
        this.#failing.warn({ err: error, companyId }, "the company cannot be looked up; trying again");
        await new Promise((resolve) => setTimeout(resolve, entryPauseMs));
      }
    }
  }

  /** Puts the files in line at once and enters them in the ledger; they are ready only with their ledger ids. */
  async #enter(files: readonly WaitingFile[]): Promise<void> {
    const holds = new Map<LaneRunner, () => void>();
    try {
      for (const file of files) {
        const runner = this.#runners.get(file.companyId) ?? (await this.#runnerSurely(file.companyId));
        if (files.length > 1 && !holds.has(runner)) holds.set(runner, runner.hold());
        runner.add(file);
      }
      for (let at = 0; at < files.length; at += entryGroup) {
        await this.#enterGroup(files.slice(at, at + entryGroup));
      }
    } catch (error) {
      // Only at the end of the process: the files lie under their final names, and the next start finds them.
      this.#deps.log.error({ err: error, files: files.length }, "files were not entered in the ledger");
    } finally {
      for (const release of holds.values()) release();
    }
  }

  async #enterGroup(files: readonly WaitingFile[]): Promise<void> {
    const { store, locations } = this.#deps;
    const isStopped = () => this.#isStopped;
    await this.#awaitedReceipts.clearAll(files);
    await enterSurely({ store, locations, failing: this.#failing, isStopped }, files);
    for (const file of files) this.#runners.get(file.companyId)?.wake();
  }

  async #takeRetries(): Promise<void> {
    if (this.#recovering || this.#isStopped) return;
    try {
      for (const entry of await acceptRetries(this.#deps.store)) {
        const runner = await this.#runnerFor(entry.companyId);
        runner.add(this.#fromLedger(entry));
        killPoint("retry.inLine");
      }
    } catch (error) {
      this.#failing.warn({ err: error }, "files to be tried again could not be taken; trying again");
    }
  }
}

/** Makes the pipeline. `start` puts everything that was left by the last run back in line before anything is decided. */
export function createPipeline(deps: PipelineDependencies): Pipeline {
  return new InboundPipeline(deps);
}
