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
import type { DocumentPool } from "../documents/pool/document-pool.ts";
import type { Clock } from "../lib/clock.ts";
import { given } from "../lib/given.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { Rounds } from "../lib/rounds.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { SealedNumbers } from "../lib/sealed-numbers.ts";
import type { Service } from "../lib/service.ts";
import { sleep } from "../lib/sleep.ts";
import type { CompanyArrivals, OnInLine } from "../store/cluster/arrivals.ts";
import type { Ownership, TakenCompany } from "../store/cluster/ownership.ts";
import type { Store } from "../store/database/database.ts";
import type { AwaitedReceipts, ReceiptOwner } from "./receipts/awaited-receipts.ts";
import { CompanyLanes } from "./lanes/company-lanes.ts";
import {
  ArrivalFigures,
  type ChannelKind,
  DecisionFigures,
  type DecisionStatistics,
  type ReceivedFiles,
} from "./lanes/decision-figures.ts";
import type { DecisionWatch } from "./lanes/decision-watch.ts";
import { EnteringFiles } from "./entering-files.ts";
import { EntriesInLine } from "./entries-in-line.ts";
import { FilingQueue } from "./places/filing-queue.ts";
import type { FilingThread } from "./places/filing-thread.ts";
import type { HeldFiles, HeldInDetail } from "./lanes/held-files.ts";
import type { Arrival, Inbox, ReservationHolder } from "./places/inbox.ts";
import type { LaneRunner, PipelineSettings } from "./lanes/lane-runner.ts";
import { FilesOfEarlierRun } from "./recovery/files-of-earlier-run.ts";
import type { Locations } from "./places/locations.ts";
import { type ReceiptFiles, soleReceiptFiles } from "./places/receipt-files.ts";
import { startPipelineRounds } from "./pipeline-rounds.ts";
import { PresentFiles } from "./present-files.ts";
import { type LeftReceipts, OrphanedReceipts } from "./recovery/orphaned-receipts.ts";
import { redoFiling, type WaitingEntry } from "./recovery/recovery.ts";
import { createAwaitedReceipts } from "./recovery/rewrite-receipts.ts";
import type { WaitingFile } from "./lanes/waiting-file.ts";

export interface PipelineDependencies {
  readonly store: Pick<Store, "read" | "write" | "writeSoon">;
  readonly documents: Pick<DocumentPool, "prepareFile">;
  readonly locations: Locations;
  /** What hosts see of the numbers of ledger entries. */
  readonly ledgerNumbers: Pick<SealedNumbers, "seal" | "open">;
  readonly settings: () => PipelineSettings;
  /** The code of a company as it was registered. */
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of each decision and receipt; nobody unless given. */
  readonly watch?: DecisionWatch;
  /** Hands over the uploads of the company that are still gathered: what came later by another way must not go before them. */
  readonly flushUploads: (companyId: number) => void;
  /** For one company, where several nodes share the companies out; for all unless given. */
  readonly scope?: PipelineScope;
  /** Between two looks for what nodes that died have left amid a move; 30 seconds unless given. */
  readonly takenLookMs?: number;
}

/** What the pipelines of the companies of one process have in common, and what is of this one's. */
export interface PipelineScope {
  readonly company: TakenCompany;
  readonly ownership: Ownership;
  /** A store that refuses to decide while other nodes have entered files that are not in line. */
  readonly decidingStore: PipelineDependencies["store"];
  /** Of this lease. */
  readonly receiptFiles: ReceiptFiles;
  readonly filingThread: FilingThread;
  readonly decisionFigures: DecisionFigures;
  readonly arrivalFigures: ArrivalFigures;
  /** The company is another node's now: the ledger may lack these files. */
  readonly handOver: (files: readonly WaitingFile[]) => void;
  /** Puts files that other nodes have entered in line. Never rejects. */
  readonly readArrived: () => Promise<void>;
}

/** Files of a company that wait. */
export interface WaitingStatistics {
  readonly companyId: number;
  readonly count: number;
  /** For how long the one waits to be decided that has waited longest, to a second; 0 when none waits. */
  readonly oldestAgeMs: number;
}

/** Figures for monitoring; counts are since the start. Companies that have had no file are left out. */
export interface PipelineStatistics extends DecisionStatistics {
  readonly received: ReadonlyMap<ChannelKind, ReceivedFiles>;
  readonly waiting: readonly WaitingStatistics[];
  readonly unfiled: number;
}

const settlingMs = 20;
/** Repeated failures are logged a few times a minute. */
const failing = { maxLines: 5, windowMs: 60_000 } as const;

