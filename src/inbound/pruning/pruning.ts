/** What the parts of the removal of files by their age share. */
import { unlessMissing } from "../../lib/errors.ts";
import { syncDirectory } from "../../lib/files/durable-file.ts";
import type { RetentionKind } from "../../domain/retention/retention.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Store } from "../../store/database/database.ts";
import type { Locations } from "../places/locations.ts";

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
  /**
   * `stayed`: some are not as they were received, and may be again; `failed`: some could not be removed or moved, which is
   * likely to be so for the next as well.
   */
  readonly rest: "none" | "stayed" | "failed";
}

/** Syncs the folders. One that is gone was empty. */
export async function syncAll(touched: Set<string>): Promise<void> {
  for (const folder of touched) await syncDirectory(folder).catch(unlessMissing);
  touched.clear();
}
