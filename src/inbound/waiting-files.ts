/** Makes waiting files of arrivals, and of entries that an earlier run has left, in the order in which they came. */
import type { Clock } from "../lib/clock.ts";
import type { LedgerEntry } from "../store/ledger/files.ts";
import type { WaitingFile, WaitingFileSource } from "./lanes/waiting-file.ts";
import type { Arrival } from "./places/inbox.ts";
import type { Locations } from "./places/locations.ts";
import type { PresentFiles } from "./present-files.ts";
import type { FilesOfEarlierRun } from "./recovery/files-of-earlier-run.ts";

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

interface WaitingFilesDependencies {
  readonly clock: Clock;
  readonly locations: Locations;
  readonly files: PresentFiles;
  readonly filesOfEarlierRun: Pick<FilesOfEarlierRun, "arrived">;
}

export class WaitingFiles {
  readonly #deps: WaitingFilesDependencies;
  readonly #order: ArrivalOrder;

  constructor(deps: WaitingFilesDependencies) {
    this.#deps = deps;
    this.#order = new ArrivalOrder(deps.clock);
  }

  fromArrival(arrival: Arrival): WaitingFile {
    const file = this.#remember({
      ...arrival,
      userName: arrival.userName ?? null,
      receivedAt: this.#order.receivedAtOf(arrival),
      sequence: this.#order.next(arrival.channel),
    });
    // Not before: from its reservation on there is a file of the name on its way.
    this.#deps.files.release(arrival.path);
    return file;
  }

  fromLedger(entry: LedgerEntry): WaitingFile {
    const path = this.#deps.locations.fromLedger(entry.source);
    this.#order.noteEntry(entry);
    const channel = entry.channel as WaitingFile["channel"];
    return this.#remember({ ...entry, path, channel, sequence: entry.id });
  }

  /** All entries of the ledger are known: what comes now came after them. */
  recovered(): void {
    this.#order.recovered();
  }

  #remember(source: WaitingFileSource): WaitingFile {
    const file = this.#deps.files.add(source);
    this.#deps.filesOfEarlierRun.arrived(source);
    return file;
  }
}
