/**
 * Counts the entries of the ledger by company and state, with those that were removed because of their age, and proves that
 * none is missing: each id up to the newest was given to one entry, but for those that had none when entries began to be
 * removed.
 *
 * While entries are being removed a count may see one twice or not at all: it is done again until none was removed meanwhile.
 */
import { setImmediate } from "node:timers/promises";
import { isFileState } from "../../domain/files/file-state.ts";
import type { Company } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";
import {
  countEntered,
  countPruned,
  listPrunedEntries,
  newestFileId,
  type PrunedEntries,
} from "../../store/ledger/entry-retention.ts";
import { type CountedFile, listCountedFiles } from "../../store/ledger/accounted-files.ts";
import type { LedgerTally } from "./ledger-report.ts";
import { pauseOf, type VerifyDependencies, type VerifyOptions } from "./verify-options.ts";

const pageSize = 2_000;
const mostCounts = 10;
const mostStrange = 1_000;

interface Count {
  /** By company and state. */
  readonly states: ReadonlyMap<number, ReadonlyMap<string, number>>;
  readonly pruned: ReadonlyMap<number, PrunedEntries>;
  /** Entries whose state does not exist. */
  readonly strange: readonly CountedFile[];
  /** How many entries there are up to the id that was the newest in the beginning, and how many there have to be. */
  readonly kept: number;
  readonly entered: number;
  /** None was removed meanwhile. */
  readonly isExact: boolean;
}

async function countOnce(read: Reader, signal: AbortSignal | undefined): Promise<Count> {
  const pruned = await listPrunedEntries(read);
  const newest = await newestFileId(read);
  const states = new Map<number, Map<string, number>>();
  const strange: CountedFile[] = [];
  let kept = 0;
  for (let afterId = 0; ; ) {
    signal?.throwIfAborted();
    const page = await listCountedFiles(read, { afterId, limit: pageSize });
    for (const file of page) {
      const ofCompany = states.get(file.companyId) ?? new Map<string, number>();
      states.set(file.companyId, ofCompany.set(file.state, (ofCompany.get(file.state) ?? 0) + 1));
      if (!isFileState(file.state) && strange.length < mostStrange) strange.push(file);
      if (file.id <= newest) kept += 1;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    afterId = last.id;
    await setImmediate();
  }
  const isExact = countPruned(await listPrunedEntries(read)) === countPruned(pruned);
  return { states, pruned, strange, kept, entered: await countEntered(read, newest), isExact };
}

/** Enters the sums in the tally, and reports entries that are missing. */
export async function countEntries(
  deps: VerifyDependencies,
  options: VerifyOptions,
  { companies, tally }: { readonly companies: readonly Pick<Company, "id">[]; readonly tally: LedgerTally },
): Promise<void> {
  const { read } = deps.store;
  let count = await countOnce(read, options.signal);
  for (let counts = 1; !count.isExact && counts < mostCounts; counts += 1) {
    await pauseOf(deps, options);
    count = await countOnce(read, options.signal);
  }
  const { states, pruned, strange, kept, entered, isExact } = count;
  for (const id of new Set([...companies.map((company) => company.id), ...states.keys()]))
    tally.enter(id, states.get(id) ?? new Map(), pruned.get(id));
  for (const file of strange) tally.reportState(file);
  const missing = entered - kept - countPruned(pruned);
  if (isExact && missing !== 0) {
    const message = `${entered} entries were made, ${kept} are there and ${countPruned(pruned)} were removed by their age: ${missing} are missing`;
    tally.report({ kind: "count", location: "ledger", message });
  }
}
