/**
 * Receipts of a dead node's company that are not there. It may have lost its power, and they with it; mostly a host has fetched
 * and deleted them, at any node, which notes that within two seconds. So they are written again when that would be known: those
 * that no host has collected by then. What cannot be written for a minute is given up, and told.
 */
import { stat } from "node:fs/promises";
import { isOpenState } from "../../domain/files/file-state.ts";
import { unlessMissing } from "../../lib/errors.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Ownership, TakenCompany } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile } from "../../store/ledger/files.ts";
import { receiptFor } from "../places/file-away.ts";
import type { Locations } from "../places/locations.ts";
import { toFilingTask } from "../places/places.ts";
import type { ReceiptFiles } from "../places/receipt-files.ts";
import { type AwaitedReceipts, receiptPathOf } from "../receipts/awaited-receipts.ts";
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

export interface MissingReceipt {
  /** Of its entry in the ledger. */
  readonly id: number;
  readonly path: string;
}

/** Longer than a node takes to note what hosts have collected, also when that fails once. */
export const missingLookMs = 6_000;
const patienceMs = 60_000;

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessMissing)) !== undefined;
}

export class MissingReceipts {
  readonly #deps: MissingReceiptsDeps;
  readonly #left: Set<MissingReceipt>;
  readonly #until = performance.now() + patienceMs;

  constructor(deps: MissingReceiptsDeps, missing: readonly MissingReceipt[]) {
    this.#deps = deps;
    this.#left = new Set(missing);
  }

  /** None is left to look for. */
  get isDone(): boolean {
    return this.#left.size === 0;
  }

  /** Looks for each, unless stopped; what cannot be written now is left for the next look. Never rejects. */
  async look(stopping: AbortSignal): Promise<void> {
    const { ownership, company, failing, log } = this.#deps;
    let written = 0;
    for (const missing of [...this.#left]) {
      if (stopping.aborted || ownership.fenceOf(company.companyId) === undefined) return;
      try {
        const end = await this.#write(missing);
        if (end === "written") written += 1;
        if (end !== "later") this.#left.delete(missing);
      } catch (error) {
        failing.warn({ err: error, ...missing }, "a receipt cannot be written again; retrying");
      }
    }
    const fields = { company: company.companyCode };
    if (written > 0)
      log.info({ ...fields, receipts: written }, "receipts of a node that has died were written again");
    if (this.isDone || performance.now() < this.#until) return;
    const entries = [...this.#left].map(({ id }) => id);
    log.error(
      { ...fields, entries },
      "receipts that a power failure may have taken cannot be written again; `dropgate file ENTRY` shows what they would say",
    );
    this.#left.clear();
  }

  async #write({ id, path }: MissingReceipt): Promise<"none" | "written" | "later"> {
    const entry = await findFile(this.#deps.store.read, id);
    if (entry === undefined || isOpenState(entry.state) || !entry.isFiled) return "none";
    if (entry.receiptCollectedAt !== null || (await isThere(path))) return "none";
    const { locations, company, receiptFiles, receipts } = this.#deps;
    const { companyId, name } = entry;
    // False while a file of the name is on its way: if that comes to nothing, this one is written.
    if (path === receiptPathOf(locations, company.companyCode, name))
      return (await receipts.writeAgain(entry)) ? "written" : "later";
    const from = locations.fromLedger(entry.source);
    const decided = await decidedOf(this.#deps, entry);
    const task = toFilingTask(locations, {
      companyId,
      companyCode: company.companyCode,
      name,
      from,
      decided,
    });
    receiptFiles.write(path, receiptFor(task, path));
    return "written";
  }
}
