/**
 * Brings the waiting files of one company to their decision, in order.
 *
 *   in line ──read (ahead, in parallel)──> read ──decided about (in order, in groups)──> decided ──> filing queue
 *      ^  └────────────┬───────────────────────┴─────┐
 *      └──────────── stalled <───────────────────────┘   cannot be read, is not whole yet, or cannot be decided about now
 *
 * Nothing of this is kept but the ledger entry: after a crash a file is waiting, or it is decided. A stalled file keeps
 * back the later files of its stops and no others (`stalled-files.ts`). When nothing at all can be decided, because the
 * disk is full for instance, all files stay in line and the front is tried again each second.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { DocumentPool } from "../../documents/pool/document-pool.ts";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import type { DecidedState } from "../../domain/files/file-state.ts";
import type { Clock } from "../../lib/clock.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import type { DecidedFile, DecisionRules } from "./decide-file.ts";
import { type DecisionOutcome, decideGroup, type ReadyFile } from "./decide-group.ts";
import { logDecision } from "./decision-log.ts";
import { receiptKeyOf } from "../receipts/awaited-receipts.ts";
import type { FilingQueue } from "../places/filing-queue.ts";
import type { HeldFiles, HeldInDetail } from "./held-files.ts";
import { Lane } from "./lane.ts";
import { LaneTroubles } from "./lane-troubles.ts";
import type { Locations } from "../places/locations.ts";
import { growingPause, type LookAgainSettings, type PutAside, putAside } from "./look-again.ts";
import { toFilingTask } from "../places/places.ts";
import { ReadAhead } from "./read-ahead.ts";
import { StalledFiles } from "./stalled-files.ts";
import { stopKeysOf } from "./stop-keys.ts";
import { takeGroup } from "./take-group.ts";
import { pathOf, toWaitingFile, type WaitingFile } from "./waiting-file.ts";

export interface PipelineSettings extends LookAgainSettings {
  /** Files decided in one commit at most. */
  readonly groupSize: number;
  readonly maxFileBytes: number;
  /** Until what the store did not take is tried again; grows for single files. */
  readonly storePauseMs: number;
  rulesFor(companyCode: string): DecisionRules;
  /** Folders besides `inbound/` whose files are taken; none unless given. */
  furtherFoldersOf?(companyCode: string): readonly string[];
}

export interface LaneRunnerDependencies {
  readonly store: Pick<Store, "read" | "write">;
  readonly documents: Pick<DocumentPool, "prepareFile">;
  readonly filing: Pick<FilingQueue, "add" | "length">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly settings: () => PipelineSettings;
  readonly clock: Clock;
  readonly log: Logger;
  /** For what may be many lines of one kind. */
  readonly failing: LimitedLog;
  readonly onDecided: (file: WaitingFile, state: DecidedState) => void;
  /** There is nothing to decide about: the file is gone. */
  readonly onGone: (file: WaitingFile) => void;
  /** The file is decided and filed: its path may be used again. */
  readonly onFiled: (file: WaitingFile) => void;
}

/** Decided files whose filing has not caught up; beyond it no more are decided, so that receipts stay close behind. */
const maxUnfiled = 1024;
/** Beyond it the store is taken to be at fault for all files, and none of them is put aside any more. */
const maxHeldByStore = 1_000;

export class LaneRunner {
  readonly companyId: number;
  readonly companyCode: string;
  readonly #deps: LaneRunnerDependencies;
  readonly #lane = new Lane<WaitingFile>();
  readonly #stalled: StalledFiles;
  readonly #reading: ReadAhead;
  readonly #stopping = new AbortController();
  readonly #troubles: LaneTroubles;
  #holds = 0;
  #running: Promise<void> | undefined;
  #hasNews = false;

