/** Writes the receipt of a name again that was withheld for the sake of a file which then was not placed. */
import { join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile } from "../../store/ledger/files.ts";
import { findNamesakes } from "../../store/ledger/receipt-sharers.ts";
import {
  AwaitedReceipts,
  type AwaitedReceiptsDeps,
  receiptKeyOf,
  type ReceiptOwner,
} from "../receipts/awaited-receipts.ts";
import { writeReceiptDurably } from "../places/file-away.ts";
import { decidedOf } from "./recovery.ts";

export interface RestoreDeps extends Omit<AwaitedReceiptsDeps, "restore"> {
  readonly store: Pick<Store, "read">;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
}

interface NamedReceipt {
  readonly path: string;
  readonly text: string;
}

/** What stands in `receipts/` for the name, by the ledger. */
async function receiptOf(deps: RestoreDeps, owner: ReceiptOwner): Promise<NamedReceipt | undefined> {
  const path = join(
    deps.locations.receiptsDirectory(await deps.companyCodeOf(owner.companyId)),
    receiptNameOf(owner.name),
  );
  for (const id of await findNamesakes(deps.store.read, owner)) {
    const entry = await findFile(deps.store.read, id);
    if (entry === undefined || entry.state === "waiting" || entry.state === "retry") continue;
    const { rulesReceipt, receipt, receiptOfName } = await decidedOf(deps, entry);
    if (rulesReceipt) return { path, text: receiptOfName ?? receipt };
  }
  return undefined;
}

/** Nothing is written when `isOver` by then: a file of the name is on its way, and its receipt is the next. */
async function restoreReceipt(deps: RestoreDeps, owner: ReceiptOwner, isOver: () => boolean): Promise<void> {
  const receipt = await receiptOf(deps, owner);
  await deps.idle(receiptKeyOf(owner));
  // From here on nothing is waited for: nobody can come in between.
  if (receipt !== undefined && !isOver()) writeReceiptDurably(receipt.path, receipt.text);
}

/** The receipts that files on their way are to have; those that they have kept back come again by the ledger. */
export function createAwaitedReceipts(deps: RestoreDeps): AwaitedReceipts {
  return new AwaitedReceipts({
    ...deps,
    restore: (owner, isOver) => restoreReceipt(deps, owner, isOver),
  });
}
