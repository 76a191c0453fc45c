/**
 * Brings the waiting files of one company to their decision, in order.
 *
 *   in line ──read (ahead, in parallel)──> read ──decided about (in order, in groups)──> decided ──> filing queue
 *      ^  └────────────┬───────────────────────┴─────┐
 *      └──────────── stalled <───────────────────────┘   cannot be read, is not whole yet, or cannot be decided about now
 *
 * Nothing of this is kept but the ledger entry: after a crash a file is waiting, or it is decided. A stalled file keeps
 * back the later files of its stops and no others (`stalled-files.ts`). When nothing at all can be decided, because the
 * disk is full for instance, all files stay in line and the front is retried each second.
 */
import type { DocumentPool } from "../../documents/pool/document-pool.ts";
import type { Clock } from "../../lib/clock.ts";
import { reasonCodeOf } from "../../lib/errors.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import type { DecidedFile, DecisionRules } from "./decide-file.ts";
import { type Arrivals, type DecisionOutcome, decideGroup, type ReadyFile } from "./decide-group.ts";
import { receiptKeyOf } from "../receipts/awaited-receipts.ts";
import type { FilingQueue } from "../places/filing-queue.ts";
import type { HeldFiles, HeldInDetail } from "./held-files.ts";
import { LaneLoop } from "./lane-loop.ts";
import type { Locations } from "../places/locations.ts";
import { growingPause, type PutAsideSettings } from "./put-aside.ts";
import { toFilingTask } from "../places/places.ts";
import { ReadAhead } from "./read-ahead.ts";
import { takeGroup } from "./take-group.ts";
import { UndecidedFiles } from "./undecided-files.ts";
import { pathOf, type WaitingFile } from "./waiting-file.ts";

export interface PipelineSettings extends PutAsideSettings {
  /** Files decided in one commit at most. */
  readonly groupSize: number;
  readonly maxFileBytes: number;
  /** Before the retry of what the store did not take; grows for single files. */
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
  readonly onDecided: (file: WaitingFile, made: Pick<DecidedFile, "id" | "state" | "faults">) => void;
  /** There is nothing to decide about: the file is gone. */
  readonly onGone: (file: WaitingFile) => void;
  /** The receipt of the file is there. */
  readonly onReceipt: (file: WaitingFile) => void;
  /** The file is decided and filed: its path may be used again. */
  readonly onFiled: (file: WaitingFile) => void;
  /** Puts files that other nodes have entered in line; there are none unless given. Never rejects. */
  readonly readArrived?: (() => Promise<void>) | undefined;
  readonly arrivals?: Arrivals | undefined;
}

/** Decided files whose filing has not caught up; beyond it no more are decided, so that receipts stay close behind. */
const maxUnfiled = 1024;
/** In the log line of a refused file. */
const shownReasons = 5;

export class LaneRunner {
  readonly companyId: number;
  readonly companyCode: string;
  readonly #deps: LaneRunnerDependencies;
  readonly #files: UndecidedFiles;
  readonly #reading: ReadAhead;
  readonly #loop: LaneLoop;

