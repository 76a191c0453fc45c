/** Removes contents of the document store that belong to no document: their import was refused, or a crash came between. */
import { sweepContents } from "../../lib/files/content-store.ts";
import { findKnownContents } from "../../store/stops/documents.ts";
import type { ReadDeps } from "../operation-deps.ts";
import type { DocumentsDeps } from "./take-out-documents.ts";
import { dayMs } from "../../lib/durations.ts";

export interface SweepDocumentsDeps extends DocumentsDeps, ReadDeps {
  /** Milliseconds UTC, by a clock that is right. */
  readonly now: number;
}

/** After this time an import is decided; only its rows could still come. */
const keptWithoutRowMs = dayMs;

/** Returns how many contents were removed. Rejects when aborted. */
export async function sweepDocuments(deps: SweepDocumentsDeps, signal: AbortSignal): Promise<number> {
  const { store, now, documentsDir } = deps;
  const sweep = {
    beforeMs: now - keptWithoutRowMs,
    referredTo: (hashes: readonly string[]) => findKnownContents(store.read, hashes),
  };
  return await sweepContents(documentsDir, sweep, signal);
}
