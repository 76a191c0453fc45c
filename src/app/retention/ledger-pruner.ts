/**
 * Old entries of the ledger. An entry stays, whatever its age, while it is not decided and filed away, while its file or the
 * proof of its removal is not done with, while its receipt is in `receipts/`, where nobody would find it without the entry,
 * while a duplicate that refers to it is kept, and while a remote has still to look up whether it is there.
 */
import { setImmediate } from "node:timers/promises";
import { findReceiptBytes } from "../../inbound/pruning/prune-receipts.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findReferred, listAwaited, removeEntries } from "../../store/ledger/entry-retention.ts";
import { type AgingFile, firstMark, listAgingFiles, type Mark } from "../../store/ledger/file-retention.ts";
import { fromPlace, type Way } from "./places.ts";
import {
  type Amount,
  type DueCompany,
  eachCompany,
  type Progress,
  type PruneDeps,
  type Pruner,
} from "./pruner.ts";

const countedAtOnce = 500;
const entriesAtOnce = 50;

/** Names of files that a remote is waiting for, with the lowest entry that may be theirs. */
type Awaited = ReadonlyMap<string, number>;

async function awaitedOf(read: Reader, companyId: number, files: readonly AgingFile[]): Promise<Awaited> {
  const awaited = new Map<string, number>();
  const names = files.map(({ name }) => name);
  for (const { name, afterFileId } of await listAwaited(read, { companyId, names }))
    awaited.set(name, Math.min(afterFileId, awaited.get(name) ?? afterFileId));
  return awaited;
}

function areBytesGone({ removedAt, isPruning }: AgingFile): boolean {
  return removedAt !== null && isPruning === 0;
}

interface Page {
  /** Those that nothing needs any more. */
  readonly gone: readonly AgingFile[];
  /** From where to go on; undefined when there is nothing more that old. */
  readonly after: Mark | undefined;
}

async function readPage(
  read: Reader,
  page: {
    readonly company: DueCompany;
    readonly after: Mark;
    readonly limit: number;
    /** Whether nothing of the file itself is left. */
    readonly isDone: (file: AgingFile) => boolean;
  },
): Promise<Page> {
  const { company, after, limit, isDone } = page;
  const companyId = company.id;
  const files = await listAgingFiles(read, { companyId, before: company.before, after, limit });
  const done = files.filter(isDone);
  const referred = await findReferred(read, { companyId, files: done });
  const awaited = await awaitedOf(read, companyId, done);
  const isNeeded = ({ id, name }: AgingFile) => referred.has(id) || (awaited.get(name) ?? id) < id;
  const last = files.at(-1);
  return {
    gone: done.filter((file) => !isNeeded(file)),
    after:
      last === undefined || files.length < limit ? undefined : { decidedAt: last.decidedAt, fileId: last.id },
  };
}

function amountOf(gone: readonly AgingFile[]): Amount {
  const [first, last] = [gone[0], gone.at(-1)];
  return { count: gone.length, bytes: 0, oldestAt: first?.decidedAt, newestAt: last?.decidedAt };
}

export const ledgerPruner: Pruner = {
  kind: "ledger",
  wouldGo: ({ store }, due, progress) =>
    eachCompany(due, progress, async (company) => {
      for (let after: Mark | undefined = firstMark; after !== undefined; ) {
        progress.signal.throwIfAborted();
        const page: Page = await readPage(store.read, {
          company,
          after,
          limit: countedAtOnce,
          // A pass removes the files and receipts before.
          isDone: () => true,
        });
        progress.tally.add(company.id, amountOf(page.gone));
        after = page.after;
        await setImmediate();
      }
    }),
  prune: (deps, due, progress) =>
    eachCompany(due, progress, (company) => pruneCompany(deps, company, progress)),
};

/** Entries that only wait for their receipts. */
interface Waiting {
  count: number;
  first?: string;
  /** Why the first that could not be looked at could not be; it may be there. */
  unknown?: string;
}

/** Those of the entries that have no receipt in `receipts/` any more, by their ids. */
async function idsWithoutReceipt(
  deps: PruneDeps,
  { company, files, waiting }: { company: DueCompany; files: readonly AgingFile[]; waiting: Waiting },
): Promise<ReadonlySet<number>> {
  const isThere = async (file: AgingFile) => {
    try {
      return (await findReceiptBytes(deps, company.code, file)) !== undefined;
    } catch (error) {
      waiting.unknown ??= messageOf(error);
      return true;
    }
  };
  const ids = new Set<number>();
  for (const file of files) {
    if (!(await isThere(file))) {
      ids.add(file.id);
      continue;
    }
    waiting.count += 1;
    waiting.first ??= file.name;
  }
  return ids;
}

function tellWaiting({ log, isHeldUp }: PruneDeps, { code }: DueCompany, waiting: Waiting): void {
  const { count, first, unknown } = waiting;
  // Those that stay while a backup is made are told as such.
  if (count === 0 || isHeldUp("receipts")) return;
  log.warn(
    { company: code, entries: count, first, ...(unknown !== undefined && { reason: unknown }) },
    "old entries of the ledger stay because their receipts are still in receipts/: they go after them",
  );
}

async function pruneCompany(deps: PruneDeps, company: DueCompany, progress: Progress): Promise<void> {
  const waiting: Waiting = { count: 0 };
  try {
    const walk = { key: `ledger ${company.id}`, signal: progress.signal };
    await fromPlace(deps.places, walk, (way) => removeOld(deps, { company, waiting, way }, progress));
  } finally {
    tellWaiting(deps, company, waiting);
  }
}

async function removeOld(
  deps: PruneDeps,
  { company, waiting, way }: { readonly company: DueCompany; readonly waiting: Waiting; readonly way: Way },
  { signal, tally }: Progress,
): Promise<void> {
  const { store, now } = deps;
  const { id: companyId, days } = company;
  for (let after: Mark | undefined = way.place ?? firstMark; after !== undefined; way.place = after) {
    signal.throwIfAborted();
    const wanted = { company, after, limit: entriesAtOnce };
    const looked = await readPage(store.read, { ...wanted, isDone: areBytesGone });
    const free = await idsWithoutReceipt(deps, { company, files: looked.gone, waiting });
    const isDone = (file: AgingFile) => areBytesGone(file) && free.has(file.id);
    const remove = async (tx: Transaction) => {
      const found = await readPage(tx, { ...wanted, isDone });
      if (found.gone.length > 0) await removeEntries(tx, { companyId, files: found.gone, now, days });
      return found.gone;
    };
    // Read again and removed in one unit: nobody asks for a retry in between.
    if (free.size > 0) tally.add(companyId, amountOf(await store.write(companyId, remove)));
    after = looked.after;
    await setImmediate();
  }
}
