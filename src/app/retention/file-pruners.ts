/** Old files in `archive/` and `error/`, and old receipts. */
import { setImmediate } from "node:timers/promises";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { ownReceiptBytes } from "../../inbound/pruning/own-receipt.ts";
import { folderOf, pruneFiles } from "../../inbound/pruning/prune-files.ts";
import { pruneReceipts } from "../../inbound/pruning/prune-receipts.ts";
import type { FileKind, FileOwner, PrunedFiles } from "../../inbound/pruning/pruning.ts";
import { messageOf } from "../../lib/errors.ts";
import {
  type AgingFile,
  findMark,
  findOldestUnfiled,
  listAgingFiles,
  type Mark,
  noteMark,
} from "../../store/ledger/file-retention.ts";
import { type DueCompany, eachCompany, type PruneDeps, type Pruner, type Tally } from "./pruner.ts";

const readAtOnce = 500;
/** Files whose rows are written together. */
const filesAtOnce = 50;

interface Walk {
  readonly kind: FileKind;
  readonly company: DueCompany;
  readonly signal: AbortSignal;
  /** Something of the pages before has stayed. */
  readonly hasStayed?: boolean;
}

type PageEnd = "done" | "stayed" | "over";

const nothing: PrunedFiles = { count: 0, bytes: 0, rest: "none" };

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

/** The first rows with so many files of the kind that their rows are written together; with fewer, all that are left. */
function stepOf(files: readonly AgingFile[], isOwn: (file: AgingFile) => boolean): readonly AgingFile[] {
  let own = 0;
  const end = files.findIndex((file) => {
    if (isOwn(file)) own += 1;
    return own === filesAtOnce;
  });
  return end === -1 ? files : files.slice(0, end + 1);
}

interface PageWork {
  readonly walk: Walk;
  readonly page: readonly AgingFile[];
  readonly tally: Tally;
  /** Decided before this: the mark may go past it, as nothing is still being filed away there. */
  readonly unfiledFrom: number;
}

/**
 * Goes through a page in small steps, each with its mark, which goes past nothing that stays for a reason that may end.
 * Says whether the next page is due: not when files must not be removed at this moment, or cannot be, which holds for the
 * next as well.
 */
async function prunePage(deps: PruneDeps, { walk, page, tally, unfiledFrom }: PageWork): Promise<PageEnd> {
  const { kind, company, signal } = walk;
  const prune = kind === "receipts" ? pruneReceipts : pruneFiles;
  let end: PageEnd = "done";
  let left = page;
  while (left.length > 0) {
    signal.throwIfAborted();
    const some = stepOf(left, isOfKind(kind));
    left = left.slice(some.length);
    const own = some.filter(isOfKind(kind));
    if (own.length > 0 && deps.isHeldUp(kind)) return "over";
    const pruned: PrunedFiles = own.length === 0 ? nothing : await prune(deps, ownerOf(walk), own);
    tally.add(company.id, pruned);
    if (pruned.rest === "failed") return "over";
    if (pruned.rest === "stayed") end = "stayed";
    const last = some.at(-1);
    const mayPass = end === "done" && walk.hasStayed !== true && (last?.decidedAt ?? 0) < unfiledFrom;
    if (last !== undefined && mayPass)
      await deps.store.write(company.id, (tx) => noteMark(tx, { companyId: company.id, kind }, markOf(last)));
    await setImmediate();
  }
  return end;
}

async function pruneCompany(deps: PruneDeps, walk: Walk, tally: Tally): Promise<void> {
  const unfiledFrom = (await findOldestUnfiled(deps.store.read, walk.company.id)) ?? Infinity;
  let hasStayed = false;
  for await (const page of oldPages(deps, walk)) {
    const end = await prunePage(deps, { walk: { ...walk, hasStayed }, page, tally, unfiledFrom });
    if (end === "over") return;
    hasStayed ||= end === "stayed";
  }
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
    wouldGo: (deps, due, progress) =>
      eachCompany(due, progress, async (company) => {
        const walk = { kind, company, signal: progress.signal };
        for await (const page of oldPages(deps, walk)) {
          for (const file of page.filter(isOfKind(kind))) {
            const bytes = await bytesOf(deps, walk, file);
            const at = file.decidedAt;
            if (bytes !== undefined)
              progress.tally.add(company.id, { count: 1, bytes, oldestAt: at, newestAt: at });
          }
        }
      }),
    async prune(deps, due, progress) {
      if (!(await canMove(deps))) return;
      await eachCompany(due, progress, async (company) => {
        await pruneCompany(deps, { kind, company, signal: progress.signal }, progress.tally);
      });
    },
  };
}

export const archivePruner = filePruner("archive");
export const errorPruner = filePruner("error");
export const receiptsPruner = filePruner("receipts");
