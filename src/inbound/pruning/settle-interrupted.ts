/**
 * Settles the rows of files whose removal a death has interrupted, whatever their age is today: where the bytes are still
 * there the file is filed as before, and goes when it is too old; otherwise they were removed, or moved where the row says.
 * Nothing is moved or removed here.
 */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { unlessMissing } from "../../lib/errors.ts";
import {
  type AgingFile,
  endPruning,
  forgetPruning,
  listInterrupted,
} from "../../store/ledger/file-retention.ts";
import { findMoved } from "./move-away.ts";
import { mayBeThere } from "./prune-files.ts";
import type { FilePruning } from "./pruning.ts";

type Deps = Pick<FilePruning, "store" | "locations" | "ledgerNumbers" | "log">;
type Outcome =
  | { readonly kind: "gone"; readonly prunedTo: string | null }
  | { readonly kind: "there" | "lost" | "unknown" };

const filesAtOnce = 50;

/** Of COMPANY/KIND/DAY/NAME below it. */
function folderOfMoved(prunedTo: string): string {
  return dirname(dirname(dirname(dirname(prunedTo))));
}

async function outcomeOf(deps: Deps, file: AgingFile): Promise<Outcome> {
  if (await mayBeThere(deps, file)) return { kind: "there" };
  const { prunedTo: to, sha256, id } = file;
  if (to === null) return { kind: "gone", prunedTo: null };
  const at = await findMoved({ to, sha256, reference: deps.ledgerNumbers.seal(id) });
  if (at !== undefined) return { kind: "gone", prunedTo: at };
  // Its disk may come back.
  const folder = await stat(folderOfMoved(to)).catch(unlessMissing);
  return { kind: folder === undefined ? "unknown" : "lost" };
}

const texts = {
  lost: "old files lie neither at their place nor where they were to be moved: see `dropgate ledger verify`",
  unknown:
    "the folder to which old files were being moved is not there: whether they had been is looked up in the next pass",
};

function tell({ log }: Deps, kind: "lost" | "unknown", files: readonly AgingFile[]): void {
  const [first] = files;
  if (first !== undefined)
    log.error({ files: files.length, first: first.location, prunedTo: first.prunedTo }, texts[kind]);
}

/** Settles those of a company. Rejects when aborted. */
export async function settleInterrupted(deps: Deps, companyId: number, signal: AbortSignal): Promise<void> {
  for (let afterId = 0; ; ) {
    signal.throwIfAborted();
    const files = await listInterrupted(deps.store.read, { companyId, afterId, limit: filesAtOnce });
    const last = files.at(-1);
    if (last === undefined) return;
    const settled: { readonly file: AgingFile; readonly outcome: Outcome }[] = [];
    for (const file of files) settled.push({ file, outcome: await outcomeOf(deps, file) });
    await deps.store.write(companyId, async (tx) => {
      for (const { file, outcome } of settled) {
        if (outcome.kind === "gone") await endPruning(tx, { id: file.id, prunedTo: outcome.prunedTo });
        else if (outcome.kind !== "unknown") await forgetPruning(tx, file);
      }
    });
    for (const kind of ["lost", "unknown"] as const)
      tell(
        deps,
        kind,
        settled.flatMap(({ file, outcome }) => (outcome.kind === kind ? [file] : [])),
      );
    afterId = last.id;
    await setImmediate();
  }
}