  constructor(company: { id: number; code: string }, deps: LaneRunnerDependencies) {
    this.companyId = company.id;
    this.companyCode = company.code;
    this.#deps = deps;
    const { settings, clock, failing } = deps;
    const lookAgain = (file: WaitingFile) => void this.#reading.prepare(file);
    this.#files = new UndecidedFiles({ company, settings, clock, failing, lookAgain });
    this.#reading = new ReadAhead({
      documents: deps.documents,
      lane: this.#files.lane,
      companyCode: company.code,
      clock,
      log: deps.log,
      maxFileBytes: () => settings().maxFileBytes,
      takes: (file, prepared) => !this.#loop.isStopped && this.#files.takes(file, prepared),
      onRead: () => this.wake(),
    });
    this.#loop = new LaneLoop({
      turn: () => this.#turn(),
      pauseMs: () => settings().storePauseMs,
      failed: (error) =>
        deps.log.error({ err: error, company: company.code }, "the lane of a company failed; continuing"),
    });
  }

  get size(): number {
    return this.#files.size;
  }

  /** What does not go on, and why. */
  held(): HeldFiles {
    return this.#files.held();
  }

  /** The same, file by file. */
  heldInDetail(): HeldInDetail {
    return this.#files.heldInDetail();
  }

  add(file: WaitingFile): void {
    if (this.#loop.isStopped) return;
    this.#files.lane.add(file);
    this.wake();
  }

  /** Nothing is decided until the hold is given back: more files are coming that may have to go first. */
  hold(): () => void {
    return this.#loop.hold();
  }

  /** Files of its stop that go after a file of this name wait until the returned call is made. */
  keepBack(name: string): () => void {
    const release = this.#files.keepBack(name);
    return () => {
      release();
      this.wake();
    };
  }

  /** Something changed: a file came, was entered in the ledger, prepared or filed. */
  wake(): void {
    this.#loop.wake();
  }

  /** Finishes the group in hand; what waits stays waiting in the ledger. */
  async stop(): Promise<void> {
    this.#loop.stop();
    this.#reading.stop();
    this.#files.stalled.clear();
    await this.#loop.ended();
  }

  async #turn(): Promise<void> {
    this.#reading.begin();
    if (this.#deps.filing.length > maxUnfiled || this.#isGroupComing()) return;
    const { lane, stalled } = this.#files;
    const source = { lane, stalled, reading: this.#reading };
    const { files, hasMoved } = takeGroup(source, this.#deps.settings().groupSize);
    if (hasMoved || files.length > 0) this.wake();
    if (files.length === 0) return;
    killPoint("decide.grouped");
    await this.#decideGroup(files);
  }

  /** With many files waiting, full groups are worth a moment: each commit and each sync of a folder costs time. */
  #isGroupComing(): boolean {
    const { groupSize } = this.#deps.settings();
    return (
      this.#files.lane.size > groupSize && this.#reading.ready < groupSize && this.#reading.preparing > 0
    );
  }

  async #decideGroup(group: readonly ReadyFile[]): Promise<void> {
    const { store, locations, clock, log, settings, ledgerNumbers, arrivals } = this.#deps;
    const company = { id: this.companyId, code: this.companyCode };
    const rules = () => settings().rulesFor(this.companyCode);
    let isHalted = false;
    let isUnseen = false;
    const deps = { store, locations, clock, log, company, rules, ledgerNumbers, arrivals };
    await decideGroup(deps, group, (file, outcome) => {
      if (outcome.kind === "held" && this.#files.isOfAll(outcome)) {
        isHalted = true;
        this.#files.haltFor(file, outcome.message);
      } else if (outcome.kind === "again") this.#alone(file);
      else if (outcome.kind === "unseen") {
        isUnseen = true;
        this.#files.lane.add(file);
      } else if (outcome.kind !== "fenced") this.#finish(file, outcome);
    });
    if (isUnseen) await this.#deps.readArrived?.();
    if (isUnseen) this.wake();
    if (!isHalted) this.#files.goOn();
    else await this.#loop.pause();
  }

  /** Back in line: what goes before it may have come meanwhile. */
  #alone(file: ReadyFile): void {
    file.isToBeAlone = true;
    this.#files.lane.add(file);
    this.wake();
  }

  #finish(
    file: ReadyFile,
    outcome: Exclude<DecisionOutcome, { readonly kind: "again" | "unseen" | "fenced" }>,
  ): void {
    const { prepared } = file;
    delete file.isToBeAlone;
    this.#reading.drop(file);
    if (outcome.kind !== "held") this.#files.over(file);
    if (outcome.kind === "gone") this.#deps.onGone(file);
    else if (outcome.kind === "decided") this.#handOver(file, outcome.decided);
    else {
      const { reason, message } = outcome;
      const pauseMs = growingPause(this.#deps.settings().storePauseMs, file.looks ?? 0);
      this.#files.putAside(file, prepared, { reason, message, pauseMs });
    }
  }

  #handOver(file: ReadyFile, decided: DecidedFile): void {
    const ms = this.#deps.clock.now() - file.receivedAt;
    logDecision(this.#deps.log, decided, { file, company: this.companyCode, ms });
    this.#deps.onDecided(file, decided);
    const reference = this.#deps.ledgerNumbers.seal(decided.id);
    const task = toFilingTask(this.#deps.locations, {
      companyId: file.companyId,
      companyCode: this.companyCode,
      name: file.name,
      from: pathOf(file),
      decided: { ...decided, reference },
    });
    this.#deps.filing.add(task, receiptKeyOf(file), {
      receiptWritten: () => this.#deps.onReceipt(file),
      done: () => {
        this.#deps.onFiled(file);
        this.wake();
      },
    });
  }
}

/** The one line about a decided file; `ms` is the time since it was received. */
function logDecision(
  log: Logger,
  decided: DecidedFile,
  about: { readonly file: WaitingFile; readonly company: string; readonly ms: number },
): void {
  const { file, company, ms } = about;
  const fields = {
    fileId: decided.id,
    company,
    file: file.name,
    state: decided.state,
    channel: file.channel,
    user: file.userName ?? undefined,
    ms,
  };
  if (decided.faults.length === 0) {
    log.info(fields, "file decided");
    return;
  }
  const reasons = decided.faults.slice(0, shownReasons).map(({ code }) => reasonCodeOf(code));
  log.warn({ ...fields, reasons, first: decided.faults[0]?.message }, "file refused");
}
