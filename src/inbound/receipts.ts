/** The text of a receipt, from what the ledger keeps of its file: the same whenever it is written. */
import { writeStopResponse } from "../documents/stop-response.ts";
import { baseNameOf } from "../domain/stop-file-name.ts";
import type { SealedNumbers } from "../lib/sealed-numbers.ts";
import { isRefusal } from "../domain/file-state.ts";
import type { Reader } from "../store/database.ts";
import type { Transaction } from "../store/group-commit.ts";
import { findDecidedNamesakes, findFile, type LedgerEntry, newestOf } from "../store/files.ts";

/** The kind under which numbers of ledger entries are sealed. */
export const ledgerNumberKind = "file";

/** What an entry says of its outcome. */
type Outcome = Pick<LedgerEntry, "name" | "documentId" | "faults" | "created" | "updated" | "deleted">;

/** What a receipt says of a decided entry. */
export type AnsweredEntry = Outcome & Pick<LedgerEntry, "id" | "sha256" | "receivedAt">;

/** The receipt of a duplicate tells the outcome of the first, and that it answers the file that came again. */
export function receiptText(
  numbers: Pick<SealedNumbers, "seal">,
  entry: AnsweredEntry,
  first: Outcome | undefined,
): string {
  const { name, documentId, faults, created, updated, deleted } = first ?? entry;
  const { id, sha256, receivedAt } = entry;
  return writeStopResponse({
    file: { sha256: sha256 ?? undefined, receivedAt, ledger: numbers.seal(id) },
    documentId: documentId ?? baseNameOf(name),
    faults,
    created,
    updated,
    deleted,
  });
}

/**
 * The decided entry of the name whose receipt stays when this one is a refusal: one that came later. Undefined when the
 * receipt of this entry is the one of its name. `first`: the entry whose outcome it has.
 */
export async function newestToAnswer(
  read: Transaction | Reader,
  entry: Pick<LedgerEntry, "id" | "companyId" | "name">,
  first: Pick<LedgerEntry, "state">,
): Promise<number | undefined> {
  if (!isRefusal(first.state)) return undefined;
  return newestOf(await findDecidedNamesakes(read, entry));
}

/** The receipt of the entry that came last. */
export async function receiptOfNewest(
  read: Transaction | Reader,
  numbers: Pick<SealedNumbers, "seal">,
  id: number,
): Promise<string | undefined> {
  const entry = await findFile(read, id);
  if (entry === undefined) return undefined;
  const first = entry.firstId === null ? undefined : await findFile(read, entry.firstId);
  return receiptText(numbers, entry, first);
}
