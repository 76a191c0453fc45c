/**
 * Writes receipts again, from the ledger, which has their content.
 *
 *   after a power failure    they are renamed into place without a sync of their own: so when the machine has restarted since
 *                            the last run, those of its last minutes are compared with the ledger
 *   after a node's death     the same, while the company's work goes on (`OrphanedReceipts`). A node that gives a company back
 *                            syncs them before
 *   of a name                that were withheld for the sake of a file which then was not placed
 */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { isOpenState } from "../../domain/files/file-state.ts";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import type { Clock } from "../../lib/clock.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { portionsOf } from "../../lib/portions.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile, type LedgerEntry, listFiledSince } from "../../store/ledger/files.ts";
import { findNamesakes } from "../../store/ledger/receipt-sharers.ts";
import { receiptPathsOf } from "../places/places.ts";
import type { ReceiptFiles } from "../places/receipt-files.ts";
import { unlessHoldOver } from "../places/shared-moves.ts";
import {
  AwaitedReceipts,
  type AwaitedReceiptsDeps,
  receiptKeyOf,
  type ReceiptOwner,
  type Restoring,
  type WrittenAgain,
} from "../receipts/awaited-receipts.ts";
import { answeredEntryOf } from "../receipts/receipts.ts";
import { type CompareDeps, comparedAtOnce, findFaultyReceipts, tellPathFault } from "./compare-receipts.ts";
import { decidedOf, entriesAtOnce } from "./recovery.ts";

/** The kernel writes back within half a minute, unless it was told otherwise: then what is older is on the disk. */
export const writtenBackMs = 60_000;

interface RecheckDependencies extends CompareDeps {
  readonly receiptFiles: Pick<ReceiptFiles, "write">;
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
  { store, locations, clock }: Pick<CompareDeps, "store" | "locations"> & { readonly clock: Clock },
  { companyId, companyCode }: { readonly companyId: number; readonly companyCode: string },
  deadline: AbortSignal,
): Promise<void> {
  const entries = await listFiledSince(store.read, clock.now() - writtenBackMs, companyId);
  const paths = entries.flatMap(({ name, location }) =>
    receiptPathsOf(locations, { companyCode, name, to: locations.fromLedger(location) }),
  );
  await mapConcurrently([...new Set(paths)], entriesAtOnce, async (path) => {
    if (!deadline.aborted) await syncIfThere(path);
  });
}

/** Rewrites the receipts since then that a power failure took; gives their number. */
export async function recheckReceipts(deps: RecheckDependencies, since: number): Promise<number> {
  const entries = await listFiledSince(deps.store.read, since);
  let written = 0;
  for (const portion of portionsOf(entries, comparedAtOnce))
    for (const { entry, path, text } of await findFaultyReceipts(deps, portion)) {
      try {
        await deps.receiptFiles.write(path, text);
        written += 1;
      } catch (error) {
        const company = await deps.companyCodeOf(entry.companyId);
        tellPathFault(deps.log, { company, entry: entry.id, path }, error);
      }
    }
  if (written > 0)
    deps.log.warn({ receipts: written }, "receipts that a power failure took were written again");
  return written;
}

interface RestoreDeps extends Omit<AwaitedReceiptsDeps, "restore"> {
  readonly store: Pick<Store, "read">;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal" | "open">;
}

/** Of a refusal that came late, the receipt of its name is that of another entry: who has collected it is noted there. */
async function isCollected(
  { store, ledgerNumbers }: Pick<RestoreDeps, "store" | "ledgerNumbers">,
  entry: LedgerEntry,
  text: string,
): Promise<boolean> {
  const id = answeredEntryOf(text, ledgerNumbers);
  const owner = id === undefined || id === entry.id ? entry : await findFile(store.read, id);
  return (owner ?? entry).receiptCollectedAt !== null;
}

interface NamedReceipt {
  /** The entry that has it. */
  readonly id: number;
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
    if (!rulesReceipt) continue;
    const text = receiptOfName ?? receipt;
    return { id, path, text, isCollected: await isCollected(deps, entry, text) };
  }
  return undefined;
}

/** Writes nothing when `isOver` by then: a file of the name is on its way, and its receipt is the next. */
async function restoreReceipt(
  deps: RestoreDeps,
  owner: ReceiptOwner,
  { isOver, isCollectedToo, onlyOf, onlyIf }: Restoring,
): Promise<WrittenAgain> {
  const receipt = await receiptOf(deps, owner);
  await deps.idle(receiptKeyOf(owner));
  // Whoever comes from here on changes the receipt after that, and may have it be over until its turn has come.
  if (isOver()) return "later";
  if (receipt === undefined || (receipt.isCollected && !isCollectedToo)) return "none";
  if (onlyOf !== undefined && receipt.id !== onlyOf) return "none";
  try {
    const isWritten = await deps.receiptFiles.write(receipt.path, receipt.text, { onlyIf, isOver });
    return isWritten ? "written" : "later";
  } catch (error) {
    unlessHoldOver(error);
    return "later";
  }
}

/** The receipts that files on their way are to have; those that they have kept back come again by the ledger. */
export function createAwaitedReceipts(deps: RestoreDeps): AwaitedReceipts {
  return new AwaitedReceipts({
    ...deps,
    restore: (owner, restoring) => restoreReceipt(deps, owner, restoring),
  });
}
