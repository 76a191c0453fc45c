/** Which receipts of the ledger's entries are not in their folders as the ledger has them. */
import { readFile, stat } from "node:fs/promises";
import { isOpenState } from "../../domain/files/file-state.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import type { LedgerEntry } from "../../store/ledger/files.ts";
import { receiptFor } from "../places/file-away.ts";
import type { Locations } from "../places/locations.ts";
import { toFilingTask } from "../places/places.ts";
import { decidedOf, entriesAtOnce } from "./recovery.ts";

export interface CompareDeps {
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  readonly log: Logger;
}

/** Something else is there; or what is to be there, but since the death of a node; or nothing. */
export type ReceiptFault = "other" | "young" | "missing";

export interface ReceiptToBe {
  readonly entry: LedgerEntry;
  readonly path: string;
  readonly text: string;
}

export interface FaultyReceipt extends ReceiptToBe {
  readonly fault: ReceiptFault;
}

/** Entries that are compared at a time. */
export const comparedAtOnce = 64;

/** What lies at a path, or above it, is in the way: no further attempt changes that. */
const pathFaults: ReadonlySet<string> = new Set([
  ...["EISDIR", "ENOTDIR", "ENOTEMPTY", "EEXIST", "ELOOP", "ENAMETOOLONG", "EACCES", "EPERM"],
]);

const isPathFault = (error: unknown) => pathFaults.has(systemCodeOf(error) ?? "");

/** Tells of what is in the way of a receipt, which keeps no company from its work; throws all other errors. */
export function tellPathFault(
  log: Logger,
  of: { readonly company: string; readonly entry: number; readonly path: string },
  error: unknown,
): void {
  if (!isPathFault(error)) throw error;
  log.error(
    { ...of, reason: messageOf(error) },
    "a receipt cannot be compared with the ledger, nor written again: clear its path; " +
      "`dropgate file ENTRY` shows what it would say",
  );
}

/**
 * What is there. A receipt that has come after the death of a node is to be written too: a further node may have taken the
 * company over in between, stand still since, and remove it when it goes on (`shared-moves.ts`).
 */
async function faultAt(
  path: string,
  receipt: string,
  { isCollected, orphanedAt }: { readonly isCollected: boolean; readonly orphanedAt: number | undefined },
): Promise<ReceiptFault | undefined> {
  const text = await readFile(path, "utf8").catch(unlessMissing);
  if (text === undefined) return "missing";
  if (text !== receipt) return "other";
  if (orphanedAt === undefined || isCollected) return undefined;
  const found = await stat(path).catch(unlessMissing);
  if (found === undefined) return "missing";
  return found.ctimeMs < orphanedAt ? undefined : "young";
}

/** Every receipt of an entry, but the one of its name when that is another entry's. */
export async function receiptsToBe(
  deps: Omit<CompareDeps, "log">,
  entry: LedgerEntry,
): Promise<readonly ReceiptToBe[]> {
  const { companyId, name } = entry;
  const companyCode = await deps.companyCodeOf(companyId);
  const decided = await decidedOf(deps, entry);
  const from = deps.locations.fromLedger(entry.source);
  const task = toFilingTask(deps.locations, { companyId, companyCode, name, from, decided });
  const paths = decided.rulesReceipt ? task.receiptPaths : task.receiptPaths.slice(1);
  return paths.map((path) => ({ entry, path, text: receiptFor(task, path) }));
}

export interface Comparing {
  /** When the node of their company had died, milliseconds UTC; not given after a power failure of the only one. */
  readonly orphanedAt?: number;
  /** What to make of a receipt that cannot be read; an error about its path is told, and no other is expected, unless given. */
  readonly unread?: (receipt: ReceiptToBe, error: unknown) => ReceiptFault;
}

/** Of these entries, those that are decided and filed. */
export async function findFaultyReceipts(
  deps: CompareDeps,
  entries: readonly LedgerEntry[],
  { orphanedAt, unread }: Comparing = {},
): Promise<readonly FaultyReceipt[]> {
  const filed = entries.filter(({ state, isFiled }) => isFiled && !isOpenState(state));
  // In one turn: a database server then answers all of them at once.
  const toBe = (await Promise.all(filed.map((entry) => receiptsToBe(deps, entry)))).flat();
  const compared = await mapConcurrently(toBe, entriesAtOnce, async (receipt) => {
    const { entry, path, text } = receipt;
    try {
      const isCollected = entry.receiptCollectedAt !== null;
      const fault = await faultAt(path, text, { isCollected, orphanedAt });
      return fault === undefined ? [] : [{ ...receipt, fault }];
    } catch (error) {
      if (!isPathFault(error) && unread !== undefined) return [{ ...receipt, fault: unread(receipt, error) }];
      const company = await deps.companyCodeOf(entry.companyId);
      tellPathFault(deps.log, { company, entry: entry.id, path }, error);
      return [];
    }
  });
  return compared.flat();
}
