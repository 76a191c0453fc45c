/** Makes waiting files of arrivals, and of entries that an earlier run has left, in the order in which they came. */
import type { Clock } from "../lib/clock.ts";
import type { LedgerEntry } from "../store/ledger/files.ts";
import { ArrivalOrder } from "./arrival-order.ts";
import type { WaitingFile, WaitingFileSource } from "./lanes/waiting-file.ts";
import type { Arrival } from "./places/inbox.ts";
import type { Locations } from "./places/locations.ts";
import type { PresentFiles } from "./present-files.ts";
import type { FilesOfEarlierRun } from "./recovery/files-of-earlier-run.ts";

export interface WaitingFilesDependencies {
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
