/** Old files in `archive/` and `error/`, and old receipts. */
import { setImmediate } from "node:timers/promises";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { ownReceiptBytes } from "../../inbound/pruning/own-receipt.ts";
import {
  type FileKind,
  type FileOwner,
  finishPruning,
  folderOf,
  pruneFiles,
  type PrunedFiles,
  pruneReceipts,
} from "../../inbound/pruning/prune-files.ts";
import { messageOf } from "../../lib/errors.ts";
import {
  type AgingFile,
  findMark,
  listAgingFiles,
  listInterrupted,
  type Mark,
  noteMark,
} from "../../store/ledger/file-retention.ts";
import { type DueCompany, type PruneDeps, type Pruner, Tally } from "./pruner.ts";

const readAtOnce = 500;
/** Files whose rows are written together. */
const filesAtOnce = 50;

interface Walk {
  readonly kind: FileKind;
  readonly company: DueCompany;
  readonly signal: AbortSignal;
}

function markOf({ decidedAt, id }: AgingFile): Mark {
  return { decidedAt, fileId: id };
}

/** The old files of the company behind the mark, a page at a time, in the order of their decisions. */
async function* oldPages(
  { store }: Pick<PruneDeps, "store">,
  { kind, company, signal }: Walk,
): AsyncGenerator<readonly AgingFile[]> {
  const { id: companyId, before } = company;
  let after = await findMark(store.read, { companyId, kind });
  for (;;) {
    signal.throwIfAborted();
    const page = await listAgingFiles(store.read, { companyId, before, after, limit: readAtOnce });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < readAtOnce) return;
    after = markOf(last);
    await setImmediate();
  }
}

function isOfKind(kind: FileKind): (file: AgingFile) => boolean {
  return (file) => kind === "receipts" || folderOf(file) === kind;
}

function ownerOf({ kind, company }: Pick<Walk, "kind" | "company">): FileOwner {
  return { kind, companyId: company.id, companyCode: company.code, days: company.days };
}

/** What an earlier pass had begun, of that kind. */
async function finishInterrupted(
  deps: PruneDeps,
  { kind, company, signal }: Walk,
  tally: Tally,
): Promise<void> {
  if (kind === "receipts") return;
  const companyId = company.id;
  for (let afterId = 0; ; ) {
    signal.throwIfAborted();
    const files = await listInterrupted(deps.store.read, { companyId, afterId, limit: filesAtOnce });
    const own = files.filter(isOfKind(kind));
    if (own.length > 0) tally.add(companyId, await finishPruning(deps, ownerOf({ kind, company }), own));
    const last = files.at(-1);
    if (last === undefined || files.length < filesAtOnce) return;
    afterId = last.id;
    await setImmediate();
  }
}

/** Goes through a page in small steps, each with its mark; gives false when files must not be removed any more. */
async function prunePage(
  deps: PruneDeps,
  { walk, page, tally }: { readonly walk: Walk; readonly page: readonly AgingFile[]; readonly tally: Tally },
): Promise<boolean> {
  const { kind, company, signal } = walk;
  const owner = ownerOf(walk);
  const prune = kind === "receipts" ? pruneReceipts : pruneFiles;
  for (let at = 0; at < page.length; at += filesAtOnce) {
    signal.throwIfAborted();
    if (deps.isHeldUp()) return false;
    const some = page.slice(at, at + filesAtOnce);
    const own = some.filter(isOfKind(kind));
    const pruned: PrunedFiles = own.length === 0 ? { count: 0, bytes: 0 } : await prune(deps, owner, own);
    tally.add(company.id, pruned);
    const last = some.at(-1);
    const isPageDone = at + filesAtOnce >= page.length;
    if (last !== undefined && (own.length > 0 || isPageDone))
      await deps.store.write(company.id, (tx) => noteMark(tx, { companyId: company.id, kind }, markOf(last)));
    await setImmediate();
  }
  return true;
}

async function bytesOf({ locations, ledgerNumbers }: PruneDeps, walk: Walk, file: AgingFile) {
  if (walk.kind !== "receipts") return file.removedAt === null ? file.size : undefined;
  const path = join(locations.receiptsDirectory(walk.company.code), receiptNameOf(file.name));
  return await ownReceiptBytes({ path, fileId: file.id, reference: ledgerNumbers.seal(file.id) });
}

/** A folder that is not there is perhaps a disk that is not mounted: made anew, it would fill another. */
async function canMove({ moveTo, log }: PruneDeps): Promise<boolean> {
  if (moveTo === undefined) return true;
  try {
    if ((await stat(moveTo)).isDirectory()) return true;
    log.error({ folder: moveTo }, "retention.moveTo is no folder: old files stay where they are");
  } catch (error) {
    log.error(
      { folder: moveTo, reason: messageOf(error) },
      "retention.moveTo is not there: old files stay where they are",
    );
  }
  return false;
}

function filePruner(kind: FileKind): Pruner {
  return {
    kind,
    async wouldGo(deps, due, signal) {
      const tally = new Tally();
      for (const company of due) {
        const walk = { kind, company, signal };
        for await (const page of oldPages(deps, walk)) {
          for (const file of page.filter(isOfKind(kind))) {
            const bytes = await bytesOf(deps, walk, file);
            const at = file.decidedAt;
            if (bytes !== undefined) tally.add(company.id, { count: 1, bytes, oldestAt: at, newestAt: at });
          }
        }
      }
      return tally.amounts;
    },
    async prune(deps, due, signal) {
      const tally = new Tally();
      if (!(await canMove(deps))) return tally.amounts;
      for (const company of due) {
        const walk = { kind, company, signal };
        if (deps.isHeldUp()) break;
        await finishInterrupted(deps, walk, tally);
        for await (const page of oldPages(deps, walk))
          if (!(await prunePage(deps, { walk, page, tally }))) break;
      }
      return tally.amounts;
    },
  };
}

export const archivePruner = filePruner("archive");
export const errorPruner = filePruner("error");
export const receiptsPruner = filePruner("receipts");
