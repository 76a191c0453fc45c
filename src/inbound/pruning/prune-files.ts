/**
 * Removes the bytes of old files from `archive/` and `error/`, or moves them away. The row of each stays in the ledger.
 *
 *   filed ──row: is being pruned──> unlinked (or at its new place) ──folders synced──> row: pruned
 *
 * After a crash the row says that the bytes are being pruned: they may be there or not, and the next pass goes on from there.
 * What lies there and is not what was received stays, as a discrepancy.
 */
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import * as changes from "../../lib/files/changes.ts";
import { syncDirectory } from "../../lib/files/durable-file.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import {
  type AgingFile,
  beginPruning,
  endPruning,
  forgetPruning,
} from "../../store/ledger/file-retention.ts";
import type { Locations } from "../places/locations.ts";
import { placeAway } from "./move-away.ts";
import { type OwnReceipt, ownReceiptBytes, removeOwnReceipt } from "./own-receipt.ts";

/** Kinds of files that are removed by their age. */
export type FileKind = "archive" | "error" | "receipts";

export interface FilePruning {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly log: Logger;
  readonly now: number;
  readonly moveTo?: string | undefined;
}

/** Whose files they are, and for which age they go. */
export interface FileOwner {
  readonly companyId: number;
  readonly companyCode: string;
  readonly kind: FileKind;
  readonly days: number;
}

export interface PrunedFiles {
  readonly count: number;
  readonly bytes: number;
}

/** In which of the folders of its company the ledger has the file. */
export function folderOf({ location }: Pick<AgingFile, "location">): string | undefined {
  return location.split("/", 3)[2];
}

/** A file that nobody ever read has no hash. */
function isUnread({ sha256 }: AgingFile): boolean {
  return sha256 === null || sha256 === "";
}

/** Whether what lies there may be removed: what was received, or nothing where nothing could be read. */
async function isAsReceived({ locations }: FilePruning, file: AgingFile): Promise<boolean> {
  const stats = await lstat(locations.fromLedger(file.location)).catch(unlessMissing);
  if (stats === undefined) return isUnread(file);
  return stats.isFile() && (stats.size === file.size || isUnread(file));
}

function movedPath({ moveTo }: FilePruning, { companyCode, kind }: FileOwner, path: string): string | null {
  return moveTo === undefined
    ? null
    : join(moveTo, companyCode, kind, basename(dirname(path)), basename(path));
}

/** Notes that these are about to be pruned; gives those of which that holds. */
async function begin(
  deps: FilePruning,
  owner: FileOwner,
  files: readonly AgingFile[],
): Promise<readonly AgingFile[]> {
  const planned = files.map((file) => ({
    ...file,
    prunedTo: movedPath(deps, owner, deps.locations.fromLedger(file.location)),
  }));
  return await deps.store.write(owner.companyId, async (tx) => {
    const begun: AgingFile[] = [];
    for (const file of planned) {
      const { id, prunedTo: to } = file;
      if (await beginPruning(tx, { id, at: deps.now, days: owner.days, to })) begun.push(file);
    }
    return begun;
  });
}

type Placed =
  | { readonly kind: "ready"; readonly file: AgingFile }
  | { readonly kind: "changed"; readonly file: AgingFile }
  | { readonly kind: "failed"; readonly file: AgingFile; readonly error: unknown };

interface Step {
  readonly deps: FilePruning;
  readonly owner: FileOwner;
  /** Folders that have to be synced. */
  readonly touched: Set<string>;
}

/** Has it moved to its new place, if it has one: at both places then. */
async function place({ deps, touched }: Step, file: AgingFile): Promise<Placed> {
  const { prunedTo: to, sha256 } = file;
  if (to === null) return { kind: "ready", file };
  try {
    const from = deps.locations.fromLedger(file.location);
    const outcome = await placeAway({ from, to, sha256, reference: deps.ledgerNumbers.seal(file.id) });
    if (outcome.kind === "changed") return { kind: "changed", file };
    touched.add(dirname(outcome.at));
    return { kind: "ready", file: { ...file, prunedTo: outcome.at } };
  } catch (error) {
    return { kind: "failed", file, error };
  }
}

async function unlinkUnlessGone(path: string): Promise<void> {
  await changes.unlink(path).catch(unlessMissing);
}

/** One file in `error/` has a receipt beside it, which goes the same way. Nobody writes one there any more. */
async function pruneReceiptBeside({ deps, touched }: Step, file: AgingFile): Promise<void> {
  const path = deps.locations.fromLedger(file.location);
  const reference = deps.ledgerNumbers.seal(file.id);
  const own = { path: join(dirname(path), receiptNameOf(basename(path))), fileId: file.id, reference };
  if ((await ownReceiptBytes(own)) === undefined) return;
  const to = file.prunedTo;
  if (to !== null) await placeReceipt(own, join(dirname(to), receiptNameOf(basename(to))));
  await unlinkUnlessGone(own.path);
  touched.add(dirname(path));
}

async function placeReceipt({ path, reference }: OwnReceipt, to: string): Promise<void> {
  const outcome = await placeAway({ from: path, to, reference, sha256: null });
  if (outcome.kind === "placed") await syncDirectory(dirname(outcome.at));
}

