/** What the parts of the removal of files by their age share. */
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { syncDirectory } from "../../lib/files/durable-file.ts";
import type { RetentionKind } from "../../domain/retention/retention.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import { FencedError } from "../../store/database/fence.ts";
import type { Locations } from "../places/locations.ts";
import type { AgingFile } from "../../store/ledger/file-retention.ts";

/** Kinds of files that are removed by their age. */
const fileKinds = ["archive", "error", "receipts"] as const satisfies readonly RetentionKind[];

export type FileKind = (typeof fileKinds)[number];

/** Whether what is kept by that setting are files, and not rows. */
export function isFileKind(kind: RetentionKind): kind is FileKind {
  return (fileKinds as readonly RetentionKind[]).includes(kind);
}

export interface FilePruning {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly log: Logger;
  readonly now: number;
  readonly moveTo?: string | undefined;
  readonly stuck?: StuckFiles | undefined;
  /** Whether this node does the work of the company. Default: it does that of all. */
  readonly isOurs?: (companyId: number) => boolean;
}

/** Throws a `FencedError` once another node does the work of the company: nothing of it may be touched any more. */
export function requireOurs(
  { isOurs = () => true }: Pick<FilePruning, "isOurs">,
  { companyId }: Pick<FileOwner, "companyId">,
): void {
  if (!isOurs(companyId)) throw new FencedError(companyId);
}

/** By kind, the ids of files that could not be removed or moved so far; kept from pass to pass, so that each comes further. */
export type StuckFiles = Map<FileKind, Set<number>>;

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
  /**
   * `stayed`: some are not as they were received, and may be again, or could not be removed or moved; `failed`: none could,
   * or for a reason that holds for the next as well.
   */
  readonly rest: "none" | "stayed" | "failed";
}

/** What holds for a whole disk or share, not for one file. */
const faultsOfDisks = ["ENOSPC", "EDQUOT", "EROFS", "EIO", "ENOTCONN", "ESTALE", "ETIMEDOUT", "ENODEV"];

/** How many may fail for the first time, and none go, before the others are left to the next pass. */
const mostFailures = 20;

export interface PruneFailure {
  /** Undefined when it is not the fault of one file. */
  readonly fileId: number | undefined;
  readonly error: unknown;
}

/** Whether the next files are likely to fail as well. */
function areAllLikelyToFail(failures: readonly PruneFailure[], { count }: Pick<PrunedFiles, "count">) {
  const isOfDisk = failures.some(({ error }) => faultsOfDisks.includes(systemCodeOf(error) ?? ""));
  return isOfDisk || (count === 0 && failures.length >= mostFailures);
}

/** Notes which of the files are stuck. */
function noteStuck(
  known: Set<number>,
  files: readonly Pick<AgingFile, "id">[],
  failures: readonly PruneFailure[],
): void {
  for (const { id } of files) known.delete(id);
  for (const { fileId } of failures) if (fileId !== undefined) known.add(fileId);
}

/** What a step leaves. A file that was stuck before says nothing of the others. */
export function restOf(
  { stuck = new Map() }: Pick<FilePruning, "stuck">,
  kind: FileKind,
  step: {
    readonly files: readonly Pick<AgingFile, "id">[];
    readonly failures: readonly PruneFailure[];
    /** How many went, and how many are not as they were received. */
    readonly count: number;
    readonly stayed: number;
  },
): PrunedFiles["rest"] {
  const { files, failures, count, stayed } = step;
  const known = stuck.get(kind) ?? new Set();
  const first = failures.filter(({ fileId }) => fileId === undefined || !known.has(fileId));
  const hasFailed = areAllLikelyToFail(first, { count });
  noteStuck(known, files, failures);
  stuck.set(kind, known);
  if (hasFailed) return "failed";
  return failures.length + stayed > 0 ? "stayed" : "none";
}

/** Syncs the folders. One that is gone was empty. */
export async function syncAll(touched: Set<string>): Promise<void> {
  for (const folder of touched) await syncDirectory(folder).catch(unlessMissing);
  touched.clear();
}
