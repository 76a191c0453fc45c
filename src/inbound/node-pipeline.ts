/**
 * The inbound pipeline of one of several nodes: a `Pipeline` for each company whose work this node does, from the claim of
 * its lease on; files of all other companies go into the ledger, for the node that has them.
 *
 *   take:   redo the filing, waiting entries in line, files that lie in the folders ─> own
 *   leave:  own ─> leaving: what is on its way to a path arrives ─> group in hand, filing ─> gone
 *           fenced, or given up at the deadline ─> nothing is begun any more ─> gone
 *
 * What survives a crash is what survives one of the pipeline, for the node that takes the company over.
 */
import { aborted } from "../lib/aborted.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Service } from "../lib/service.ts";
import type { ArrivalTable, CompanyArrivals, OnInLine } from "../store/cluster/arrivals.ts";
import {
  type CompanyWork,
  fencedStore,
  NotEndedError,
  type Ownership,
  type TakenCompany,
} from "../store/cluster/ownership.ts";
import type { Store } from "../store/database/database.ts";
import { EnteredElsewhere } from "./entered-elsewhere.ts";
import { ArrivalFigures, DecisionFigures } from "./lanes/decision-figures.ts";
import type { HeldFiles, HeldInDetail } from "./lanes/held-files.ts";
import { toWaitingFile } from "./lanes/waiting-file.ts";
import { FilingThread } from "./places/filing-thread.ts";
import type { Arrival, Inbox, ReservationHolder } from "./places/inbox.ts";
import { receiptsOfOthers, SharedReceiptFiles } from "./places/receipt-files.ts";
import { isHeldBy, LeavingPipelines } from "./leaving-pipelines.ts";
import { Pipeline, type PipelineDependencies, type PipelineStatistics } from "./pipeline.ts";
import type { ReceiptOwner } from "./receipts/awaited-receipts.ts";
import { listLeftReceipts } from "./recovery/orphaned-receipts.ts";
import { acceptRetries } from "./recovery/recovery.ts";
import { syncReceipts } from "./recovery/rewrite-receipts.ts";

export interface NodePipelineDeps extends Omit<PipelineDependencies, "store" | "scope"> {
  readonly store: Pick<Store, "read" | "write" | "writeSoon">;
  /** Files that this node enters for others. */
  readonly arrivals: Pick<ArrivalTable, "enter">;
  readonly ownership: Ownership;
  /** Puts all files in line that other nodes have entered for the company up to now. */
  readonly lookForArrivals: (companyId: number) => Promise<void>;
}

/** What others ask of the pipeline, of one process for all companies or of a node. */
export type InboundPipeline = Inbox &
  Service &
  Pick<Pipeline, "statistics" | "held" | "heldInDetail" | "lastAppliedAt" | "waitingTotal">;

const retryPollMs = 1_000;
const failing = { maxLines: 5, windowMs: 60_000 } as const;
const nothing = (): void => undefined;

export class NodePipeline implements InboundPipeline, CompanyWork {
  readonly name = "inbound";
  readonly #deps: NodePipelineDeps;
  readonly #failing: LimitedLog;
  readonly #elsewhere: EnteredElsewhere;
  readonly #filingThread = new FilingThread();
  readonly #figures = { decisionFigures: new DecisionFigures(), arrivalFigures: new ArrivalFigures() };
  readonly #own = new Map<number, Pipeline>();
  readonly #leaving = new LeavingPipelines();
  #retries: NodeJS.Timeout | undefined;

