/**
 * Removes the bytes of old files from `archive/` and `error/`, or moves them away. The row of each stays in the ledger.
 *
 *   filed ──are the bytes those that were received?──> row: is being pruned ──> unlinked (or at its new place)
 *     ^                                                      │                      └──folders synced──> row: pruned
 *     └───────── the bytes are still there ──────────────────┘
 *
 * A row never says for long that bytes are pruned which are there: what cannot be removed is taken back in the same step,
 * and what a death has interrupted at the beginning of the next pass (`settle-interrupted.ts`).
 * What lies there and is not what was received, by its SHA-256, stays as a discrepancy.
 */
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { dayMs } from "../../lib/durations.ts";
import { isMissing, messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import * as changes from "../../lib/files/changes.ts";
import { syncDirectory } from "../../lib/files/durable-file.ts";
import {
  type AgingFile,
  beginPruning,
  endPruning,
  forgetPruning,
  notePruned,
} from "../../store/ledger/file-retention.ts";
import { hashBytesAt } from "../places/hash-bytes.ts";
import { placeAway } from "./move-away.ts";
import { receiptBytes } from "./own-receipt.ts";
import { placeReceipt } from "./prune-receipts.ts";
import {
  type FileOwner,
  type FilePruning,
  type PrunedFiles,
  requireOurs,
  restOf,
  syncAll,
} from "./pruning.ts";

const bufferBytes = 1024 * 1024;

/** In which of the folders of its company the ledger has the file. */
export function folderOf({ location }: Pick<AgingFile, "location">): string | undefined {
  return location.split("/", 3)[2];
}

/** Whether something lies at its place, or may: a place that cannot be looked at has not lost anything. */
export async function mayBeThere(
  { locations }: Pick<FilePruning, "locations">,
  { location }: Pick<AgingFile, "location">,
): Promise<boolean> {
  return await lstat(locations.fromLedger(location)).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
}

/** Whether what lies there may be removed: what was received, or nothing where nothing could be read. */
async function isAsReceived(path: string, { sha256, size }: AgingFile, buffer: Buffer): Promise<boolean> {
  // A file that nobody ever read has no hash.
  if (sha256 === null || sha256 === "") {
    const stats = await lstat(path).catch(unlessMissing);
    return stats === undefined || stats.isFile();
  }
  const found = await hashBytesAt(path, buffer);
  return found.kind === "file" && found.size === size && found.sha256 === sha256;
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
    await notePruned(tx, { companyId: owner.companyId, decidedBefore: deps.now - owner.days * dayMs });
    for (const file of planned) {
      const { id, decidedAt, location, prunedTo: to } = file;
      const arguments_ = { id, decidedAt, location, at: deps.now, days: owner.days, to };
      if (await beginPruning(tx, arguments_)) begun.push(file);
    }
    return begun;
  });
}

type Placed =
  /** `stays`: it was changed or removed by somebody in this moment. */
  | { readonly kind: "ready" | "stays"; readonly file: AgingFile }
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
    if (outcome.kind !== "placed") return { kind: "stays", file };
    touched.add(dirname(outcome.at));
    return { kind: "ready", file: { ...file, prunedTo: outcome.at } };
  } catch (error) {
    return { kind: "failed", file, error };
  }
}

/** One file in `error/` has a receipt beside it, which goes the same way. Nobody writes one there any more. */
async function pruneReceiptBeside({ deps, touched }: Step, file: AgingFile): Promise<void> {
  const path = deps.locations.fromLedger(file.location);
  const reference = deps.ledgerNumbers.seal(file.id);
  const own = join(dirname(path), receiptNameOf(basename(path)));
  if ((await receiptBytes(own, reference)) === undefined) return;
  const to = file.prunedTo;
  if (to !== null) await placeReceipt(own, join(dirname(to), receiptNameOf(basename(to))), reference);
  await changes.unlink(own).catch(unlessMissing);
  touched.add(dirname(path));
}

async function removeOne(step: Step, placed: Placed): Promise<Placed> {
  if (placed.kind !== "ready") return placed;
  const { file } = placed;
  try {
    const path = step.deps.locations.fromLedger(file.location);
    if (step.owner.kind === "error") await pruneReceiptBeside(step, file);
    await changes.unlink(path).catch(unlessMissing);
    step.touched.add(dirname(path));
    return placed;
  } catch (error) {
    return { kind: "failed", file, error };
  }
}

/** Syncs what was touched. Nothing is done with as long as that fails. */
async function sync(touched: Set<string>, placed: readonly Placed[]): Promise<readonly Placed[]> {
  try {
    await syncAll(touched);
    return placed;
  } catch (error) {
    return placed.map((one) => (one.kind === "ready" ? { kind: "failed", file: one.file, error } : one));
  }
}

