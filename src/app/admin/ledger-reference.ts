/** Ledger entries as people name them: by their number, or by the reference that stands in the receipt (`Ledger`). */
import { ledgerNumberKind } from "../../inbound/receipts/receipts.ts";
import { createSealedNumbers, isSealedForm } from "../../lib/sealed-numbers.ts";
import { findSealingKey } from "../../store/database/meta.ts";
import { counted } from "../../lib/counted.ts";
import { forgottenText } from "../../domain/retention/pruned-text.ts";
import { listForgotten, newestFileId } from "../../store/ledger/entry-retention.ts";
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

const mostCompanies = 3;

/** Why there is no entry of that name: its age, where that may be so; undefined when it is not, or not known. */
export async function whyNoEntry(store: AdminStore, named: string): Promise<string | undefined> {
  const id = await numberOf(store, named);
  if (id === undefined || id > (await newestFileId(store.read))) return undefined;
  const forgotten = await listForgotten(store.read);
  if (forgotten.length === 0) return undefined;
  const told = forgotten.slice(0, mostCompanies).map(forgottenText);
  const more = forgotten.length - told.length;
  const others = more === 0 ? [] : [`so were some of ${counted(more, "more company", "more companies")}`];
  return `the ledger entry ${named} is kept no longer: ${[...told, ...others].join("; ")}`;
}
