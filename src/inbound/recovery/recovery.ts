/** The start's work on the ledger of an earlier run, and files that an administrator retries. */
import { basename, dirname } from "node:path";
import { decidedStates } from "../../domain/files/file-state.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { acceptRetry, findLastRepeats, type LedgerEntry, listOpenFiles } from "../../store/ledger/files.ts";
import { findReceiptSharers } from "../../store/ledger/receipt-sharers.ts";
import { receiptKeyOf } from "../receipts/awaited-receipts.ts";
import type { FilingQueue } from "../places/filing-queue.ts";
import type { CountedPaths } from "../places/counted-paths.ts";
import type { Locations } from "../places/locations.ts";
import { toFilingTask } from "../places/places.ts";
import { receiptsOf, rulesReceipt } from "../receipts/receipts.ts";

/** More than are ever decided and not filed at once, so that a crash leaves one page of them. */
const page = 5_000;
const waitingPage = 2_000;
/** The files of a company wait for it: a server that is asked for one after the other takes seconds. */
export const entriesAtOnce = 16;

interface RecoveryDependencies {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
}

type ReceiptDependencies = { readonly store: Pick<Store, "read"> } & Pick<
  RecoveryDependencies,
  "ledgerNumbers"
>;

type Decided = Parameters<typeof toFilingTask>[1]["decided"] & {
  /** Whether the receipt in `receipts/` is its own, and not that of another file of the name. */
  readonly rulesReceipt: boolean;
};

/** A decided entry, as what files it away needs it; its receipts as they were written, or are to be written. */
export async function decidedOf(
  { store, ledgerNumbers }: ReceiptDependencies,
  entry: LedgerEntry,
): Promise<Decided> {
  const sharers = await findReceiptSharers(store.read, entry);
  const { id, location, sha256 } = entry;
  return {
    ...{ id, location, sha256 },
    reference: ledgerNumbers.seal(id),
    ...(await receiptsOf({ read: store.read, numbers: ledgerNumbers }, entry, sharers)),
    rulesReceipt: rulesReceipt(entry, sharers),
  };
}

/** Repeats what follows a decision, for each entry that was decided and not marked as filed. */
export async function redoFiling(
  deps: RecoveryDependencies,
  filing: FilingQueue,
  knownPaths: Pick<CountedPaths, "add" | "delete">,
  companyId?: number,
): Promise<void> {
  killPoint("recovery.begun");
  for (let afterId = 0; ; ) {
    const asked = { states: decidedStates, afterId, limit: page, companyId };
    const entries = await listOpenFiles(deps.store.read, asked);
    afterId = entries.at(-1)?.id ?? afterId;
    const known = await mapConcurrently(entries, entriesAtOnce, async (entry) => ({
      entry,
      companyCode: await deps.companyCodeOf(entry.companyId),
      decided: await decidedOf(deps, entry),
    }));
    for (const { entry, companyCode, decided } of known) {
      const from = deps.locations.fromLedger(entry.source);
      knownPaths.add(dirname(from), basename(from));
      const { companyId: owner, name } = entry;
      const task = toFilingTask(deps.locations, { companyId: owner, companyCode, name, from, decided });
      const receiptKey = decided.rulesReceipt ? receiptKeyOf(entry) : undefined;
      filing.add(task, receiptKey, { done: () => knownPaths.delete(dirname(from), basename(from)) });
    }
    await filing.drain();
    if (entries.length < page) return;
  }
}

/** An entry that waits. */
export interface WaitingEntry extends LedgerEntry {
  /** Since when, milliseconds UTC; undefined for one that was not decided before: since it was received. */
  readonly retriedAt: number | undefined;
}

async function withRetries(
  { read }: Pick<Store, "read">,
  entries: readonly LedgerEntry[],
): Promise<readonly WaitingEntry[]> {
  if (entries.length === 0) return [];
  const retries = await findLastRepeats(
    read,
    entries.map(({ id }) => id),
  );
  return entries.map((entry) => ({ ...entry, retriedAt: retries.get(entry.id) }));
}

/** The entries that an earlier run, or another node, has left waiting, oldest first; those of one company if given. */
export async function* waitingEntries(
  store: Pick<Store, "read">,
  companyId?: number,
): AsyncGenerator<WaitingEntry> {
  for (let afterId = 0; ; ) {
    const asked = { states: ["waiting"], afterId, limit: waitingPage, companyId } as const;
    const entries = await listOpenFiles(store.read, asked);
    yield* await withRetries(store, entries);
    const last = entries.at(-1);
    if (last === undefined || entries.length < waitingPage) return;
    afterId = last.id;
  }
}

/**
 * Takes entries that an administrator retries, of companies whose work is done here, and hands each over that is waiting then.
 * One that fails keeps no other back; rejects with the first failure.
 */
export async function acceptRetries(
  store: Pick<Store, "read" | "write">,
  isHere: (companyId: number) => boolean,
  accepted: (entry: WaitingEntry) => Promise<void>,
): Promise<void> {
  const all = await listOpenFiles(store.read, { states: ["retry"], afterId: 0, limit: page });
  const asked = all.filter(({ companyId }) => isHere(companyId));
  const failures: unknown[] = [];
  for (const entry of await withRetries(store, asked)) {
    try {
      if (await store.write(entry.companyId, (tx) => acceptRetry(tx, entry))) await accepted(entry);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
