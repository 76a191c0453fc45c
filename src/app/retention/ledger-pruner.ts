/**
 * Old entries of the ledger. An entry stays, whatever its age, while it is not decided and filed away, while its file, the
 * proof of its removal or its receipt is not done with, while a duplicate that refers to it is kept, and while a remote has still to look up
 * whether it is there.
 */
import { setImmediate } from "node:timers/promises";
import type { Reader } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import { findReferred, listAwaited, removeEntries } from "../../store/ledger/entry-retention.ts";
import {
  type AgingFile,
  findMark,
  firstMark,
  listAgingFiles,
  type Mark,
} from "../../store/ledger/file-retention.ts";
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

/** Whether the mark is at the entry or behind it. */
function isPassed({ decidedAt, id }: AgingFile, mark: Mark): boolean {
  return decidedAt < mark.decidedAt || (decidedAt === mark.decidedAt && id <= mark.fileId);
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
    /** How far the receipts are done with; undefined for what a pass would remove after them and the files. */
    readonly receiptsDone?: Mark;
  },
): Promise<Page> {
  const { company, after, limit, receiptsDone } = page;
  const companyId = company.id;
  const files = await listAgingFiles(read, { companyId, before: company.before, after, limit });
  const done = files.filter(
    (file) => receiptsDone === undefined || (areBytesGone(file) && isPassed(file, receiptsDone)),
  );
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
        });
        progress.tally.add(company.id, amountOf(page.gone));
        after = page.after;
        await setImmediate();
      }
    }),
  prune: (deps, due, progress) =>
    eachCompany(due, progress, (company) => pruneCompany(deps, company, progress)),
};

async function pruneCompany(
  { store, now }: PruneDeps,
  company: DueCompany,
  { signal, tally }: Progress,
): Promise<void> {
  const { id: companyId, days } = company;
  // A receipt is found by its entry alone.
  const receiptsDone = await findMark(store.read, { companyId, kind: "receipts" });
  for (let after: Mark | undefined = firstMark; after !== undefined; ) {
    signal.throwIfAborted();
    const wanted = { company, after, limit: entriesAtOnce, receiptsDone };
    const remove = async (tx: Transaction) => {
      const found = await readPage(tx, wanted);
      if (found.gone.length > 0) await removeEntries(tx, { companyId, files: found.gone, now, days });
      return found;
    };
    const looked = await readPage(store.read, wanted);
    // Read again and removed in one unit: nobody asks for a retry in between.
    const page: Page = looked.gone.length === 0 ? looked : await store.write(companyId, remove);
    tally.add(companyId, amountOf(page.gone));
    after = page.after;
    await setImmediate();
  }
}
