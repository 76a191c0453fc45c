/** Entries of the ledger that wait, put in line: those of an earlier run, those of other nodes, and those to be tried again. */
import { killPoint } from "../lib/kill-point.ts";
import type { Store } from "../store/database/database.ts";
import type { Transaction } from "../store/database/group-commit.ts";
import { listOpenFiles } from "../store/ledger/files.ts";
import { parseStopFileName } from "../domain/files/stop-file-name.ts";
import type { CompanyLanes } from "./lanes/company-lanes.ts";
import { type Arrivals, keysOfFile } from "./lanes/decide-group.ts";
import type { Locations } from "./places/locations.ts";
import { isCutInAgain, isInAgain } from "./places/place-arrival.ts";
import type { PresentFiles } from "./present-files.ts";
import type { AwaitedReceipts } from "./receipts/awaited-receipts.ts";
import { type WaitingEntry, waitingEntries } from "./recovery/recovery.ts";

/** More than that are put in line first. */
const mostUnseen = 256;

export interface EntriesInLineDeps {
  readonly store: Pick<Store, "read">;
  readonly locations: Pick<Locations, "fromLedger">;
  readonly files: PresentFiles;
  readonly lanes: Pick<CompanyLanes, "of">;
  readonly receipts: Pick<AwaitedReceipts, "clear" | "clearAll">;
  /** Of all unless given. */
  readonly companyId: number | undefined;
}

export class EntriesInLine {
  readonly #deps: EntriesInLineDeps;
  /** The last entry that was read as one that waits. */
  #readUpTo = 0;
  /** All entries up to here that were read are in line. */
  #inLineUpTo = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(deps: EntriesInLineDeps) {
    this.#deps = deps;
  }

  /** Those that an earlier run, or the node before, has left. The holds that keep them in line are to be given back. */
  async loadAll(signal: AbortSignal): Promise<readonly (() => void)[]> {
    const { store, files, lanes, receipts, companyId } = this.#deps;
    const holds: (() => void)[] = [];
    for await (const entry of waitingEntries(store, { companyId })) {
      signal.throwIfAborted();
      this.#readUpTo = entry.id;
      // A name that is cut in `.again` does not say which receipt is its own.
      if (isCutInAgain(entry.name) && isInAgain(entry.source)) await receipts.clear(entry);
      const file = files.fromLedger(entry);
      const runner = await lanes.of(file.companyId);
      if (runner.size === 0) holds.push(runner.hold());
      runner.add(file);
      this.#inLineUpTo = entry.id;
    }
    return holds;
  }

  /** Those that other nodes have made since then. Rejects when the ledger cannot be read. */
  readArrived(companyId: number): Promise<void> {
    // One after the other: who asks has all of them in line in the end.
    const reading = this.#reading.then(() => this.#readArrived(companyId));
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /**
   * Whether a file may be decided about before entries that are not in line at this call: none of them is about its stops, nor
   * earlier by its name, for one that has not been read may be about further stops. Asked in a transaction that has locked the
   * company, so that no further ones come.
   */
  mayComeLater({ id, nameTime, keys }: Parameters<Arrivals["mayComeLater"]>[0]) {
    const afterId = this.#inLineUpTo;
    const { companyId } = this.#deps;
    return async (tx: Transaction): Promise<boolean> => {
      const asked = { states: ["waiting"], afterId, limit: mostUnseen, companyId } as const;
      const unseen = await listOpenFiles(tx, asked);
      if (unseen.length === mostUnseen) return false;
      return unseen.every((entry) => {
        if (entry.id === id) return true;
        // Of a file whose name does not tell the stop, it is unknown before it has been read.
        const name = parseStopFileName(entry.name);
        if (name.kind !== "named" || name.nameTime < nameTime) return false;
        const others = keysOfFile({ id: entry.companyId }, entry);
        return !others.some((key) => keys.includes(key));
      });
    };
  }

  /** One that is to be tried again. */
  async retry(entry: WaitingEntry): Promise<void> {
    const runner = await this.#deps.lanes.of(entry.companyId);
    runner.add(this.#deps.files.fromLedger(entry));
    killPoint("retry.inLine");
  }

  async #readArrived(companyId: number): Promise<void> {
    const { store, locations, files, lanes, receipts } = this.#deps;
    const runner = await lanes.of(companyId);
    // All of them are ordered before the first of them is decided.
    const release = runner.hold();
    try {
      for await (const entry of waitingEntries(store, { companyId, after: this.#readUpTo })) {
        this.#readUpTo = entry.id;
        if (files.has(locations.fromLedger(entry.source))) continue;
        const file = files.fromLedger(entry);
        // The node that has entered it left the receipt of an earlier file of the name to this one.
        await receipts.clearAll([{ ...file, channel: "recovered" }]);
        runner.add(file);
      }
      this.#inLineUpTo = this.#readUpTo;
    } finally {
      release();
    }
  }
}
