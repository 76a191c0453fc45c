/** Ledger entries as people name them: by their number, or by the reference that stands in the receipt (`Ledger`). */
import { ledgerNumberKind } from "../../inbound/receipts/receipts.ts";
import { createSealedNumbers, isSealedForm } from "../../lib/sealed-numbers.ts";
import { findSealingKey } from "../../store/database/meta.ts";
import { findFile, type LedgerEntry } from "../../store/ledger/files.ts";
import type { AdminStore } from "./admin-store.ts";

async function numberOf({ read }: AdminStore, named: string): Promise<number | undefined> {
  if (!isSealedForm(named)) return /^[1-9]\d{0,15}$/.test(named) ? Number(named) : undefined;
  const key = await findSealingKey(read);
  return key === undefined ? undefined : createSealedNumbers(key, ledgerNumberKind).open(named);
}

/** The entry; undefined when there is none, or the reference is of another installation. */
export async function findEntry(store: AdminStore, named: string): Promise<LedgerEntry | undefined> {
  const id = await numberOf(store, named);
  return id === undefined ? undefined : await findFile(store.read, id);
}
