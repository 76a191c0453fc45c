/**
 * Brings the waiting files of one company to their decision, in order.
 *
 *   waiting ──prepare (ahead, in parallel)──> prepared ──decide (in order, in groups)──> decided ──> filing queue
 *      │  ^                                       │
 *      │  └──── looked at again ── parked <───────┘   unreadable just now, or perhaps still being written
 *
 * Nothing of this is kept but the ledger entry: after a crash a file is waiting, or it is decided.
 * A file that cannot be decided about does not hold up others, but for those that the same fault of the store holds up.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { DocumentPool } from "../documents/document-pool.ts";
import type { PreparedDocument } from "../documents/prepared-document.ts";
import type { DecidedState } from "../domain/file-state.ts";
import type { Clock } from "../lib/clock.ts";
import { parseStopFileName } from "../domain/stop-file-name.ts";
import type { Fault } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { Logger } from "../lib/log.ts";
import { isStoreFault } from "../lib/store-error.ts";
import type { Store } from "../store/database.ts";
import {
  type DecidedFile,
  type DecisionRules,
  decideFile,
  type FileToDecide,
  NotWaitingError,
  refuseFile,
} from "./decide-file.ts";
import { logDecision } from "./decision-log.ts";
import type { FilingQueue } from "./filing-queue.ts";
import { Lane } from "./lane.ts";
import type { Locations } from "./locations.ts";
import { pauseBeforeNextLook, unreadableFault } from "./look-again.ts";
import { ParkedFiles } from "./parked-files.ts";
import { placeFor, toFilingTask } from "./places.ts";
import { pathOf, type WaitingFile } from "./waiting-file.ts";

export interface PipelineSettings {
  /** Files decided in one commit at most. */
  readonly groupSize: number;
  readonly settleMs: number;
  readonly incompleteGraceMs: number;
  rulesFor(companyCode: string): DecisionRules;
}

export interface LaneRunnerDependencies {
  readonly store: Pick<Store, "write">;
  readonly documents: Pick<DocumentPool, "prepareFile">;
  readonly filing: Pick<FilingQueue, "add" | "length">;
  readonly locations: Locations;
  readonly settings: () => PipelineSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDecided: (state: DecidedState) => void;
  /** The file is decided and filed: its path may be used again. */
  readonly onFiled: (file: WaitingFile) => void;
}

/** Bytes of documents that are being prepared or wait prepared. One document may pass it alone. */
const maxHeldBytes = 6 * 1024 * 1024;
const maxPreparing = 48;
/** How far from the front documents are prepared. */
const maxAhead = 320;
/** Decided files whose filing has not caught up; beyond it no more are decided, so that receipts stay close behind. */
const maxUnfiled = 1024;
const unreadablePauseMs = 5_000;
const maxAttempts = 3;
const storePauseMs = 1_000;

type ReadyFile = WaitingFile & { id: number; prepared: PreparedDocument };

function keyOf(file: WaitingFile, prepared: PreparedDocument): NonNullable<WaitingFile["key"]> {
  const name = parseStopFileName(file.name);
  const named = name.kind === "named" ? name.stopNbr : file.name;
  if (prepared.kind !== "read") return { stopFunction: "", stopNbr: named };
  return { stopFunction: prepared.instructions[0]?.function ?? "", stopNbr: named };
}

function stopsOf(file: WaitingFile): readonly string[] {
  return file.prepared?.kind === "read" ? file.prepared.instructions.map(({ stopNbr }) => stopNbr) : [];
}

export class LaneRunner {
  readonly companyId: number;
  readonly companyCode: string;
  readonly #deps: LaneRunnerDependencies;
  readonly #lane = new Lane<WaitingFile>();
  readonly #parked: ParkedFiles;
  #heldBytes = 0;
  #preparing = 0;
  #ready = 0;
  #holds = 0;
  #running: Promise<void> | undefined;
  #isStopped = false;
  #hasNews = false;

  constructor(company: { id: number; code: string }, deps: LaneRunnerDependencies) {
    this.companyId = company.id;
    this.companyCode = company.code;
    this.#deps = deps;
    this.#parked = new ParkedFiles((file) => this.add(file));
  }

