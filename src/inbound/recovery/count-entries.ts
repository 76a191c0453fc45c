/**
 * Counts the entries of the ledger by company and state, with those that were removed because of their age, and proves that
 * none is missing: as many are there or were removed as were ever made.
 *
 * All is read as of one moment where the database can do that. Else, while entries are being removed, a count may see one
 * twice or not at all: it is done again until none was removed meanwhile. What it could not prove, the report says.
 */
import { setImmediate } from "node:timers/promises";
import { counted } from "../../lib/counted.ts";
import { isFileState } from "../../domain/files/file-state.ts";
import type { Company } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";
import {
  countMade,
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
  /** How many entries there are up to the id that was the newest in the beginning. */
  readonly kept: number;
  /** How many entries were made up to it, and how many ids never had one. */
  readonly made: { readonly made: number; readonly gaps: number } | undefined;
  /** The newest id is still known: no entry has a higher one. */
  readonly isNumbered: boolean;
  /** None was removed meanwhile. */
  readonly isExact: boolean;
}

async function countOnce(read: Reader, signal: AbortSignal | undefined): Promise<Count> {
  const pruned = await listPrunedEntries(read);
  const [newest, made] = [await newestFileId(read), await countMade(read)];
  const states = new Map<number, Map<string, number>>();
  const strange: CountedFile[] = [];
  let [kept, highest] = [0, 0];
  for (let afterId = 0; ; ) {
    signal?.throwIfAborted();
    const page = await listCountedFiles(read, { afterId, limit: pageSize });
    for (const file of page) {
      const ofCompany = states.get(file.companyId) ?? new Map<string, number>();
      states.set(file.companyId, ofCompany.set(file.state, (ofCompany.get(file.state) ?? 0) + 1));
      if (!isFileState(file.state) && strange.length < mostStrange) strange.push(file);
      if (file.id <= newest) kept += 1;
      highest = Math.max(highest, file.id);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) break;
    afterId = last.id;
    await setImmediate();
  }
  const isNumbered = highest <= (await newestFileId(read));
  const isExact = countPruned(await listPrunedEntries(read)) === countPruned(pruned);
  return { states, pruned, strange, kept, made, isNumbered, isExact };
}

/** Enters the sums in the tally, and reports entries that are missing. */
export async function countEntries(
  deps: VerifyDependencies,
  options: VerifyOptions,
  { companies, tally }: { readonly companies: readonly Pick<Company, "id">[]; readonly tally: LedgerTally },
): Promise<void> {
  const countNow = () => deps.store.asOfNow((read) => countOnce(read, options.signal));
  let count = await countNow();
  for (let counts = 1; !count.isExact && counts < mostCounts; counts += 1) {
    await pauseOf(deps, options);
    count = await countNow();
  }
  const { states, pruned, strange } = count;
  for (const id of new Set([...companies.map((company) => company.id), ...states.keys()]))
    tally.enter(id, states.get(id) ?? new Map(), pruned.get(id));
  for (const file of strange) tally.reportState(file);
  for (const why of whyUnproved(count)) tally.reportUnproved(why);
  const { kept, made, isNumbered, isExact } = count;
  if (!isExact || !isNumbered || made === undefined) return;
  const missing = made.made - kept - countPruned(pruned);
  if (missing !== 0) {
    const message = `${made.made} entries were made, ${kept} are there and ${countPruned(pruned)} were removed by their age: ${missing} are missing`;
    tally.report({ kind: "count", location: "ledger", message });
  }
}

/** What the count does not prove, in words. */
function whyUnproved({ made, isNumbered, isExact }: Count): readonly string[] {
  const reasons: readonly [boolean, string][] = [
    [
      !isExact,
      "whether an entry is missing: entries were removed by their age all the while; verify again when no pass of the retention is under way",
    ],
    [
      !isNumbered,
      "whether an entry is missing: the database has lost the number of its newest entry, as after a repair by hand; restore a backup from before that if entries may have been lost",
    ],
    [
      made === undefined,
      "whether an entry is missing: the database has lost how many numbers had no entry, as after a repair by hand; restore a backup from before that if entries may have been lost",
    ],
    [
      made !== undefined && made.gaps !== 0,
      `whether ${counted(made?.gaps ?? 0, "number")} without an entry had one before this state came to a version that counts them; a backup from before that tells`,
    ],
  ];
  return reasons.filter(([holds]) => holds).map(([, why]) => why);
}
