import type { Config } from "../../config/schema.ts";
import { countUploadsOfFormerJournal } from "../../exchange/journal/take-up-former-journal.ts";
import type { LedgerReport } from "../../inbound/recovery/ledger-report.ts";
import { verifyLedger } from "../../inbound/recovery/ledger-verify.ts";
import type { VerifyOptions, VerifyProgress } from "../../inbound/recovery/verify-options.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { systemClock } from "../../lib/clock.ts";
import { unlessStoreFault } from "../../lib/store-error.ts";
import { given } from "../../lib/given.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { countFiles, listFiles } from "../../store/ledger/file-lists.ts";
import { type FileRepeat, listFileRepeats } from "../../store/ledger/files.ts";
import { noteVerified } from "../../store/database/generation.ts";
import { noteLastVerification } from "../../store/database/last-verification.ts";
import { companyFilter } from "./admin.ts";
import {
  type AdminStore,
  type CutList,
  cutAt,
  type Page,
  type StateConfig,
  withAdminStore,
} from "./admin-store.ts";
import { findEntry, whyNoEntry } from "./ledger-reference.ts";
import { verifyGracesOf } from "../watch/ledger-watch.ts";
import { exchangeFoldersOf } from "../daemon/part-options.ts";
import { type FileFilter, readFilter } from "./file-filter.ts";
import { type FileView, toFileView, toReason } from "./file-view.ts";
import { areRunning, findRunningDaemons } from "./running-daemons.ts";

export async function codesOf({ read }: Pick<AdminStore, "read">): Promise<ReadonlyMap<number, string>> {
  return new Map((await listCompanies(read)).map(({ id, code }) => [id, code]));
}

/** Entries of the ledger. */
export async function listLedger(
  config: StateConfig,
  filter: FileFilter,
  { limit, before }: Page,
): Promise<CutList<FileView>> {
  const selection = readFilter(filter);
  return await withAdminStore(config, async (store) => {
    const owner = await companyFilter(store, filter.company);
    const page = { ...given({ beforeId: before }), limit: limit + 1 };
    const entries = await listFiles(store.read, { ...selection, ...owner, ...page });
    const codes = await codesOf(store);
    return cutAt(limit, entries, (entry) =>
      toFileView(entry, codes.get(entry.companyId) ?? "", config.stateDir),
    );
  });
}

/** How many entries there are of the filter. */
export async function countLedger(config: StateConfig, filter: FileFilter): Promise<number> {
  const selection = readFilter(filter);
  return await withAdminStore(config, async (store) =>
    countFiles(store.read, { ...selection, ...(await companyFilter(store, filter.company)) }),
  );
}

/** What was decided about a file before a retry was requested. */
export function toRepeatView(repeat: FileRepeat) {
  const { askedAt, state, decidedAt, faults, receiptCollectedAt, receiptCollectedBy } = repeat;
  return {
    ...{ askedAt: isoTime(askedAt), state, decidedAt: isoOrNull(decidedAt), reasons: faults.map(toReason) },
    ...{ receiptCollectedAt: isoOrNull(receiptCollectedAt), receiptCollectedBy },
  };
}

export interface FileDetail extends FileView {
  /** Oldest first. */
  readonly repeats: readonly ReturnType<typeof toRepeatView>[];
}

/** One entry by its number or reference, undefined when there is none. */
export async function showFile(config: StateConfig, named: string): Promise<FileDetail | undefined> {
  return await withAdminStore(config, async (store) => {
    const entry = await findEntry(store, named);
    if (entry === undefined) return undefined;
    const view = toFileView(entry, (await codesOf(store)).get(entry.companyId) ?? "", config.stateDir);
    return { ...view, repeats: (await listFileRepeats(store.read, entry.id)).map(toRepeatView) };
  });
}

/** Why there is no entry of a number or reference, for whoever asked for it. */
export async function tellNoEntry(config: StateConfig, named: string): Promise<string> {
  const why = await withAdminStore(config, (store) => whyNoEntry(store, named));
  return why ?? `there is no ledger entry ${named}: \`dropgate files\` lists them`;
}

/** Progress and report of a verification, for the commands. */
export type VerifiedLedger = LedgerReport;
export type VerifyProgressView = VerifyProgress;

/** Proves the accounting of the ledger by hashing. */
export async function verifyWholeLedger(
  config: Pick<Config, "stateDir" | "inbound">,
  options: VerifyOptions,
): Promise<VerifiedLedger> {
  const { stateDir } = config;
  return await withAdminStore(config, async (store) => {
    const isStopped = !areRunning(await findRunningDaemons(config, store));
    const locations = createLocations(stateDir);
    const deps = { store, locations, clock: systemClock, ...verifyGracesOf(config), isStopped };
    const report = await verifyLedger(deps, options);
    const verification = { at: systemClock.now(), discrepancies: report.discrepancyCount };
    // The report comes first: a database that takes no writes only keeps the figure of an earlier one.
    await noteLastVerification(store, verification).catch(unlessStoreFault);
    await noteVerified(store);
    if (!isStopped) return report;
    const journaled = await countUploadsOfFormerJournal(exchangeFoldersOf(stateDir));
    return { ...report, atNextStart: report.atNextStart + journaled };
  });
}
