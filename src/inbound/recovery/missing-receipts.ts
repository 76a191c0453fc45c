/**
 * Receipts of a dead node's company that are not there. It may have lost its power, and they with it; mostly a host has fetched
 * and deleted them, at any node, which notes that within two seconds. So they are written again when that would be known: those
 * that no host has collected by then.
 */
import { stat } from "node:fs/promises";
import { isOpenState } from "../../domain/files/file-state.ts";
import { unlessMissing } from "../../lib/errors.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Ownership, TakenCompany } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile, type LedgerEntry } from "../../store/ledger/files.ts";
import { receiptFor } from "../places/file-away.ts";
import type { Locations } from "../places/locations.ts";
import { toFilingTask } from "../places/places.ts";
import type { ReceiptFiles } from "../places/receipt-files.ts";
import type { AwaitedReceipts } from "../receipts/awaited-receipts.ts";
import { decidedOf } from "./recovery.ts";

export interface MissingReceiptsDeps {
  readonly company: TakenCompany;
  readonly ownership: Pick<Ownership, "fenceOf">;
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly receiptFiles: ReceiptFiles;
  readonly receipts: Pick<AwaitedReceipts, "writeAgain">;
  readonly log: Logger;
  readonly failing: LimitedLog;
}

/** Longer than a node takes to note what hosts have collected. */
export const missingLookMs = 3_000;

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessMissing)) !== undefined;
}

export class MissingReceipts {
  readonly #deps: MissingReceiptsDeps;
  /** Entries of the ledger. */
  readonly #left: Set<number>;

  constructor(deps: MissingReceiptsDeps, entries: readonly number[]) {
    this.#deps = deps;
    this.#left = new Set(entries);
  }

  /** None is left to look for. */
  get isDone(): boolean {
    return this.#left.size === 0;
  }

  /** Looks for each, unless stopped; what cannot be written now is left for the next look. Never rejects. */
  async look(stopping: AbortSignal): Promise<void> {
    const { ownership, company, failing, log } = this.#deps;
    let written = 0;
    for (const id of [...this.#left]) {
      if (stopping.aborted || ownership.fenceOf(company.companyId) === undefined) break;
      try {
        const entry = await findFile(this.#deps.store.read, id);
        const end = entry === undefined ? "none" : await this.#writeOf(entry);
        if (end === "written") written += 1;
        if (end !== "later") this.#left.delete(id);
      } catch (error) {
        failing.warn({ err: error, entry: id }, "the receipt of a file cannot be written again; retrying");
      }
    }
    const fields = { company: company.companyCode, receipts: written };
    if (written > 0) log.info(fields, "receipts of a node that has died were written again");
  }

  async #writeOf(entry: LedgerEntry): Promise<"none" | "written" | "later"> {
    const { state, isFiled, receiptCollectedAt, companyId, name } = entry;
    if (isOpenState(state) || !isFiled || receiptCollectedAt !== null) return "none";
    const { locations, company, receiptFiles, receipts } = this.#deps;
    const from = locations.fromLedger(entry.source);
    const { companyCode } = company;
    const decided = await decidedOf(this.#deps, entry);
    const task = toFilingTask(locations, { companyId, companyCode, name, from, decided });
    const [ofName, ...beside] = task.receiptPaths;
    let end: "none" | "written" = "none";
    for (const path of beside) {
      if (await isThere(path)) continue;
      receiptFiles.write(path, receiptFor(task, path));
      end = "written";
    }
    if (ofName === undefined || !decided.rulesReceipt || (await isThere(ofName))) return end;
    // False while a file of the name is on its way: if that comes to nothing, this one is written.
    return (await receipts.writeAgain(entry)) ? "written" : "later";
  }
}
