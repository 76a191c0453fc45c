/** Removes old receipts from `receipts/`, or moves them away; one in `error/` goes with the file that it lies beside. */
import { basename, dirname, join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { messageOf } from "../../lib/errors.ts";
import { syncDirectory } from "../../lib/files/durable-file.ts";
import { type AgingFile, isDecidedAsBefore } from "../../store/ledger/file-retention.ts";
import { placeAway } from "./move-away.ts";
import { removeOwnReceipt } from "./own-receipt.ts";
import {
  areAllLikelyToFail,
  type FileOwner,
  type FilePruning,
  type PrunedFiles,
  syncAll,
} from "./pruning.ts";

/** Places a receipt durably; what is gone needs no place. */
export async function placeReceipt(from: string, to: string, reference: string): Promise<void> {
  const outcome = await placeAway({ from, to, reference, sha256: null });
  if (outcome.kind === "placed") await syncDirectory(dirname(outcome.at));
}

async function pruneReceipt(
  { store, locations, ledgerNumbers, moveTo }: FilePruning,
  { companyCode, kind }: FileOwner,
  file: AgingFile,
) {
  const { id: fileId, name, decidedAt } = file;
  const path = join(locations.receiptsDirectory(companyCode), receiptNameOf(name));
  const reference = ledgerNumbers.seal(fileId);
  const day = new Date(decidedAt).toISOString().slice(0, 10);
  const to = moveTo === undefined ? undefined : join(moveTo, companyCode, kind, day, basename(path));
  return await removeOwnReceipt(
    { path, fileId, reference },
    {
      isStillOld: () => isDecidedAsBefore(store.read, file),
      keep: to === undefined ? undefined : (aside) => placeReceipt(aside, to, reference),
    },
  );
}

/** Removes the receipts of old files from `receipts/`, unless a later file of the name has its receipt there. */
export async function pruneReceipts(
  deps: FilePruning,
  owner: FileOwner,
  files: readonly AgingFile[],
): Promise<PrunedFiles> {
  const { companyCode, kind } = owner;
  const touched = new Set<string>();
  let [count, bytes] = [0, 0];
  const failures: { readonly name: string; readonly error: unknown }[] = [];
  for (const file of files) {
    try {
      const outcome = await pruneReceipt(deps, owner, file);
      if (outcome.isTouched) touched.add(deps.locations.receiptsDirectory(companyCode));
      if (outcome.bytes === undefined) continue;
      count += 1;
      bytes += outcome.bytes;
    } catch (error) {
      failures.push({ name: file.name, error });
    }
  }
  await syncAll(touched).catch((error: unknown) => failures.push({ name: companyCode, error }));
  const [first] = failures;
  if (first === undefined) return { count, bytes, rest: "none" };
  deps.log.error(
    { company: companyCode, kind, files: failures.length, first: first.name, err: first.error },
    `old receipts cannot be ${deps.moveTo === undefined ? "removed" : "moved"} (${messageOf(first.error)}); the next pass tries it again`,
  );
  return { count, bytes, rest: areAllLikelyToFail(failures, { count }) ? "failed" : "stayed" };
}
