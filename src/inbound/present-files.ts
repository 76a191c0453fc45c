/**
 * The files that are in the pipeline, or about to appear: their order of arrival, their paths, their counts, and the receipts
 * that wait for them.
 */
import { basename, dirname } from "node:path";
import type { Clock } from "../lib/clock.ts";
import type { LedgerEntry } from "../store/ledger/files.ts";
import type { AwaitedReceipts, ReceiptOwner } from "./receipts/awaited-receipts.ts";
import { CountedPaths } from "./places/counted-paths.ts";
import type { Arrival } from "./places/inbox.ts";
import type { Locations } from "./places/locations.ts";
import type { FilesOfEarlierRun } from "./recovery/files-of-earlier-run.ts";
import type { ArrivalFigures } from "./lanes/decision-figures.ts";
import type { WaitingEntry } from "./recovery/recovery.ts";
import {
  toWaitingFile,
  type WaitingFile,
  type WaitingFileSource,
  waitingSince,
} from "./lanes/waiting-file.ts";
import { secondMs } from "../lib/durations.ts";

/** A file that is counted. */
type CountedFile = Pick<WaitingFile, "companyId" | "receivedAt" | "retriedAt">;

/** Files that wait for their decision, by the second since which they do. */
class UndecidedCounts {
  #total = 0;
  readonly #bySecond = new Map<number, number>();

