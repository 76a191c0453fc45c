/** Old files in `archive/` and `error/`, and old receipts. */
import { setImmediate } from "node:timers/promises";
import { stat } from "node:fs/promises";
import { folderOf, pruneFiles } from "../../inbound/pruning/prune-files.ts";
import { findReceiptBytes, pruneReceipts } from "../../inbound/pruning/prune-receipts.ts";
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
import { fromPlace, type Way } from "./places.ts";
import { type DueCompany, eachCompany, type PruneDeps, type Pruner, type Tally } from "./pruner.ts";

const readAtOnce = 500;
/** Files whose rows are written together. */
const filesAtOnce = 50;

interface Walk {
  readonly kind: FileKind;
  readonly company: DueCompany;
  readonly signal: AbortSignal;
  /** Behind the mark: where the pass before was cut off. */
  readonly place?: Mark | undefined;
}

const nothing: PrunedFiles = { count: 0, bytes: 0, rest: "none" };

function markOf({ decidedAt, id }: AgingFile): Mark {
  return { decidedAt, fileId: id };
}

/** The old files of the company behind the mark, or the place, a page at a time, in the order of their decisions. */
async function* oldPages(
  { store }: Pick<PruneDeps, "store">,
  { kind, company, signal, place }: Walk,
): AsyncGenerator<readonly AgingFile[]> {
  const { id: companyId, before } = company;
  let after = place ?? (await findMark(store.read, { companyId, kind }));
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
  readonly way: Way;
}

/**
 * Goes through a page in small steps, each with its mark, which goes past nothing that stays for a reason that may end.
 * Says whether the next page is due: not when files must not be removed at this moment, or cannot be, which holds for the
 * next as well.
 */
async function prunePage(
  deps: PruneDeps,
  { walk, page, tally, unfiledFrom, way }: PageWork,
): Promise<boolean> {
  const { kind, company, signal } = walk;
  const prune = kind === "receipts" ? pruneReceipts : pruneFiles;
  let hasStayed = way.place !== undefined;
  let left = page;
  while (left.length > 0) {
    signal.throwIfAborted();
    const some = stepOf(left, isOfKind(kind));
    left = left.slice(some.length);
    const own = some.filter(isOfKind(kind));
    if (own.length > 0 && deps.isHeldUp(kind)) return false;
    const pruned: PrunedFiles = own.length === 0 ? nothing : await prune(deps, ownerOf(walk), own);
    tally.add(company.id, pruned);
    if (pruned.rest === "failed") return false;
    hasStayed ||= pruned.rest === "stayed";
    const last = some.at(-1);
    if (last === undefined) continue;
    if (hasStayed || last.decidedAt >= unfiledFrom) way.place = markOf(last);
    else
      await deps.store.write(company.id, (tx) => noteMark(tx, { companyId: company.id, kind }, markOf(last)));
    await setImmediate();
  }
  return true;
}

async function pruneCompany(deps: PruneDeps, walk: Walk, tally: Tally): Promise<void> {
  const { kind, company, signal } = walk;
  const unfiledFrom = (await findOldestUnfiled(deps.store.read, company.id)) ?? Infinity;
  await fromPlace(deps.places, { key: `${kind} ${company.id}`, signal }, async (way) => {
    for await (const page of oldPages(deps, { ...walk, place: way.place }))
      if (!(await prunePage(deps, { walk, page, tally, unfiledFrom, way }))) return;
  });
}

async function bytesOf(deps: PruneDeps, walk: Walk, file: AgingFile) {
  if (walk.kind !== "receipts") return file.removedAt === null ? file.size : undefined;
  return await findReceiptBytes(deps, walk.company.code, file);
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