/** The pipeline. `start` puts all that the last run has left back in line before anything is decided. */
export class Pipeline implements Inbox, Service {
  readonly name = "inbound";
  readonly #deps: PipelineDependencies;
  readonly #failing: LimitedLog;
  readonly #filing: FilingQueue;
  readonly #awaitedReceipts: AwaitedReceipts;
  readonly #files: PresentFiles;
  readonly #lanes: CompanyLanes;
  readonly #filesOfEarlierRun: FilesOfEarlierRun;
  readonly #entering: EnteringFiles;
  readonly #entries: EntriesInLine;
  #rounds: readonly Rounds[] = [];
  #orphaned: OrphanedReceipts | undefined;
  #isStopped = false;
  /** Nothing is decided before all that was waiting is back in line. */
  #recovering = true;

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
    const { scope } = deps;
    this.#filesOfEarlierRun = new FilesOfEarlierRun(deps.log);
    this.#failing = createLimitedLog(deps.log, failing);
    this.#filing = new FilingQueue({
      store: deps.store,
      failing: this.#failing,
      toLedger: (path) => deps.locations.toLedger(path),
      clock: deps.clock,
      isAwaited: (key) => this.#awaitedReceipts.withholds(key),
      log: deps.log,
      ...given({ thread: scope?.filingThread, ownership: scope?.ownership }),
    });
    this.#awaitedReceipts = createAwaitedReceipts({
      ...deps,
      receiptFiles: scope?.receiptFiles ?? soleReceiptFiles,
      failing: this.#failing,
      idle: (key) => this.#filing.receiptIdle(key),
    });
    const { clock, locations } = deps;
    const [receipts, filesOfEarlierRun] = [this.#awaitedReceipts, this.#filesOfEarlierRun];
    const figures = scope?.arrivalFigures ?? new ArrivalFigures();
    this.#files = new PresentFiles({ clock, locations, receipts, filesOfEarlierRun, figures });
    this.#lanes = new CompanyLanes({
      ...deps,
      store: scope?.decidingStore ?? deps.store,
      figures: scope?.decisionFigures ?? new DecisionFigures(),
      readArrived: scope?.readArrived,
      // Made below.
      arrivals: scope && { mayComeLater: (file) => this.#entries.mayComeLater(file) },
      failing: this.#failing,
      filing: this.#filing,
      // While it recovers, `start` asks once all entries are known.
      made: async (runner) => (this.#recovering ? undefined : await this.#waitForLeftBehind(runner)),
      decided: (file) => this.#files.decided(file),
      left: (file) => this.#files.left(file),
      gone: (file) => this.#files.gone(file),
    });
    this.#entering = new EnteringFiles({
      ...deps,
      failing: this.#failing,
      lanes: this.#lanes,
      fromArrival: (arrival) => this.#files.fromArrival(arrival),
      clearReceipts: (files) => this.#awaitedReceipts.clearAll(files),
      handOver: scope?.handOver,
    });
    this.#entries = new EntriesInLine({
      ...{ ...deps, receipts, files: this.#files, lanes: this.#lanes, companyId: scope?.company.companyId },
    });
  }

  /** Files that wait over all companies. */
  get waitingTotal(): number {
    return this.#files.counts.total;
  }

  /** When a file of each company was applied last, milliseconds UTC. */
  get lastAppliedAt(): ReadonlyMap<number, number> {
    return this.#lanes.figures.lastAppliedAt;
  }

  statistics(): PipelineStatistics {
    const now = this.#deps.clock.now();
    const { decided, refused, receiptDelays } = this.#lanes.figures;
    return {
      ...{ decided, lastAppliedAt: this.lastAppliedAt, refused, receiptDelays, unfiled: this.#filing.length },
      received: this.#files.arrivals.received,
      waiting: this.#lanes.all.map((runner) => ({
        companyId: runner.companyId,
        count: this.waitingCount(runner.companyId),
        oldestAgeMs: Math.max(0, now - (this.#files.counts.undecidedSince(runner.companyId) ?? now)),
      })),
    };
  }

  /** Halted companies and held files, by company. */
  held(): readonly HeldFiles[] {
    return this.#lanes.all.map((runner) => runner.held());
  }

  heldInDetail(): readonly HeldInDetail[] {
    return this.#lanes.all.map((runner) => runner.heldInDetail());
  }

  waitingCount(companyId: number): number {
    return this.#files.counts.waiting(companyId);
  }

  undecidedCount(companyId: number): number {
    return this.#files.counts.undecided(companyId);
  }

  isKnown(path: string): boolean {
    return this.#files.has(path);
  }

  reserve(path: string, file: ReceiptOwner): void {
    this.#files.reserve(path, file);
  }

  release(path: string): void {
    this.#files.release(path);
  }

  holderOf(): ReservationHolder {
    return this;
  }

  clearReceipt(file: ReceiptOwner): Promise<void> {
    return this.#awaitedReceipts.clear(file);
  }

  arriveAll(arrivals: readonly Arrival[]): Promise<void> {
    return this.#entering.enter(arrivals);
  }

  async hold(companyId: number): Promise<() => void> {
    return (await this.#lanes.surely(companyId)).hold();
  }

  /** It has the companies that it is asked about. */
  isElsewhere(): boolean {
    return false;
  }

  isToEnter(): boolean {
    return false;
  }

  enterElsewhere(arrivals: readonly Arrival[]): Promise<void> {
    return this.arriveAll(arrivals);
  }

  keepBack(companyId: number, name: string): () => void {
    const keeping = this.#lanes.surely(companyId).then((runner) => {
      const release = runner.keepBack(name);
      this.#filesOfEarlierRun.stays({ companyId, name });
      return release;
    });
    return () => {
      // It fails only at the end of the process, which needs no release.
      keeping.then(
        (release) => release(),
        () => undefined,
      );
    };
  }

  /** `left`: the receipts of the company that a dead node has left; they are compared with the ledger afterwards. */
  async start(signal: AbortSignal, left?: LeftReceipts): Promise<void> {
    const { scope } = this.#deps;
    const company = scope?.company;
    await redoFiling(this.#deps, this.#filing, this.#files.leftToFile, company?.companyId);
    killPoint("recovery.redone");
    await this.#awaitedReceipts.clearWaiting(signal, company?.companyCode);
    const released = await this.#entries.loadAll(signal);
    // With all that the node before has left. What lies there later may be what others are still to enter: it keeps nothing back.
    if (company !== undefined) await this.#lanes.of(company.companyId);
    this.#files.recovered();
    this.#recovering = false;
    killPoint("recovery.inLine");
    await Promise.all(this.#lanes.all.map((runner) => this.#waitForLeftBehind(runner)));
    for (const release of released) release();
    const receipts = this.#awaitedReceipts;
    const own = { lanes: this.#lanes, entries: this.#entries, receipts, failing: this.#failing };
    const deps = { ...this.#deps, ...own };
    if (scope !== undefined && left !== undefined)
      this.#orphaned = new OrphanedReceipts({ ...deps, ...scope }, left);
    if (!this.#isStopped) this.#rounds = startPipelineRounds(deps, scope, this.#orphaned);
  }

  /** Some of those of a dead node are still to be compared or written. */
  get hasOrphanedReceipts(): boolean {
    return this.#orphaned?.isDone === false;
  }

  /** Puts an entry that is to be tried again in line. */
  retry(entry: WaitingEntry): Promise<void> {
    return this.#entries.retry(entry);
  }

  /** Puts entries that other nodes have made in line, and names those that need be told no more. */
  readArrived(arrivals: CompanyArrivals, onInLine: OnInLine): Promise<void> {
    return this.#entries.readArrived(arrivals, onInLine);
  }

  /** Resolves when no file is on its way to a path that was reserved. */
  async settled(signal: AbortSignal): Promise<void> {
    while (this.#files.hasReserved && !signal.aborted) await sleep(settlingMs, signal);
  }

  /** Another node has the company: nothing more of it is done here. Resolves when nothing is in hand any more. */
  async forget(): Promise<void> {
    await Promise.all([this.#beginStop(), this.#entering.ended(), this.#lanes.stop(), this.#filing.forget()]);
    await this.#awaitedReceipts.end();
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    const rounds = this.#beginStop();
    killPoint("stop.pipeline");
    await this.#entering.ended();
    await this.#lanes.stop();
    killPoint("stop.lanes");
    await this.#filing.close();
    killPoint("stop.filing");
    await rounds.then(() => this.#awaitedReceipts.end());
  }

  /** Resolves when no round is in hand any more. */
  #beginStop(): Promise<unknown> {
    this.#isStopped = true;
    this.#lanes.beginStop();
    this.#entering.stop();
    const rounds = Promise.all(this.#rounds.map((round) => round.stop()));
    this.#filesOfEarlierRun.clear();
    this.#awaitedReceipts.stop();
    return rounds;
  }

  /** The hold is there when this is called; the promise is about what to wait for. */
  async #waitForLeftBehind(runner: LaneRunner): Promise<void> {
    const { companyId, companyCode } = runner;
    const { settleMs, furtherFoldersOf } = this.#deps.settings();
    const inbound = this.#deps.locations.inboundDirectory(companyCode);
    const furtherFolders = furtherFoldersOf?.(companyCode) ?? [];
    const isKnown = (path: string) => this.isKnown(path);
    const searched = { companyId, companyCode, inbound, furtherFolders, settleMs, isKnown };
    await this.#filesOfEarlierRun.waitFor(searched, runner.hold());
  }
}