  get size(): number {
    return this.#lane.size + this.#parked.size;
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
    this.#isStopped = true;
    this.#parked.clear();
    await this.#running;
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
      await wait(storePauseMs);
      this.#hasNews = true;
    }
  }

  async #run(): Promise<void> {
    // Files that came in the same turn are to be ordered before the first of them is decided.
    await Promise.resolve();
    while (this.#hasNews && !this.#isStopped && this.#holds === 0) {
      this.#hasNews = false;
      this.#prepareAhead();
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
    return this.#lane.size > groupSize && this.#ready < groupSize && this.#preparing > 0;
  }

  #prepareAhead(): void {
    let looks = 0;
    for (const { entry, isFront, isOrderKnown } of this.#lane.ahead()) {
      looks += 1;
      if (this.#preparing >= maxPreparing || looks > maxAhead) return;
      const isFull = this.#heldBytes >= maxHeldBytes;
      if (isFull && !isFront) return;
      if (entry.isPreparing || entry.prepared !== undefined) continue;
      // Looked into already: it is read again when its turn is known.
      if (entry.key !== undefined && !isOrderKnown) continue;
      if (isFull && this.#preparing > 0) return;
      void this.#prepare(entry);
    }
  }

  async #prepare(file: WaitingFile): Promise<void> {
    file.isPreparing = true;
    this.#preparing += 1;
    this.#heldBytes += file.size;
    killPoint("prepare.begun");
    const prepared = await this.#read(file);
    this.#preparing -= 1;
    file.isPreparing = false;
    if (prepared === undefined || this.#parksAfter(file, prepared)) {
      this.#heldBytes -= file.size;
    } else {
      file.key ??= keyOf(file, prepared);
      file.prepared = prepared;
      killPoint("prepare.done");
      this.#ready += 1;
      this.#forgetIfTooMuch(file);
    }
    this.wake();
  }

  async #read(file: WaitingFile): Promise<PreparedDocument | undefined> {
    try {
      return await this.#deps.documents.prepareFile(pathOf(file));
    } catch (error) {
      if (!this.#isStopped) {
        this.#deps.log.error(
          { err: error, company: this.companyCode, file: file.name },
          "reading a file failed",
        );
        this.#park(file, unreadablePauseMs);
      }
      return undefined;
    }
  }

  /** In a second with more files than memory should hold, only their order is kept of those at the back. */
  #forgetIfTooMuch(file: WaitingFile): void {
    if (this.#heldBytes <= maxHeldBytes) return;
    const front = this.#lane.ahead().next();
    if (front.done === true || front.value.entry === file || front.value.isOrderKnown) return;
    file.prepared = undefined;
    this.#ready -= 1;
    this.#heldBytes -= file.size;
  }

  #park(file: WaitingFile, pauseMs: number): void {
    this.#lane.remove(file);
    file.looks = (file.looks ?? 0) + 1;
    file.key = undefined;
    this.#parked.add(file, pauseMs);
  }

  /** Whether the file is to be looked at again later instead of being decided about now. */
  #parksAfter(file: WaitingFile, prepared: PreparedDocument): boolean {
    const context = { settings: this.#deps.settings(), now: this.#deps.clock.now() };
    const pauseMs = pauseBeforeNextLook(file, prepared, context);
    if (pauseMs === undefined) return false;
    if (prepared.kind === "unreadable") {
      const { systemCode, message } = prepared;
      const fields = {
        company: this.companyCode,
        file: file.name,
        fileId: file.id,
        systemCode,
        message,
        pauseMs,
      };
      this.#deps.log.warn(fields, "the file cannot be read now; it waits");
    }
    this.#park(file, pauseMs);
    return true;
  }

  /** Files from the front that can be decided in one commit: no two of the same stop, so that a failure keeps order. */
  #takeGroup(): ReadyFile[] {
    const group: ReadyFile[] = [];
    const stops = new Set<string>();
    const { groupSize } = this.#deps.settings();
    const mayTake = (file: WaitingFile) => stopsOf(file).every((stop) => !stops.has(stop));
    while (group.length < groupSize) {
      const file = this.#lane.takeReady(mayTake);
      if (file?.prepared === undefined || file.id === undefined) break;
      for (const stop of stopsOf(file)) stops.add(stop);
      group.push(file as ReadyFile);
    }
    return group;
  }

  async #decideGroup(group: readonly ReadyFile[]): Promise<void> {
    const outcomes = await Promise.allSettled(group.map((file) => this.#decide(file)));
    killPoint("decide.committed");
    // What is committed goes on its way first, whatever becomes of the others.
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") this.#finish(group[index], outcome.value);
    }
    for (const [index, outcome] of outcomes.entries()) {
      const file = group[index];
      if (outcome.status === "fulfilled" || file === undefined) continue;
      this.#finish(file, await this.#decideAgain(file, outcome.reason));
    }
  }

  #finish(file: ReadyFile | undefined, decided: DecidedFile | undefined): void {
    if (file === undefined) return;
    this.#heldBytes -= file.size;
    this.#ready -= 1;
    if (decided === undefined) this.#deps.onFiled(file);
    else this.#handOver(file, decided);
    (file as WaitingFile).prepared = undefined;
  }

  #decide(file: ReadyFile): Promise<DecidedFile> {
    const now = this.#deps.clock.now();
    const place = (state: DecidedState, isNameTaken: boolean) =>
      placeFor(this.#deps.locations, {
        companyCode: this.companyCode,
        name: file.name,
        id: file.id,
        state,
        isNameTaken,
        now,
      });
    const { prepared } = file;
    const target: Omit<FileToDecide, "prepared"> = {
      id: file.id,
      companyId: this.companyId,
      companyCode: this.companyCode,
      name: file.name,
      parsedName: parseStopFileName(file.name),
    };
    if (prepared.kind === "unreadable") {
      const fault = unreadableFault(file.name, prepared);
      const nothing = {
        kind: "refused",
        sha256: "",
        size: file.size,
        faults: [fault],
        isIncomplete: false,
      } as const;
      return this.#deps.store.write((tx) =>
        refuseFile(tx, { ...target, prepared: nothing }, { fault, placeFor: place, now }),
      );
    }
    const rules = this.#deps.settings().rulesFor(this.companyCode);
    return this.#deps.store.write((tx) =>
      decideFile(tx, { ...target, prepared }, { rules, placeFor: place, now }),
    );
  }

  /** Tries again in place, so that no later file of the same stop overtakes. Undefined: the entry is not ours any more. */
  async #decideAgain(file: ReadyFile, cause: unknown): Promise<DecidedFile | undefined> {
    let error = cause;
    while (!this.#isStopped) {
      if (error instanceof NotWaitingError) return undefined;
      const isOfStore = isStoreFault(error);
      if (!isOfStore) file.failures = (file.failures ?? 0) + 1;
      this.#deps.log.error(
        { err: error, fileId: file.id, company: this.companyCode },
        "deciding about a file failed",
      );
      const isGivenUp = (file.failures ?? 0) >= maxAttempts;
      if (isOfStore || isGivenUp) await wait(storePauseMs);
      try {
        return await (isGivenUp ? this.#refuseAsInternal(file) : this.#decide(file));
      } catch (again) {
        error = again;
      }
    }
    return undefined;
  }

  #refuseAsInternal(file: ReadyFile): Promise<DecidedFile> {
    const message = `${file.name} could not be processed because of an internal error; ask the administrator for ledger entry ${file.id}`;
    const fault: Fault = { code: "internal", message };
    const prepared = { kind: "unreadable", systemCode: "internal", message } as const;
    return this.#decide({ ...file, prepared: { ...prepared, message: fault.message } });
  }

  #handOver(file: ReadyFile, decided: DecidedFile): void {
    killPoint("decide.handingOver");
    const ms = this.#deps.clock.now() - file.receivedAt;
    logDecision(this.#deps.log, decided, { file, company: this.companyCode, ms });
    this.#deps.onDecided(decided.state);
    const task = toFilingTask(this.#deps.locations, {
      companyCode: this.companyCode,
      name: file.name,
      from: pathOf(file),
      decided,
    });
    this.#deps.filing.add(task, () => {
      this.#deps.onFiled(file);
      this.wake();
    });
  }
}