  constructor(company: { id: number; code: string }, deps: LaneRunnerDependencies) {
    this.companyId = company.id;
    this.companyCode = company.code;
    this.#deps = deps;
    // What has been put aside is read where it is: it keeps back others until it can go on.
    this.#stalled = new StalledFiles((file) => void this.#reading.prepare(file));
    this.#troubles = new LaneTroubles(company.code, this.#stalled);
    this.#reading = new ReadAhead({
      documents: deps.documents,
      lane: this.#lane,
      companyCode: company.code,
      log: deps.log,
      maxFileBytes: () => deps.settings().maxFileBytes,
      takes: (file, prepared) => this.#takes(file, prepared),
      onRead: () => this.wake(),
    });
  }

  get size(): number {
    return this.#lane.size + this.#stalled.size;
  }

  /** What does not go on, and why. */
  held(): HeldFiles {
    return this.#troubles.held(this.#lane.size, this.#deps.settings().giveUpAfterMs);
  }

  /** The same, file by file. */
  heldInDetail(): HeldInDetail {
    return this.#troubles.heldInDetail(this.#lane.size, this.#deps.settings().giveUpAfterMs);
  }

  add(file: WaitingFile): void {
    if (this.#isStopped) return;
    this.#lane.add(file);
    this.wake();
  }

  /** Nothing is decided until the hold is given back: more files are coming that may have to go first. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.wake();
    };
  }

  /** Files of its stop that go after a file of this name wait until the returned call is made. */
  keepBack(name: string): () => void {
    const { companyId } = this;
    const source = { companyId, name, path: name, channel: "folder", userName: null } as const;
    const file = toWaitingFile({ ...source, receivedAt: this.#deps.clock.now(), size: 0, sequence: 0 });
    // Another file of the name is a new attempt, which does not wait for the one that broke off.
    file.key = { stopFunction: "~", stopNbr: "" };
    this.#stalled.park(file, { stopKeys: stopKeysOf(name) });
    return () => {
      for (const follower of this.#stalled.release(file)) this.#lane.add(follower);
      this.wake();
    };
  }

  /** Something changed: a file came, was entered in the ledger, prepared or filed. */
  wake(): void {
    this.#hasNews = true;
    if (this.#isStopped || this.#holds > 0 || this.#running !== undefined) return;
    this.#running = this.#runSafely().finally(() => {
      this.#running = undefined;
      // News may have come between the last look and this line.
      if (this.#hasNews) this.wake();
    });
  }

  /** Finishes the group in hand; what waits stays waiting in the ledger. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#reading.stop();
    this.#stalled.clear();
    await this.#running;
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** A fault of our own must neither end the process nor leave the lane standing. */
  async #runSafely(): Promise<void> {
    try {
      await this.#run();
    } catch (error) {
      this.#deps.log.error(
        { err: error, company: this.companyCode },
        "the files of a company came to a halt; going on",
      );
      await this.#pause();
      this.#hasNews = true;
    }
  }

  async #pause(): Promise<void> {
    await wait(this.#deps.settings().storePauseMs, undefined, { signal: this.#stopping.signal }).catch(
      () => undefined,
    );
  }

  async #run(): Promise<void> {
    // Files that came in the same turn are to be ordered before the first of them is decided.
    await Promise.resolve();
    while (this.#hasNews && !this.#isStopped && this.#holds === 0) {
      this.#hasNews = false;
      this.#reading.begin();
      if (this.#deps.filing.length > maxUnfiled || this.#isGroupComing()) continue;
      const group = this.#takeGroup();
      if (group.length === 0) continue;
      this.#hasNews = true;
      killPoint("decide.grouped");
      await this.#decideGroup(group);
    }
  }

  /** With many files waiting, full groups are worth a moment: each commit and each sync of a folder stands in the way. */
  #isGroupComing(): boolean {
    const { groupSize } = this.#deps.settings();
    return this.#lane.size > groupSize && this.#reading.ready < groupSize && this.#reading.preparing > 0;
  }

  /** Whether the document is kept for its turn; else the file waits outside of the line. */
  #takes(file: WaitingFile, prepared: PreparedDocument): boolean {
    if (this.#isStopped) return false;
    const { settings, clock } = this.#deps;
    const stalledForMs = file.stall === undefined ? 0 : performance.now() - file.stall.since;
    const aside = putAside(file, prepared, { settings: settings(), now: clock.now(), stalledForMs });
    if (aside !== undefined) {
      this.#putAside(file, prepared, aside);
      return false;
    }
    if (this.#stalled.has(file)) this.#backInLine(file);
    const stopKeys = stopKeysOf(file.name, prepared);
    if (stopKeys.length > 1) file.stopKeys = stopKeys;
    return true;
  }

  #putAside(file: WaitingFile, prepared: PreparedDocument, aside: PutAside): void {
    const isNew = this.#troubles.note(file, aside);
    // Where it stands within its second is known when it has been read.
    if (prepared.kind !== "read") file.key = undefined;
    if (!this.#stalled.has(file)) this.#lane.remove(file);
    // A document that was read once may have named more stops than can be seen of it now.
    const stopKeys = [...stopKeysOf(file.name, prepared), ...(file.stopKeys ?? [])];
    this.#stalled.park(file, { stopKeys, pauseMs: aside.pauseMs });
    if (!isNew) return;
    const fields = { company: this.companyCode, file: file.name, fileId: file.id, ...aside };
    this.#deps.failing.warn(fields, "the file cannot be taken now; it and the later files of its stop wait");
  }

  /** With those that waited for it: the line puts them in their order. */
  #backInLine(file: WaitingFile): void {
    for (const one of [...this.#stalled.release(file), file]) this.#lane.add(one);
    this.#troubles.readable(file);
  }

  #takeGroup(): readonly ReadyFile[] {
    const source = { lane: this.#lane, stalled: this.#stalled, reading: this.#reading };
    const { files, hasMoved } = takeGroup(source, this.#deps.settings().groupSize);
    this.#hasNews ||= hasMoved;
    return files;
  }

  async #decideGroup(group: readonly ReadyFile[]): Promise<void> {
    const { store, locations, clock, log, settings, ledgerNumbers } = this.#deps;
    const company = { id: this.companyId, code: this.companyCode };
    const rules = () => settings().rulesFor(this.companyCode);
    let isHalted = false;
    const deps = { store, locations, clock, log, company, rules, ledgerNumbers };
    await decideGroup(deps, group, (file, outcome) => {
      if (outcome.kind === "held" && this.#isOfAll(outcome)) {
        isHalted = true;
        this.#haltFor(file, outcome.message);
      } else if (outcome.kind === "again") this.#alone(file);
      else this.#finish(file, outcome);
    });
    if (!isHalted) this.#troubles.goOn();
    else await this.#pause();
  }

  #isOfAll({ isGeneral, reason }: DecisionOutcome & { readonly kind: "held" }): boolean {
    return isGeneral || (reason === "store" && this.#stalled.size >= maxHeldByStore);
  }

  #haltFor(file: ReadyFile, message: string): void {
    this.#lane.add(file);
    if (!this.#troubles.halt(message)) return;
    this.#deps.failing.warn({ company: this.companyCode, message }, "no file can be decided about; all wait");
  }

  /** Back in line: what goes before it may have come meanwhile. */
  #alone(file: ReadyFile): void {
    file.isToBeAlone = true;
    this.#lane.add(file);
    this.#hasNews = true;
  }

  #finish(file: ReadyFile, outcome: Exclude<DecisionOutcome, { readonly kind: "again" }>): void {
    const { prepared } = file;
    delete file.isToBeAlone;
    this.#reading.drop(file);
    if (outcome.kind !== "held") this.#troubles.over(file);
    if (outcome.kind === "gone") this.#deps.onGone(file);
    else if (outcome.kind === "decided") this.#handOver(file, outcome.decided);
    else {
      const { reason, message } = outcome;
      const pauseMs = growingPause(this.#deps.settings().storePauseMs, file.looks ?? 0);
      this.#putAside(file, prepared, { reason, message, pauseMs });
    }
  }

  #handOver(file: ReadyFile, decided: DecidedFile): void {
    killPoint("decide.handingOver");
    const ms = this.#deps.clock.now() - file.receivedAt;
    logDecision(this.#deps.log, decided, { file, company: this.companyCode, ms });
    this.#deps.onDecided(file, decided.state);
    const reference = this.#deps.ledgerNumbers.seal(decided.id);
    const task = toFilingTask(this.#deps.locations, {
      companyCode: this.companyCode,
      name: file.name,
      from: pathOf(file),
      decided: { ...decided, reference },
    });
    this.#deps.filing.add(task, receiptKeyOf(file), () => {
      this.#deps.onFiled(file);
      this.wake();
    });
  }
}