  constructor(deps: NodePipelineDeps) {
    this.#deps = deps;
    this.#failing = createLimitedLog(deps.log, failing);
    this.#elsewhere = new EnteredElsewhere({
      ...{ ...deps, failing: this.#failing, receipts: receiptsOfOthers(this.#filingThread) },
    });
  }

  async start(): Promise<void> {
    this.#retries = setInterval(() => void this.#takeRetries(), retryPollMs).unref();
  }

  /** After all companies have been left. */
  async stop(): Promise<void> {
    clearInterval(this.#retries);
    await this.#elsewhere.stop();
    await this.#filingThread.close();
  }

  async take(company: TakenCompany, lost: AbortSignal): Promise<void> {
    if (company.companyId === 0) return;
    const pipeline = this.#pipelineOf(company);
    // Known from here on, so that `leave` ends it however far it comes.
    this.#leaving.set(company.companyId, pipeline);
    await pipeline.start(lost, await listLeftReceipts(this.#deps, company));
    lost.throwIfAborted();
    this.#leaving.delete(company.companyId);
    this.#own.set(company.companyId, pipeline);
  }

  async leave(
    company: TakenCompany,
    { isFenced }: { readonly isFenced: boolean },
    deadline: AbortSignal,
  ): Promise<void> {
    const { companyId } = company;
    const pipeline = this.#own.get(companyId) ?? this.#leaving.get(companyId);
    if (pipeline === undefined) return;
    this.#own.delete(companyId);
    this.#leaving.set(companyId, pipeline);
    try {
      if (!isFenced) await pipeline.settled(deadline);
      if (isFenced || deadline.aborted) {
        await this.#leaving.giveUp(pipeline);
        throw new NotEndedError();
      }
      await pipeline.stop();
      await Promise.race([syncReceipts(this.#deps, company, deadline), aborted(deadline)]);
      if (deadline.aborted || pipeline.hasOrphanedReceipts) throw new NotEndedError();
    } finally {
      this.#leaving.delete(companyId);
    }
  }

  isTakingOver(companyId: number): boolean {
    return this.#own.get(companyId)?.hasOrphanedReceipts === true;
  }

  /** Puts files that other nodes have entered in line, and names those that need be told no more; none before the company is taken. */
  async readArrived(arrivals: CompanyArrivals, onInLine: OnInLine): Promise<void> {
    await this.#own.get(arrivals.companyId)?.readArrived(arrivals, onInLine);
  }

  get waitingTotal(): number {
    return this.#sum((pipeline) => pipeline.waitingTotal);
  }

  get lastAppliedAt(): ReadonlyMap<number, number> {
    return this.#figures.decisionFigures.lastAppliedAt;
  }

  statistics(): PipelineStatistics {
    const { decided, refused, receiptDelays, lastAppliedAt } = this.#figures.decisionFigures;
    const own = [...this.#own.values()].map((pipeline) => pipeline.statistics());
    return {
      ...{ decided, refused, receiptDelays, lastAppliedAt },
      received: this.#figures.arrivalFigures.received,
      waiting: own.flatMap(({ waiting }) => waiting),
      unfiled: own.reduce((sum, { unfiled }) => sum + unfiled, 0),
    };
  }

  held(): readonly HeldFiles[] {
    return [...this.#own.values()].flatMap((pipeline) => pipeline.held());
  }

  heldInDetail(): readonly HeldInDetail[] {
    return [...this.#own.values()].flatMap((pipeline) => pipeline.heldInDetail());
  }

  waitingCount(companyId: number): number {
    return this.#own.get(companyId)?.waitingCount(companyId) ?? 0;
  }

  undecidedCount(companyId: number): number {
    return this.#own.get(companyId)?.undecidedCount(companyId) ?? 0;
  }

  /** Also from the moment on at which the lease is over, whatever is still to end here: others may decide by then. */
  isElsewhere(companyId: number): boolean {
    return !this.#own.has(companyId) || this.#isLost(companyId);
  }

  isToEnter(arrival: Arrival): boolean {
    return !isHeldBy(this.holderOf(arrival.companyId), arrival);
  }

  isKnown(path: string): boolean {
    return [...this.#own.values(), ...this.#leaving.values()].some((pipeline) => pipeline.isKnown(path));
  }

  reserve(path: string, file: ReceiptOwner): void {
    this.#own.get(file.companyId)?.reserve(path, file);
  }

  release(path: string): void {
    for (const pipeline of [...this.#own.values(), ...this.#leaving.values()])
      if (pipeline.isKnown(path)) pipeline.release(path);
  }

  holderOf(companyId: number): ReservationHolder | undefined {
    return this.isElsewhere(companyId) ? undefined : this.#own.get(companyId);
  }

  /** Of a company that another node has, it is removed when the file is entered, and by that node when it reads the entry. */
  async clearReceipt(file: ReceiptOwner): Promise<void> {
    await this.#own.get(file.companyId)?.clearReceipt(file);
  }

  async arriveAll(arrivals: readonly Arrival[]): Promise<void> {
    const byCompany = Map.groupBy(arrivals, ({ companyId }) => companyId);
    await Promise.all([...byCompany].map(([companyId, own]) => this.#arriveOf(companyId, own)));
  }

  async enterElsewhere(arrivals: readonly Arrival[]): Promise<void> {
    const byCompany = Map.groupBy(arrivals, ({ companyId }) => companyId);
    await Promise.all([...byCompany].map(([companyId, own]) => this.#enterOf(companyId, own)));
  }

  /** Those that were reserved before the company began to leave are waited for there. */
  async #enterOf(companyId: number, arrivals: readonly Arrival[]): Promise<void> {
    const isAwaited = (arrival: Arrival) => !this.#isLost(companyId) && this.#leaving.waitsFor(arrival);
    const awaited = arrivals.filter(isAwaited);
    const others = arrivals.filter((arrival) => !awaited.includes(arrival));
    await this.#leaving.get(companyId)?.arriveAll(awaited);
    // Another node may have the company by then: what was handed on is not in the ledger yet.
    const handedOn = awaited.filter(({ path }) => this.#elsewhere.isEntering(path));
    await this.#elsewhere.enter([...others, ...handedOn].map(this.#toEntry));
    for (const arrival of others) this.#figures.arrivalFigures.count(arrival);
    // Not in another one that the company has here by now: it may have reserved the same path for a scan.
    for (const pipeline of [this.#own.get(companyId), this.#leaving.get(companyId)])
      for (const { path, reservation } of others)
        if (pipeline !== undefined && pipeline === reservation?.holder && pipeline.isKnown(path))
          pipeline.release(path);
  }

  /** Whether the lease of the company is over. */
  #isLost(companyId: number): boolean {
    return this.#deps.ownership.fenceOf(companyId) === undefined;
  }

  async hold(companyId: number): Promise<() => void> {
    return (await this.#own.get(companyId)?.hold(companyId)) ?? nothing;
  }

  keepBack(companyId: number, name: string): () => void {
    return this.#own.get(companyId)?.keepBack(companyId, name) ?? nothing;
  }

  readonly #toEntry = (arrival: Arrival) =>
    toWaitingFile({
      ...arrival,
      userName: arrival.userName ?? null,
      receivedAt: Math.trunc(arrival.receivedAt ?? this.#deps.clock.now()),
      sequence: 0,
    });

  async #arriveOf(companyId: number, arrivals: readonly Arrival[]): Promise<void> {
    const own = this.#own.get(companyId);
    const pipeline = own ?? this.#leaving.get(companyId);
    const isFor = (arrival: Arrival) =>
      own === undefined ? this.#leaving.waitsFor(arrival) : isHeldBy(own, arrival);
    const { mine = [], others = [] } = Object.groupBy(arrivals, (one) => (isFor(one) ? "mine" : "others"));
    if (others.length > 0) this.#elsewhere.enterSurely(others.map(this.#toEntry));
    await pipeline?.arriveAll(mine);
  }

  #sum(count: (pipeline: Pipeline) => number): number {
    return [...this.#own.values()].reduce((sum, pipeline) => sum + count(pipeline), 0);
  }

  #pipelineOf(company: TakenCompany): Pipeline {
    const { store, ownership, lookForArrivals, ...rest } = this.#deps;
    // Of the lease that the node has now.
    const fence = ownership.fenceOf(company.companyId);
    const receiptFiles = new SharedReceiptFiles(this.#filingThread, () => fence?.goodForMs?.() ?? 0);
    return new Pipeline({
      ...rest,
      store: fencedStore(store, ownership),
      scope: {
        ...{ company, ownership, receiptFiles, ...this.#figures, filingThread: this.#filingThread },
        decidingStore: fencedStore(store, ownership, { isOrdered: true }),
        handOver: (files) => this.#elsewhere.enterSurely(files),
        readArrived: () => lookForArrivals(company.companyId),
      },
    });
  }

  async #takeRetries(): Promise<void> {
    const { store, ownership } = this.#deps;
    try {
      await acceptRetries(
        fencedStore(store, ownership),
        (id) => this.#own.has(id),
        async (entry) => await this.#own.get(entry.companyId)?.retry(entry),
      );
    } catch (error) {
      this.#failing.warn({ err: error }, "files to be retried could not be read; retrying");
    }
  }
}
