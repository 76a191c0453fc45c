/** Removes old receipts from `receipts/`, or moves them away; one in `error/` goes with the file that it lies beside. */
import { basename, dirname, join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { messageOf } from "../../lib/errors.ts";
import { syncDirectory } from "../../lib/files/durable-file.ts";
import { type AgingFile, isDecidedAsBefore } from "../../store/ledger/file-retention.ts";
import { placeAway } from "./move-away.ts";
import { type OwnReceipt, ownReceiptBytes, removeOwnReceipt } from "./own-receipt.ts";
import {
  type FileOwner,
  type FilePruning,
  type PrunedFiles,
  type PruneFailure,
  requireOurs,
  restOf,
  syncAll,
} from "./pruning.ts";

/** Places a receipt durably; what is gone needs no place. */
export async function placeReceipt(from: string, to: string, reference: string): Promise<void> {
  const outcome = await placeAway({ from, to, reference, sha256: null });
  if (outcome.kind === "placed") await syncDirectory(dirname(outcome.at));
}

function receiptOf(
  { locations, ledgerNumbers }: Pick<FilePruning, "locations" | "ledgerNumbers">,
  companyCode: string,
  { id: fileId, name }: Pick<AgingFile, "id" | "name">,
): OwnReceipt {
  const path = join(locations.receiptsDirectory(companyCode), receiptNameOf(name));
  return { path, fileId, reference: ledgerNumbers.seal(fileId) };
}

/** The bytes of the receipt of a file that is still in `receipts/`; undefined when there is none, or another's. */
export async function findReceiptBytes(
  deps: Pick<FilePruning, "locations" | "ledgerNumbers">,
  companyCode: string,
  file: Pick<AgingFile, "id" | "name">,
): Promise<number | undefined> {
  return await ownReceiptBytes(receiptOf(deps, companyCode, file));
}

async function pruneReceipt(deps: FilePruning, { companyCode, kind }: FileOwner, file: AgingFile) {
  const { store, moveTo } = deps;
  const receipt = receiptOf(deps, companyCode, file);
  const day = new Date(file.decidedAt).toISOString().slice(0, 10);
  const to = moveTo === undefined ? undefined : join(moveTo, companyCode, kind, day, basename(receipt.path));
  return await removeOwnReceipt(receipt, {
    isStillOld: () => isDecidedAsBefore(store.read, file),
    keep: to === undefined ? undefined : (aside) => placeReceipt(aside, to, receipt.reference),
  });
}

/**
 * Removes the receipts of old files from `receipts/`, unless a later file of the name has its receipt there. Rejects with a
 * `FencedError` once another node has the company: it writes receipts there.
 */
export async function pruneReceipts(
  deps: FilePruning,
  owner: FileOwner,
  files: readonly AgingFile[],
): Promise<PrunedFiles> {
  const { companyCode, kind } = owner;
  const touched = new Set<string>();
  let [count, bytes] = [0, 0];
  const failures: (PruneFailure & { readonly name: string })[] = [];
  for (const file of files) {
    requireOurs(deps, owner);
    try {
      const outcome = await pruneReceipt(deps, owner, file);
      if (outcome.isTouched) touched.add(deps.locations.receiptsDirectory(companyCode));
      if (outcome.bytes === undefined) continue;
      count += 1;
      bytes += outcome.bytes;
    } catch (error) {
      failures.push({ fileId: file.id, name: file.name, error });
    }
  }
  await syncAll(touched).catch((error: unknown) =>
    failures.push({ fileId: undefined, name: companyCode, error }),
  );
  const rest = restOf(deps, kind, { files, failures, count, stayed: 0 });
  const [first] = failures;
  if (first === undefined) return { count, bytes, rest };
  deps.log.error(
    { company: companyCode, kind, files: failures.length, first: first.name, err: first.error },
    `old receipts cannot be ${deps.moveTo === undefined ? "removed" : "moved"} (${messageOf(first.error)}); the next pass tries it again`,
  );
  return { count, bytes, rest };
}
