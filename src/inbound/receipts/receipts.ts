/** The text of a receipt, from what the ledger keeps of its file: the same whenever it is written. */
import { writeStopResponse } from "../../documents/writing/stop-response.ts";
import { baseNameOf } from "../../domain/files/stop-file-name.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import { isRefusal } from "../../domain/files/file-state.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findFile, type LedgerEntry } from "../../store/ledger/files.ts";
import { isDecidedSharer, type ReceiptSharer } from "../../store/ledger/receipt-sharers.ts";

/** The kind under which numbers of ledger entries are sealed. */
export const ledgerNumberKind = "file";

/** The outcome of an entry. */
type Outcome = Pick<LedgerEntry, "name" | "documentId" | "faults" | "created" | "updated" | "deleted">;

/** What receipts need of a decided entry. */
type AnsweredEntry = Outcome & Pick<LedgerEntry, "id" | "sha256" | "receivedAt" | "state" | "firstId">;

/** The receipt of a duplicate shows the outcome of the first, and that it answers the second file. */
function receiptText(
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

/** The one that came last, of those that came later than the entry that was asked for. */
function newestOf(sharers: readonly ReceiptSharer[]): number | undefined {
  const newer = sharers.filter(({ isNewer }) => isNewer);
  return newer.sort((a, b) => a.receivedAt - b.receivedAt || a.id - b.id).at(-1)?.id;
}

/**
 * The decided entry of the name whose receipt stays when this one is a refusal: one that came later. Undefined when the
 * receipt of this entry is the one of its name. `first`: the entry whose outcome it has.
 */
function newestToAnswer(
  first: Pick<LedgerEntry, "state">,
  sharers: readonly ReceiptSharer[],
): number | undefined {
  return isRefusal(first.state) ? newestOf(sharers.filter(isDecidedSharer)) : undefined;
}

/**
 * The moment of a decision, for the ledger: later than that of all other decisions about the name, also when the clock was
 * set back, so that the ledger says which was the last.
 */
export function momentOfDecision(now: number, sharers: readonly ReceiptSharer[]): number {
  return Math.max(now, ...sharers.map(({ decidedAt }) => (decidedAt ?? 0) + 1));
}

/**
 * Whether the receipt in `receipts/` is that of this decided entry: it is the last of the name to be decided.
 */
export function rulesReceipt(
  entry: Pick<LedgerEntry, "id" | "decidedAt">,
  sharers: readonly ReceiptSharer[],
): boolean {
  const isBefore = (other: ReceiptSharer) =>
    (other.decidedAt ?? 0) - (entry.decidedAt ?? 0) || other.id - entry.id;
  return sharers.every((other) => isDecidedSharer(other) && isBefore(other) < 0);
}

/** Of a duplicate: the entry whose outcome it has. */
async function firstOf(
  read: Transaction | Reader,
  { firstId }: Pick<LedgerEntry, "firstId">,
): Promise<LedgerEntry | undefined> {
  return firstId === null ? undefined : await findFile(read, firstId);
}

export interface Receipts {
  /** What answers the entry. */
  readonly receipt: string;
  /** The one in `receipts/`, when it is that of a file of the name that came later: a refusal does not replace it. */
  readonly receiptOfName: string | undefined;
}

/** The number of the ledger entry that a receipt answers, as its text tells; undefined when that is none of this database. */
export function answeredEntryOf(receipt: string, numbers: Pick<SealedNumbers, "open">): number | undefined {
  return numbers.open(/ Ledger="([^"]+)"/.exec(receipt)?.[1] ?? "");
}

/** The receipts of a decided entry, as they are to be written or were; `sharers` have theirs under the same name. */
export async function receiptsOf(
  { read, numbers }: { readonly read: Transaction | Reader; readonly numbers: Pick<SealedNumbers, "seal"> },
  entry: AnsweredEntry,
  sharers: readonly ReceiptSharer[],
): Promise<Receipts> {
  const first = await firstOf(read, entry);
  const receipt = receiptText(numbers, entry, first);
  const newestId = newestToAnswer(first ?? entry, sharers);
  const newest = newestId === undefined ? undefined : await findFile(read, newestId);
  const receiptOfName =
    newest === undefined ? undefined : receiptText(numbers, newest, await firstOf(read, newest));
  return { receipt, receiptOfName };
}
