/**
 * Removes the receipt of a file, but never that of a later file of the name, which may be written at the same moment:
 *
 *   NAME ──renamed──> .ID.pruned ──is it its own, and the entry as it was?──> kept elsewhere if wanted ──> removed
 *                          └── no ──> NAME again, unless there is a newer one
 */
import { lstat, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unlessMissing } from "../../lib/errors.ts";
import { isThere } from "../../lib/files/is-there.ts";
import * as changes from "../../lib/files/changes.ts";
import { putBack } from "../../lib/files/put-back.ts";

export interface OwnReceipt {
  readonly path: string;
  /** Of the ledger entry that it answers, as it stands in it. */
  readonly reference: string;
  readonly fileId: number;
}

/** More than the largest receipt has, with all the errors that it may list. */
const maxReceiptBytes = 1024 * 1024;

/** One without a reference is of an early version, and so older than any with one. */
function answers(text: string, reference: string): boolean {
  return (
    text.includes(`Ledger="${reference}"`) || (text.includes("<StopResponse") && !text.includes(' Ledger="'))
  );
}

/** The size of the receipt at a path when it answers the entry; undefined for another, and when there is none. */
export async function receiptBytes(path: string, reference: string): Promise<number | undefined> {
  const stats = await lstat(path).catch(unlessMissing);
  if (stats === undefined || !stats.isFile() || stats.size > maxReceiptBytes) return undefined;
  const text = await readFile(path, "utf8").catch(unlessMissing);
  return text !== undefined && answers(text, reference) ? stats.size : undefined;
}

function asideOf({ path, fileId }: OwnReceipt): string {
  return join(dirname(path), `.${fileId}.pruned`);
}

/** Its bytes, when there is one and it is its own. */
export async function ownReceiptBytes(receipt: OwnReceipt): Promise<number | undefined> {
  return (
    (await receiptBytes(receipt.path, receipt.reference)) ??
    (await receiptBytes(asideOf(receipt), receipt.reference))
  );
}

export interface ReceiptRemoval {
  /** Whether the entry is still as the caller saw it: a file that was tried again gets a new receipt of the same reference. */
  readonly isStillOld: () => Promise<boolean>;
  /** Has it at another place before it is removed. */
  readonly keep?: ((aside: string) => Promise<void>) | undefined;
}

/** `isTouched`: the folder has changed, and the caller syncs it. */
export interface ReceiptOutcome {
  readonly isTouched: boolean;
  /** Of the receipt that was removed. */
  readonly bytes?: number;
}

/** Removes it, but not another's. What cannot be kept elsewhere is put back. */
export async function removeOwnReceipt(
  receipt: OwnReceipt,
  { isStillOld, keep }: ReceiptRemoval,
): Promise<ReceiptOutcome> {
  const { path, reference } = receipt;
  const aside = asideOf(receipt);
  if ((await receiptBytes(path, reference)) !== undefined)
    await changes.rename(path, aside).catch(unlessMissing);
  if (!(await isThere(aside))) return { isTouched: false };
  const bytes = await receiptBytes(aside, reference);
  try {
    // Asked after the rename: a receipt that was written since the entry was listed has an entry that says so.
    if (bytes === undefined || !(await isStillOld())) {
      await putBack(aside, path);
      return { isTouched: true };
    }
    await keep?.(aside);
  } catch (error) {
    await putBack(aside, path).catch(unlessMissing);
    throw error;
  }
  await changes.unlink(aside);
  return { isTouched: true, bytes };
}
