/**
 * Proves the accounting of the ledger (specification/file-exchange.md#once): received = applied + refused + duplicate +
 * superseded + waiting, every entry's bytes lie in exactly one place and are those that were received, or were removed on
 * purpose, no entry is missing, and no file lies about that no entry knows.
 *
 *   entry ──check──> in order
 *      └──> doubtful ──row changed meanwhile, or its file is in motion──> checked again after a pause
 *                   \──else──> discrepancy
 *
 * Safe beside a working daemon, because it always changes a row before it moves the bytes: a filed entry whose row is the
 * same before and after the check is as the check found it. What is in motion gets time to arrive.
 */
import { listCompanies } from "../../store/accounts/companies.ts";
import { listSharedLocations } from "../../store/ledger/shared-locations.ts";
import { type LedgerReport, LedgerTally } from "./ledger-report.ts";
import { countEntries } from "./count-entries.ts";
import { EntryVerification } from "./verify-entries.ts";
import { FolderVerification } from "./verify-folders.ts";
import { maxAtOnce, type VerifyDependencies, type VerifyOptions } from "./verify-options.ts";

async function verifyPlaces(
  { store }: VerifyDependencies,
  { signal }: VerifyOptions,
  tally: LedgerTally,
): Promise<void> {
  const shared = await listSharedLocations(store.read, { limit: maxAtOnce, signal });
  for (const { location, firstId, lastId } of shared) {
    const message = `the entries ${firstId} and ${lastId} name the same place`;
    tally.report({ kind: "shared", fileId: firstId, location, message });
  }
}

/** Verifies the whole ledger, in bounded memory. Lists at most 1,000 discrepancies, and counts all. */
export async function verifyLedger(
  deps: VerifyDependencies,
  options: VerifyOptions = {},
): Promise<LedgerReport> {
  const companies = await listCompanies(deps.store.read);
  const tally = new LedgerTally(companies);
  await new EntryVerification(deps, options, tally).run();
  await countEntries(deps, options, { companies, tally });
  await verifyPlaces(deps, options, tally);
  for (const { code } of companies) await new FolderVerification(deps, options, tally, code).run();
  return tally.toReport();
}
