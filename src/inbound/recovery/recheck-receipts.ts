/**
 * After a power failure: receipts are renamed into place without a sync of their own, because the ledger has their
 * content. So when the machine has been started anew since the last run, the receipts of the last minutes before it
 * ended are compared with the ledger, and written again where they are missing or torn.
 */
import { readFile } from "node:fs/promises";
import { unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { listDecidedSince, type LedgerEntry } from "../../store/ledger/files.ts";
import { receiptFor, writeReceiptDurably } from "../places/file-away.ts";
import type { Locations } from "../places/locations.ts";
import { toFilingTask } from "../places/places.ts";
import { decidedOf } from "./recovery.ts";

/** The kernel writes back within half a minute; the daemon notes that it is alive more often than each minute. */
const marginMs = 180_000;

export interface RecheckDependencies {
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  readonly log: Logger;
}

async function readIfThere(path: string): Promise<string | undefined> {
  return await readFile(path, "utf8").catch(unlessMissing);
}

async function recheckEntry(deps: RecheckDependencies, entry: LedgerEntry): Promise<number> {
  const { state, companyId } = entry;
  if (state === "waiting" || state === "retry" || !entry.isFiled) return 0;
  const companyCode = await deps.companyCodeOf(companyId);
  const decided = await decidedOf(deps, entry);
  const from = deps.locations.fromLedger(entry.source);
  const task = toFilingTask(deps.locations, { companyId, companyCode, name: entry.name, from, decided });
  const paths = decided.rulesReceipt ? task.receiptPaths : task.receiptPaths.slice(1);
  let written = 0;
  for (const path of paths) {
    const receipt = receiptFor(task, path);
    if ((await readIfThere(path)) === receipt) continue;
    writeReceiptDurably(path, receipt);
    written += 1;
  }
  return written;
}

/** Rewrites the receipts that a power failure took; gives their number. */
export async function recheckReceipts(deps: RecheckDependencies, aliveAt: number): Promise<number> {
  let written = 0;
  for (const entry of await listDecidedSince(deps.store.read, aliveAt - marginMs)) {
    written += await recheckEntry(deps, entry);
  }
  if (written > 0)
    deps.log.warn({ receipts: written }, "receipts that a power failure took were written again");
  return written;
}