/** Notes in the rows what is gone, and takes back what is still there. The rest is settled by the next pass. */
async function noteOutcome({ deps, owner }: Step, placed: readonly Placed[]): Promise<void> {
  const forgotten: AgingFile[] = [];
  for (const { kind, file } of placed)
    if (kind === "stays" || (kind === "failed" && (await mayBeThere(deps, file)))) forgotten.push(file);
  const done = placed.filter(({ kind }) => kind === "ready");
  if (done.length + forgotten.length === 0) return;
  await deps.store.write(owner.companyId, async (tx) => {
    for (const { file } of done) await endPruning(tx, file);
    for (const file of forgotten) await forgetPruning(tx, file);
  });
}

function tellFailures(
  { log, moveTo }: FilePruning,
  { companyCode, kind }: FileOwner,
  failures: readonly { readonly file: AgingFile; readonly error: unknown }[],
): void {
  const [first] = failures;
  if (first !== undefined)
    log.error(
      { company: companyCode, kind, files: failures.length, first: first.file.location, err: first.error },
      `old files cannot be ${moveTo === undefined ? "removed" : "moved"} (${messageOf(first.error)}); the next pass tries it again`,
    );
}

function tellStayed(
  { log }: FilePruning,
  { companyCode, kind }: FileOwner,
  stayed: readonly AgingFile[],
): void {
  const [first] = stayed;
  if (first !== undefined)
    log.warn(
      { company: companyCode, kind, files: stayed.length, first: first.location },
      "old files are not as they were received, not there, or claimed by two entries: they are left as they are; see `dropgate ledger verify`",
    );
}

const emptyRefusals = ["ENOTEMPTY", "EEXIST", "ENOENT", "EBUSY"];

/** A day whose files are all gone needs no folder. */
async function removeIfEmpty({ log }: FilePruning, folder: string): Promise<void> {
  try {
    await changes.rmdir(folder);
    await syncDirectory(dirname(folder));
  } catch (error) {
    if (!emptyRefusals.includes(systemCodeOf(error) ?? ""))
      log.warn({ folder, err: error }, `a folder cannot be removed (${messageOf(error)})`);
  }
}

/** Prunes files whose rows say that they are being pruned; what a node leaves that loses the company is settled by the next. */
async function removeBegun(step: Step, files: readonly AgingFile[]): Promise<readonly Placed[]> {
  if (files.length === 0) return [];
  const placed: Placed[] = [];
  for (const file of files) {
    requireOurs(step.deps, step.owner);
    placed.push(await place(step, file));
  }
  const removed: Placed[] = [];
  // Their places are synced before the first of them is removed.
  for (const one of await sync(step.touched, placed)) {
    requireOurs(step.deps, step.owner);
    removed.push(await removeOne(step, one));
  }
  const folders = [...step.touched];
  const outcome = await sync(step.touched, removed);
  await noteOutcome(step, outcome);
  for (const folder of folders) await removeIfEmpty(step.deps, folder);
  return outcome;
}

/** A user has removed the file from `error/`, not its receipt. */
async function pruneOfRemoved(step: Step, file: AgingFile): Promise<Placed> {
  if (step.owner.kind !== "error" || file.prunedDays !== null) return { kind: "ready", file };
  try {
    const prunedTo = movedPath(step.deps, step.owner, step.deps.locations.fromLedger(file.location));
    await pruneReceiptBeside(step, { ...file, prunedTo });
    const folders = [...step.touched];
    await syncAll(step.touched);
    for (const folder of folders) await removeIfEmpty(step.deps, folder);
    return { kind: "ready", file };
  } catch (error) {
    return { kind: "failed", file, error };
  }
}

/**
 * Prunes some files of a company that are too old. Those of which the bytes are gone already keep nothing beside them. Rejects
 * with a `FencedError` once another node has the company.
 */
export async function pruneFiles(
  deps: FilePruning,
  owner: FileOwner,
  files: readonly AgingFile[],
): Promise<PrunedFiles> {
  const step: Step = { deps, owner, touched: new Set() };
  const there: AgingFile[] = [];
  const others: Placed[] = [];
  const buffer = Buffer.allocUnsafe(bufferBytes);
  for (const file of files) {
    if (file.removedAt !== null) others.push(await pruneOfRemoved(step, file));
    else if (await isAsReceived(deps.locations.fromLedger(file.location), file, buffer)) there.push(file);
    else others.push({ kind: "stays", file });
  }
  const begun = there.length === 0 ? [] : await begin(deps, owner, there);
  const isBegun = new Set(begun.map(({ id }) => id));
  for (const file of there) if (!isBegun.has(file.id)) others.push({ kind: "stays", file });
  const removed = await removeBegun(step, begun);
  const all = [...others, ...removed];
  const failures = all.filter((one) => one.kind === "failed");
  const stayed = all.flatMap(({ kind, file }) => (kind === "stays" ? [file] : []));
  tellFailures(deps, owner, failures);
  tellStayed(deps, owner, stayed);
  const done = removed.filter(({ kind }) => kind === "ready");
  return {
    count: done.length,
    bytes: done.reduce((sum, { file }) => sum + file.size, 0),
    rest: restOf(deps, owner.kind, {
      ...{ files, count: done.length, stayed: stayed.length },
      failures: failures.map(({ file, error }) => ({ fileId: file.id, error })),
    }),
  };
}