/** Removes, or moves, the receipt in `receipts/` if it is that of the file; gives its bytes then. */
async function pruneReceipt(
  own: OwnReceipt,
  to: string | null,
  touched: Set<string>,
): Promise<number | undefined> {
  const bytes = await ownReceiptBytes(own);
  if (bytes !== undefined && to !== null) await placeReceipt(own, to);
  // Also when it is another's: an interrupted step may have put that aside.
  if (await removeOwnReceipt(own)) touched.add(dirname(own.path));
  return bytes;
}

async function removeOne(step: Step, placed: Placed): Promise<Placed> {
  if (placed.kind !== "ready") return placed;
  const { file } = placed;
  try {
    const path = step.deps.locations.fromLedger(file.location);
    if (step.owner.kind === "error") await pruneReceiptBeside(step, file);
    await unlinkUnlessGone(path);
    step.touched.add(dirname(path));
    return placed;
  } catch (error) {
    return { kind: "failed", file, error };
  }
}

async function syncAll(touched: Set<string>): Promise<void> {
  // One that is gone was empty.
  for (const folder of touched) await syncDirectory(folder).catch(unlessMissing);
  touched.clear();
}

function tellFailures(
  { log }: FilePruning,
  { companyCode, kind }: FileOwner,
  placed: readonly Placed[],
): void {
  const failed = placed.filter((one) => one.kind === "failed");
  const [first] = failed;
  if (first !== undefined)
    log.error(
      { company: companyCode, kind, files: failed.length, first: first.file.location, err: first.error },
      `old files cannot be ${first.file.prunedTo === null ? "removed" : "moved"} (${messageOf(first.error)}); the next pass tries it again`,
    );
}

const emptyRefusals = ["ENOTEMPTY", "EEXIST", "ENOENT", "EBUSY"];

/** A day whose files are all gone needs no folder. */
async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await changes.rmdir(folder);
    await syncDirectory(dirname(folder));
  } catch (error) {
    if (!emptyRefusals.includes(systemCodeOf(error) ?? "")) throw error;
  }
}

/** Prunes files whose rows say that they are being pruned. */
export async function finishPruning(
  deps: FilePruning,
  owner: FileOwner,
  files: readonly AgingFile[],
): Promise<PrunedFiles> {
  const step: Step = { deps, owner, touched: new Set() };
  const placed: Placed[] = [];
  for (const file of files) placed.push(await place(step, file));
  // Before the first of them is removed.
  await syncAll(step.touched);
  const removed: Placed[] = [];
  for (const one of placed) removed.push(await removeOne(step, one));
  const folders = [...step.touched];
  await syncAll(step.touched);
  const done = removed.flatMap((one) => (one.kind === "ready" ? [one.file] : []));
  const changed = removed.flatMap((one) => (one.kind === "changed" ? [one.file] : []));
  if (done.length + changed.length > 0)
    await deps.store.write(owner.companyId, async (tx) => {
      for (const file of done) await endPruning(tx, file);
      for (const file of changed) await forgetPruning(tx, file);
    });
  tellFailures(deps, owner, removed);
  for (const folder of folders) await removeIfEmpty(folder);
  return { count: done.length, bytes: done.reduce((sum, { size }) => sum + size, 0) };
}

/** Prunes some files of a company that are too old. Those of which the bytes are gone already keep nothing beside them. */
export async function pruneFiles(
  deps: FilePruning,
  owner: FileOwner,
  files: readonly AgingFile[],
): Promise<PrunedFiles> {
  const there: AgingFile[] = [];
  const others: AgingFile[] = [];
  for (const file of files) {
    if (file.removedAt !== null) await pruneOfRemoved(deps, owner, file);
    else if (await isAsReceived(deps, file)) there.push(file);
    else others.push(file);
  }
  const [first] = others;
  if (first !== undefined)
    deps.log.warn(
      { company: owner.companyCode, files: others.length, first: first.location },
      "old files are not as they were received, or not there: they are left as they are; see `dropgate ledger verify`",
    );
  if (there.length === 0) return { count: 0, bytes: 0 };
  return await finishPruning(deps, owner, await begin(deps, owner, there));
}

/** A user has removed the file from `error/`, not its receipt. */
async function pruneOfRemoved(deps: FilePruning, owner: FileOwner, file: AgingFile): Promise<void> {
  if (owner.kind !== "error" || file.prunedDays !== null) return;
  const touched = new Set<string>();
  const prunedTo = movedPath(deps, owner, deps.locations.fromLedger(file.location));
  await pruneReceiptBeside({ deps, owner, touched }, { ...file, prunedTo });
  const folders = [...touched];
  await syncAll(touched);
  for (const folder of folders) await removeIfEmpty(folder);
}

/** Removes the receipts of old files from `receipts/`, unless a later file of the name has its receipt there. */
export async function pruneReceipts(
  deps: FilePruning,
  owner: FileOwner,
  files: readonly AgingFile[],
): Promise<PrunedFiles> {
  const touched = new Set<string>();
  let [count, bytes] = [0, 0];
  for (const { id: fileId, name, decidedAt } of files) {
    const path = join(deps.locations.receiptsDirectory(owner.companyCode), receiptNameOf(name));
    const day = new Date(decidedAt).toISOString().slice(0, 10);
    const { moveTo } = deps;
    const to = moveTo === undefined ? null : join(moveTo, owner.companyCode, owner.kind, day, basename(path));
    const own = { path, fileId, reference: deps.ledgerNumbers.seal(fileId) };
    const size = await pruneReceipt(own, to, touched);
    if (size === undefined) continue;
    count += 1;
    bytes += size;
  }
  await syncAll(touched);
  return { count, bytes };
}
