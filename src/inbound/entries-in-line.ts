/** Entries of the ledger that wait, put in line: those of an earlier run, those of other nodes, and those to be tried again. */
import { killPoint } from "../lib/kill-point.ts";
import type { Store } from "../store/database/database.ts";
import type { CompanyArrivals, OnInLine } from "../store/cluster/arrivals.ts";
import type { MayRunBefore } from "../store/database/fence.ts";
import { type LedgerEntry, listWaitingOf } from "../store/ledger/files.ts";
import { parseStopFileName } from "../domain/files/stop-file-name.ts";
import { type Arrivals, keysOfFile } from "./lanes/decide-group.ts";
import type { LaneRunner } from "./lanes/lane-runner.ts";
import type { Locations } from "./places/locations.ts";
import { isCutInAgain, isInAgain } from "./places/place-arrival.ts";
import type { PresentFiles } from "./present-files.ts";
import type { AwaitedReceipts } from "./receipts/awaited-receipts.ts";
import { type WaitingEntry, waitingEntries } from "./recovery/recovery.ts";

export interface EntriesInLineDeps {
  readonly store: Pick<Store, "read">;
  readonly locations: Pick<Locations, "fromLedger">;
  readonly files: Pick<PresentFiles, "fromLedger" | "isInLine" | "isBeingFiled" | "isReserved">;
  readonly lanes: { of(companyId: number): Promise<Pick<LaneRunner, "size" | "hold" | "add">> };
  readonly receipts: Pick<AwaitedReceipts, "clearAll" | "removedElsewhere">;
  readonly flushUploads: (companyId: number) => void;
  /** Of all unless given. */
  readonly companyId: number | undefined;
}

export class EntriesInLine {
  readonly #deps: EntriesInLineDeps;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(deps: EntriesInLineDeps) {
    this.#deps = deps;
  }

  /** Those that an earlier run, or the node before, has left. The holds that keep them in line are to be given back. */
  async loadAll(signal: AbortSignal): Promise<readonly (() => void)[]> {
    const { store, files, lanes, receipts, companyId } = this.#deps;
    const holds: (() => void)[] = [];
    for await (const entry of waitingEntries(store, companyId)) {
      signal.throwIfAborted();
      // A name that is cut in `.again` does not say which receipt is its own.
      if (isCutInAgain(entry.name) && isInAgain(entry.source))
        await receipts.clearAll([{ ...entry, channel: "recovered" }]);
      const file = files.fromLedger(entry);
      if (isInAgain(entry.source)) receipts.removedElsewhere(file);
      const runner = await lanes.of(file.companyId);
      if (runner.size === 0) holds.push(runner.hold());
      runner.add(file);
    }
    return holds;
  }

  /**
   * Puts those that other nodes have made in line. `onInLine` gets the ids of those for which nothing is left to do: all but files
   * under whose path an earlier one is still to be moved, or that a scan is taking. Rejects when the ledger cannot be read.
   */
  readArrived(arrivals: CompanyArrivals, onInLine: OnInLine): Promise<void> {
    // One after the other: who asks has all of them in line in the end.
    const reading = this.#reading.then(() => this.#readArrived(arrivals, onInLine));
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /**
   * Whether a file may be decided about before files that are not in line at this call: none of them is about its stops, nor
   * earlier by its name, for one that has not been read may be about further stops.
   */
  mayComeLater({ id, nameTime, keys }: Parameters<Arrivals["mayComeLater"]>[0]): MayRunBefore {
    const { companyId = 0 } = this.#deps;
    return (unseen) =>
      unseen.every((file) => {
        if (file.fileId === id) return true;
        // Of a file whose name does not tell the stop, it is unknown before it has been read.
        const name = parseStopFileName(file.name);
        if (name.kind !== "named" || name.nameTime < nameTime) return false;
        const others = keysOfFile({ id: companyId }, file);
        return !others.some((key) => keys.includes(key));
      });
  }

  /** One that is to be tried again. */
  async retry(entry: WaitingEntry): Promise<void> {
    const runner = await this.#deps.lanes.of(entry.companyId);
    runner.add(this.#deps.files.fromLedger(entry));
    killPoint("retry.inLine");
  }

  async #readArrived(arrivals: CompanyArrivals, onInLine: OnInLine): Promise<void> {
    const { store, locations, files, lanes, receipts } = this.#deps;
    const runner = await lanes.of(arrivals.companyId);
    const settled = new Set(arrivals.fileIds);
    // All of them are ordered before the first of them is decided.
    const release = runner.hold();
    try {
      // They were answered before the others were sent, as far as these are about the same stops.
      this.#deps.flushUploads(arrivals.companyId);
      // Where each stands is asked before anything is waited for: later one that was in line may be gone.
      const waiting = await listWaitingOf(store.read, arrivals);
      const pathOf = ({ source }: LedgerEntry) => locations.fromLedger(source);
      // Of one path in line it is the same file: one entry waits for a source.
      const others = waiting.filter((entry) => !files.isInLine(pathOf(entry)));
      // A file that a scan is taking at this moment is left to that: it will be in line, with this entry.
      const isLater = (path: string) => files.isBeingFiled(path) || files.isReserved(path);
      const standing = (entry: LedgerEntry) => (isLater(pathOf(entry)) ? "later" : "ready");
      const { later = [], ready = [] } = Object.groupBy(others, standing);
      for (const { id } of later) settled.delete(id);
      // In the same turn of the event loop: a scan takes what is not known at any later moment.
      const inLine = ready.map((entry) => files.fromLedger({ ...entry, retriedAt: undefined }));
      for (const file of inLine) {
        // One of an earlier file of the name may have come since the node that has entered it removed what was there.
        await receipts.clearAll([{ ...file, channel: "recovered" }]);
        receipts.removedElsewhere(file);
        runner.add(file);
      }
      onInLine([...settled]);
    } finally {
      release();
    }
  }
}