  add(file: CountedFile, by: 1 | -1): void {
    const second = Math.floor(waitingSince(file) / secondMs);
    const count = (this.#bySecond.get(second) ?? 0) + by;
    this.#total += by;
    if (count === 0) this.#bySecond.delete(second);
    else this.#bySecond.set(second, count);
  }

  get total(): number {
    return this.#total;
  }

  /** Of seconds there are few, however many files wait. */
  get since(): number | undefined {
    let first = Number.POSITIVE_INFINITY;
    for (const second of this.#bySecond.keys()) if (second < first) first = second;
    return first === Number.POSITIVE_INFINITY ? undefined : first * secondMs;
  }
}

/** How many files of each company are in the pipeline: came ──> decided ──> left. */
export class FileCounts {
  readonly #waiting = new Map<number, number>();
  readonly #undecided = new Map<number, UndecidedCounts>();

  came(file: CountedFile): void {
    add(this.#waiting, file.companyId, 1);
    const known = this.#undecided.get(file.companyId);
    const undecided = known ?? new UndecidedCounts();
    if (known === undefined) this.#undecided.set(file.companyId, undecided);
    undecided.add(file, 1);
  }

  /** It is decided about, or nothing is left to decide about. */
  decided(file: CountedFile): void {
    this.#undecided.get(file.companyId)?.add(file, -1);
  }

  /** It is filed away too, or gone. */
  left(companyId: number): void {
    add(this.#waiting, companyId, -1);
  }

  waiting(companyId: number): number {
    return this.#waiting.get(companyId) ?? 0;
  }

  undecided(companyId: number): number {
    return this.#undecided.get(companyId)?.total ?? 0;
  }

  /** The second in which the one came, or was retried, that waits longest for its decision; undefined when none does. */
  undecidedSince(companyId: number): number | undefined {
    return this.#undecided.get(companyId)?.since;
  }

  /** Those that wait, over all companies. */
  get total(): number {
    return [...this.#waiting.values()].reduce((total, count) => total + count, 0);
  }
}

function add(counts: Map<number, number>, companyId: number, by: 1 | -1): void {
  counts.set(companyId, (counts.get(companyId) ?? 0) + by);
}

/** More than an earlier run can have left in `inbound/`. */
const recoveredSequences = 2 ** 24;

/** The order in which files have come, over all companies and also over a restart. */
export class ArrivalOrder {
  readonly #clock: Clock;
  #sequence = 0;
  #lastReceivedAt = 0;
  /** Of files that an earlier run has left: after those of the ledger, before those of this run. */
  #recoveredSequence = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A waiting entry of the ledger: files that come from now on came after it. */
  noteEntry({ id, receivedAt }: Pick<LedgerEntry, "id" | "receivedAt">): void {
    this.#sequence = Math.max(this.#sequence, id);
    this.#lastReceivedAt = Math.max(this.#lastReceivedAt, receivedAt);
  }

  /** All entries of the ledger are known. */
  recovered(): void {
    this.#recoveredSequence = this.#sequence;
    this.#sequence += recoveredSequences;
  }

  /** Files of an earlier run came before all that come now, whenever the scan finds them. */
  next(channel: Arrival["channel"]): number {
    if (channel !== "recovered") {
      this.#sequence += 1;
      return this.#sequence;
    }
    this.#recoveredSequence += 1;
    return this.#recoveredSequence;
  }

  /** When the file came, not when it is handed over: start-up knows no other time of the files that it finds. */
  receivedAtOf({ receivedAt }: Pick<Arrival, "receivedAt">): number {
    if (receivedAt !== undefined) return Math.trunc(receivedAt);
    this.#lastReceivedAt = Math.max(this.#lastReceivedAt, this.#clock.now());
    return this.#lastReceivedAt;
  }
}

interface PresentFilesDependencies {
  readonly clock: Clock;
  readonly locations: Locations;
  readonly receipts: AwaitedReceipts;
  readonly filesOfEarlierRun: Pick<FilesOfEarlierRun, "arrived">;
  readonly figures: ArrivalFigures;
}

export class PresentFiles {
  readonly counts = new FileCounts();
  /** Paths of files in the pipeline: scans ignore them. */
  readonly paths = new CountedPaths();
  /** Paths that are about to appear. Kept apart: giving one back must not forget a file that waits under that name. */
  readonly #reservedPaths = new CountedPaths();
  /** Of those in the pipeline, the paths of the ones that are decided. */
  readonly #decidedPaths = new CountedPaths();
  readonly #deps: PresentFilesDependencies;
  readonly #order: ArrivalOrder;

  constructor(deps: PresentFilesDependencies) {
    this.#deps = deps;
    this.#order = new ArrivalOrder(deps.clock);
  }

  get arrivals(): ArrivalFigures {
    return this.#deps.figures;
  }

  /** Whether a path is about to appear. */
  get hasReserved(): boolean {
    return !this.#reservedPaths.isEmpty;
  }

  has(path: string): boolean {
    return this.paths.has(path) || this.#reservedPaths.has(path);
  }

  /** Whether a file of that path is in line: one that is decided, and still to be moved, is not. */
  isInLine(path: string): boolean {
    return this.paths.count(path) > this.#decidedPaths.count(path);
  }

  /** Whether a file is about to come under that path, or to be put in line. */
  isReserved(path: string): boolean {
    return this.#reservedPaths.has(path);
  }

  /** Whether a file of that path is decided, and still to be moved. */
  isBeingFiled(path: string): boolean {
    return this.#decidedPaths.has(path);
  }

  reserve(path: string, file: ReceiptOwner): void {
    this.#reservedPaths.add(dirname(path), basename(path));
    this.#deps.receipts.reserve(path, file);
  }

  release(path: string): void {
    this.#reservedPaths.delete(dirname(path), basename(path));
    this.#deps.receipts.release(path);
  }

  fromArrival(arrival: Arrival): WaitingFile {
    this.arrivals.count(arrival);
    const file = this.#add({
      ...arrival,
      userName: arrival.userName ?? null,
      receivedAt: this.#order.receivedAtOf(arrival),
      sequence: this.#order.next(arrival.channel),
    });
    // Not before: from its reservation on there is a file of the name on its way.
    this.release(arrival.path);
    return file;
  }

  /** An entry that an earlier run has left. */
  fromLedger(entry: WaitingEntry): WaitingFile {
    const path = this.#deps.locations.fromLedger(entry.source);
    this.#order.noteEntry(entry);
    const channel = entry.channel as WaitingFile["channel"];
    // The ledger has it.
    const beganAt = undefined;
    return this.#add({ ...entry, path, channel, beganAt, sequence: entry.id });
  }

  /** All entries of the ledger are known: what comes now came after them. */
  recovered(): void {
    this.#order.recovered();
  }

  /** Files that an earlier run has decided about, and that are still to be moved. */
  readonly leftToFile = {
    add: (directory: string, name: string): void => {
      this.paths.add(directory, name);
      this.#decidedPaths.add(directory, name);
    },
    delete: (directory: string, name: string): void => {
      this.paths.delete(directory, name);
      this.#decidedPaths.delete(directory, name);
    },
  };

  /** There is nothing to decide about. */
  gone(file: WaitingFile): void {
    this.#deps.receipts.gone(file);
    this.counts.decided(file);
    this.paths.delete(file.directory, file.fileName);
    this.counts.left(file.companyId);
  }

  /** It is decided about, and still to be moved. */
  decided(file: WaitingFile): void {
    this.#deps.receipts.delete(file);
    this.counts.decided(file);
    this.#decidedPaths.add(file.directory, file.fileName);
  }

  /** It is filed away: its path may be used again. */
  left(file: WaitingFile): void {
    this.paths.delete(file.directory, file.fileName);
    this.#decidedPaths.delete(file.directory, file.fileName);
    this.counts.left(file.companyId);
  }

  #add(source: WaitingFileSource): WaitingFile {
    const file = toWaitingFile(source);
    this.counts.came(file);
    this.paths.add(file.directory, file.fileName);
    this.#deps.receipts.add(file);
    this.#deps.filesOfEarlierRun.arrived(source);
    return file;
  }
}
