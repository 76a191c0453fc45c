/**
 * Removes the receipt of a file, but never that of a later file of the name, which may be written at the same moment:
 *
 *   NAME ──renamed──> .ID.pruned ──is it his?──> removed
 *                          └── no ──> NAME again, unless there is a newer one
 */
import { lstat, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import * as changes from "../../lib/files/changes.ts";

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

/** Its size when it answers the entry; undefined for another, and when there is none. */
async function sizeIfOwn(path: string, reference: string): Promise<number | undefined> {
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
    (await sizeIfOwn(receipt.path, receipt.reference)) ??
    (await sizeIfOwn(asideOf(receipt), receipt.reference))
  );
}

/** Removes it, but not another's. Says whether the folder has changed, which the caller syncs. */
export async function removeOwnReceipt(receipt: OwnReceipt): Promise<boolean> {
  const { path, reference } = receipt;
  const aside = asideOf(receipt);
  if ((await sizeIfOwn(path, reference)) !== undefined)
    await changes.rename(path, aside).catch(unlessMissing);
  if ((await lstat(aside).catch(unlessMissing)) === undefined) return false;
  if ((await sizeIfOwn(aside, reference)) === undefined) {
    try {
      await changes.link(aside, path);
    } catch (error) {
      if (systemCodeOf(error) !== "EEXIST") throw error;
    }
  }
  await changes.unlink(aside);
  return true;
}
