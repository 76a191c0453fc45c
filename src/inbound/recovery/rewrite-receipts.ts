/**
 * Writes receipts again, from the ledger, which has their content.
 *
 *   after a power failure    they are renamed into place without a sync of their own: so when the machine has restarted since
 *                            the last run, those of its last minutes are compared with the ledger
 *   after a node's death     the same, for it may have lost its power; but mostly it has not, and what is not there was deleted
 *                            by a host: so such a one waits until that would be known (`MissingReceipts`). A node that gives a
 *                            company back syncs them before
 *   of a name                that were withheld for the sake of a file which then was not placed
 */
import { existsSync } from "node:fs";
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isOpenState } from "../../domain/files/file-state.ts";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import type { Clock } from "../../lib/clock.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile, type LedgerEntry, listFiledSince } from "../../store/ledger/files.ts";
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
  receiptsOnTheirWay,
  type Restoring,
} from "../receipts/awaited-receipts.ts";
import { answeredEntryOf } from "../receipts/receipts.ts";
import type { MissingReceipt } from "./missing-receipts.ts";
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

/** A company that a node takes over of one that has died. */
export interface OrphanedCompany {
  readonly companyId: number;
  readonly companyCode: string;
  /** When that node was surely there for the last time, milliseconds UTC. */
  readonly orphanedAt: number;
}

interface Recheck {
  readonly orphaned: OrphanedCompany | undefined;
  /** The receipts of names that have a file on its way. */
  readonly withheld: ReadonlySet<string>;
}

type Found = "as it has to be" | "other" | "missing";

/**
 * What is there. A receipt that has come after the death of a node counts as another one: a further node has taken the company
 * over in between, stands still since, and removes it when it goes on (`shared-moves.ts`).
 */
async function lookAt(
  path: string,
  receipt: string,
  { orphaned, isCollected }: Recheck & { readonly isCollected: boolean },
): Promise<Found> {
  const text = await readFile(path, "utf8").catch(unlessMissing);
  if (text === undefined) return "missing";
  if (text !== receipt) return "other";
  if (orphaned === undefined || isCollected) return "as it has to be";
  const found = await stat(path).catch(unlessMissing);
  if (found === undefined) return "missing";
  return found.ctimeMs < orphaned.orphanedAt ? "as it has to be" : "other";
}

interface Compared {
  /** How many receipts of the entry were written. */
  readonly written: number;
  /** Where one was to be, and was not written: its host may have deleted it. */
  readonly missing: readonly string[];
}

const nothing: Compared = { written: 0, missing: [] };

async function recheckEntry(
  deps: RecheckDependencies,
  entry: LedgerEntry,
  recheck: Recheck,
): Promise<Compared> {
  const { state, companyId } = entry;
  if (isOpenState(state) || !entry.isFiled) return nothing;
  const companyCode = await deps.companyCodeOf(companyId);
  const decided = await decidedOf(deps, entry);
  const from = deps.locations.fromLedger(entry.source);
  const task = toFilingTask(deps.locations, { companyId, companyCode, name: entry.name, from, decided });
  const paths = decided.rulesReceipt ? task.receiptPaths : task.receiptPaths.slice(1);
  const isCollected = entry.receiptCollectedAt !== null;
  const missing: string[] = [];
  let written = 0;
  for (const path of paths.filter((one) => !recheck.withheld.has(one))) {
    const receipt = receiptFor(task, path);
    try {
      const found = await lookAt(path, receipt, { ...recheck, isCollected });
      if (found === "as it has to be") continue;
      // Others are written meanwhile: a host may delete it after the look.
      const isMissing = recheck.orphaned !== undefined && (found === "missing" || !existsSync(path));
      if (isMissing) {
        missing.push(path);
        continue;
      }
      deps.receiptFiles.write(path, receipt);
      written += 1;
    } catch (error) {
      if (!pathFaults.has(systemCodeOf(error) ?? "")) throw error;
      // One receipt keeps no company from its work.
      deps.log.error(
        { company: companyCode, entry: entry.id, path, reason: messageOf(error) },
        "a receipt cannot be compared with the ledger, nor written again: clear its path; " +
          "`dropgate file ENTRY` shows what it would say",
      );
    }
  }
  return { written, missing };
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
  const entries = await listFiledSince(store.read, clock.now() - writtenBackMs, companyId);
  const paths = entries.flatMap(({ name, location }) =>
    receiptPathsOf(locations, { companyCode, name, to: locations.fromLedger(location) }),
  );
  await mapConcurrently([...new Set(paths)], entriesAtOnce, async (path) => {
    if (!deadline.aborted) await syncIfThere(path);
  });
}

async function recheckAll(
  deps: RecheckDependencies,
  entries: readonly LedgerEntry[],
  recheck: Recheck,
): Promise<Readonly<{ written: number; missing: readonly MissingReceipt[] }>> {
  const compared = await mapConcurrently(entries, entriesAtOnce, (entry) =>
    recheckEntry(deps, entry, recheck),
  );
  const written = compared.reduce((sum, one) => sum + one.written, 0);
  const missing = entries.flatMap(({ id }, at) =>
    (compared[at]?.missing ?? []).map((path) => ({ id, path })),
  );
  return { written, missing };
}

/** Rewrites the receipts since then that a power failure took; gives their number. */
export async function recheckReceipts(deps: RecheckDependencies, since: number): Promise<number> {
  const entries = await listFiledSince(deps.store.read, since);
  const { written } = await recheckAll(deps, entries, { orphaned: undefined, withheld: new Set() });
  if (written > 0)
    deps.log.warn({ receipts: written }, "receipts that a power failure took were written again");
  return written;
}

/**
 * Rewrites those of a dead node's company that it may have lost with its power. Gives those that are not
 * there, for `MissingReceipts`.
 */
export async function recheckOrphaned(
  deps: RecheckDependencies,
  orphaned: OrphanedCompany,
): Promise<readonly MissingReceipt[]> {
  const { companyId, companyCode: company } = orphaned;
  const entries = await listFiledSince(deps.store.read, orphaned.orphanedAt - writtenBackMs, companyId);
  const withheld = new Set(await receiptsOnTheirWay(deps.locations, company));
  const { written, missing } = await recheckAll(deps, entries, { orphaned, withheld });
  if (written > 0)
    deps.log.info({ company, receipts: written }, "receipts of a node that has died were written again");
  return missing;
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
    return { path, text, isCollected: await isCollected(deps, entry, text) };
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
