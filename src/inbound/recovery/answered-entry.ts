import { readFile } from "node:fs/promises";
import { unlessMissing } from "../../lib/errors.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile, type LedgerEntry } from "../../store/ledger/files.ts";
import { answeredEntryOf } from "../receipts/receipts.ts";

export interface AnsweredDeps {
  readonly store: Pick<Store, "read">;
  readonly ledgerNumbers: Pick<SealedNumbers, "open">;
}

/** The entry that the receipt at a path answers; undefined when there is no receipt, it says none, or that is gone. */
export async function entryAnsweredAt(
  { store, ledgerNumbers }: AnsweredDeps,
  path: string,
): Promise<LedgerEntry | undefined> {
  const text = (await readFile(path, "utf8").catch(unlessMissing)) ?? "";
  const id = answeredEntryOf(text, ledgerNumbers);
  return id === undefined ? undefined : await findFile(store.read, id);
}
