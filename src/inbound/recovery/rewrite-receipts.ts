/**
 * Writes receipts again, from the ledger, which has their content.
 *
 *   after a power failure    they are renamed into place without a sync of their own: so when the machine has restarted since
 *                            the last run, those of its last minutes, or of a node that has died, are compared with the ledger;
 *                            a node that gives a company back syncs them before
 *   of a name                that were withheld for the sake of a file which then was not placed
 */
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isOpenState } from "../../domain/files/file-state.ts";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import type { Clock } from "../../lib/clock.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile, type LedgerEntry, listDecidedSince } from "../../store/ledger/files.ts";
import { findNamesakes } from "../../store/ledger/receipt-sharers.ts";
import { receiptFor } from "../places/file-away.ts";
import type { Locations } from "../places/locations.ts";
import { receiptPathsOf, toFilingTask } from "../places/places.ts";
import type { ReceiptFiles } from "../places/receipt-files.ts";
import { unlessHoldOver } from "../places/shared-moves.ts";
import {
  AwaitedReceipts,
  type AwaitedReceiptsDeps,
  receiptKeyOf,
  type ReceiptOwner,
  type Restoring,
} from "../receipts/awaited-receipts.ts";
import { decidedOf, entriesAtOnce } from "./recovery.ts";

/** The kernel writes back within half a minute, unless it was told otherwise: then what is older is on the disk. */
export const writtenBackMs = 60_000;

interface RecheckDependencies {
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  readonly receiptFiles: ReceiptFiles;
  readonly log: Logger;
}

/** What lies at a path, or above it, is in the way: no further attempt changes that. */
const pathFaults: ReadonlySet<string> = new Set([
  ...["EISDIR", "ENOTDIR", "ENOTEMPTY", "EEXIST", "ELOOP", "ENAMETOOLONG", "EACCES", "EPERM"],
]);

/** Whether it had to be written. */
async function rewriteUnlessSame(deps: RecheckDependencies, path: string, receipt: string): Promise<boolean> {
  if ((await readFile(path, "utf8").catch(unlessMissing)) === receipt) return false;
  deps.receiptFiles.write(path, receipt);
  return true;
}

async function recheckEntry(deps: RecheckDependencies, entry: LedgerEntry): Promise<number> {
  const { state, companyId } = entry;
  if (isOpenState(state) || !entry.isFiled) return 0;
  const companyCode = await deps.companyCodeOf(companyId);
  const decided = await decidedOf(deps, entry);
  const from = deps.locations.fromLedger(entry.source);
  const task = toFilingTask(deps.locations, { companyId, companyCode, name: entry.name, from, decided });
  const paths = decided.rulesReceipt ? task.receiptPaths : task.receiptPaths.slice(1);
  let written = 0;
  for (const path of paths) {
    try {
      if (await rewriteUnlessSame(deps, path, receiptFor(task, path))) written += 1;
    } catch (error) {
      if (!pathFaults.has(systemCodeOf(error) ?? "")) throw error;
      // One receipt keeps no company from its work.
      deps.log.error(
        { company: companyCode, entry: entry.id, path, reason: messageOf(error) },
        "a receipt cannot be compared with the ledger after a power failure, nor written again: clear its path; " +
          "`dropgate file ENTRY` shows what it would say",
      );
    }
  }
  return written;
}

async function syncIfThere(path: string): Promise<void> {
  const file = await open(path).catch(unlessMissing);
  if (file === undefined) return;
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Syncs the receipts of a company that may not be on the disk yet: nobody compares those of a node that has given the company
 * back, and then loses its power. Goes on until the deadline.
 */
export async function syncReceipts(
  { store, locations, clock }: Pick<RecheckDependencies, "store" | "locations"> & { readonly clock: Clock },
  { companyId, companyCode }: { readonly companyId: number; readonly companyCode: string },
  deadline: AbortSignal,
): Promise<void> {
  const entries = await listDecidedSince(store.read, clock.now() - writtenBackMs, companyId);
  const paths = entries.flatMap(({ name, location }) =>
    receiptPathsOf(locations, { companyCode, name, to: locations.fromLedger(location) }),
  );
  await mapConcurrently([...new Set(paths)], entriesAtOnce, async (path) => {
    if (!deadline.aborted) await syncIfThere(path);
  });
}

/** Rewrites the receipts since then that a power failure took, of one company if given; gives their number. */
export async function recheckReceipts(
  deps: RecheckDependencies,
  since: number,
  companyId?: number,
): Promise<number> {
  const entries = await listDecidedSince(deps.store.read, since, companyId);
  const counts = await mapConcurrently(entries, entriesAtOnce, (entry) => recheckEntry(deps, entry));
  const written = counts.reduce((sum, count) => sum + count, 0);
  if (written > 0)
    deps.log.warn({ receipts: written }, "receipts that a power failure took were written again");
  return written;
}

interface RestoreDeps extends Omit<AwaitedReceiptsDeps, "restore"> {
  readonly store: Pick<Store, "read">;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
}

interface NamedReceipt {
  readonly path: string;
  readonly text: string;
  readonly isCollected: boolean;
}

/** The receipt of the name, by the ledger. */
async function receiptOf(deps: RestoreDeps, owner: ReceiptOwner): Promise<NamedReceipt | undefined> {
  const path = join(
    deps.locations.receiptsDirectory(await deps.companyCodeOf(owner.companyId)),
    receiptNameOf(owner.name),
  );
  for (const id of await findNamesakes(deps.store.read, owner)) {
    const entry = await findFile(deps.store.read, id);
    if (entry === undefined || isOpenState(entry.state)) continue;
    const { rulesReceipt, receipt, receiptOfName } = await decidedOf(deps, entry);
    const isCollected = entry.receiptCollectedAt !== null;
    if (rulesReceipt) return { path, text: receiptOfName ?? receipt, isCollected };
  }
  return undefined;
}

/** Writes nothing when `isOver` by then: a file of the name is on its way, and its receipt is the next. */
async function restoreReceipt(
  deps: RestoreDeps,
  owner: ReceiptOwner,
  { isOver, isCollectedToo }: Restoring,
): Promise<void> {
  const receipt = await receiptOf(deps, owner);
  await deps.idle(receiptKeyOf(owner));
  // From here on nothing is waited for: nobody can come in between.
  if (receipt === undefined || isOver() || (receipt.isCollected && !isCollectedToo)) return;
  try {
    deps.receiptFiles.write(receipt.path, receipt.text);
  } catch (error) {
    unlessHoldOver(error);
  }
}

/** The receipts that files on their way are to have; those that they have kept back come again by the ledger. */
export function createAwaitedReceipts(deps: RestoreDeps): AwaitedReceipts {
  return new AwaitedReceipts({
    ...deps,
    restore: (owner, restoring) => restoreReceipt(deps, owner, restoring),
  });
}
