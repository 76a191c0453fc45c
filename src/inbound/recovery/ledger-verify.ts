/**
 * Proves the accounting of the ledger (specification/file-exchange.md#once): received = applied + refused + duplicate +
 * superseded + waiting, every entry's bytes lie in exactly one place and are those that were received, and no file lies
 * about that no entry knows.
 *
 *   entry ──look──> in order
 *      └──> doubtful ──row changed meanwhile, or its file is in motion──> looked at again after a pause
 *                   \──else──> discrepancy
 *
 * Safe beside a working daemon, because a row is always changed before its bytes are moved: a filed entry whose row reads
 * the same before and after the look is as it was seen. What is in motion is given time to arrive.
 */
import { listCompanies } from "../../store/accounts/companies.ts";
import { listSharedLocations } from "../../store/ledger/shared-locations.ts";
import { type LedgerReport, LedgerTally } from "./ledger-report.ts";
import { verifyEntries } from "./verify-entries.ts";
import { verifyFolders } from "./verify-folders.ts";
import { maxAtOnce, type VerifyDependencies, type VerifyOptions } from "./verify-options.ts";

async function verifyPlaces(
  { store }: VerifyDependencies,
  { signal }: VerifyOptions,
  tally: LedgerTally,
): Promise<void> {
  for (const { location, firstId, lastId } of await listSharedLocations(store.read, {
    limit: maxAtOnce,
    signal,
  })) {
    const message = `the entries ${firstId} and ${lastId} name the same place`;
    tally.report({ kind: "shared", fileId: firstId, location, message });
  }
}

/** Verifies the whole ledger. Memory is bounded; at most 1,000 discrepancies are told, all are counted. */
export async function verifyLedger(
  deps: VerifyDependencies,
  options: VerifyOptions = {},
): Promise<LedgerReport> {
  const companies = await listCompanies(deps.store.read);
  const tally = new LedgerTally(companies);
  await verifyEntries(deps, options, tally);
  await verifyPlaces(deps, options, tally);
  for (const { code } of companies) await verifyFolders(deps, options, { tally, company: code });
  return tally.toReport();
}
