/** The text of a receipt, from what the ledger keeps of its file: the same whenever it is written. */
import { writeStopResponse } from "../documents/stop-response.ts";
import { baseNameOf } from "../domain/stop-file-name.ts";
import type { SealedNumbers } from "../lib/sealed-numbers.ts";
import type { LedgerEntry } from "../store/files.ts";

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
