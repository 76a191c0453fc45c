/** Ledger entries as people name them: by their number, or by the reference that stands in the receipt (`Ledger`). */
import { ledgerNumberKind } from "../../inbound/receipts/receipts.ts";
import { createSealedNumbers, isSealedForm } from "../../lib/sealed-numbers.ts";
import { findSealingKey } from "../../store/database/meta.ts";
import type { AdminStore } from "./admin-store.ts";

/** The number of the entry; undefined when it is no reference of this installation. */
export async function entryNumberOf(
  { read }: Pick<AdminStore, "read">,
  given: string,
): Promise<number | undefined> {
  if (!isSealedForm(given)) return /^[1-9]\d{0,15}$/.test(given) ? Number(given) : undefined;
  const key = await findSealingKey(read);
  return key === undefined ? undefined : createSealedNumbers(key, ledgerNumberKind).open(given);
}
