/** The ledger, as the commands of an administrator see it. */
import { statfs } from "node:fs/promises";
import { companySettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { isOpenState } from "../../domain/files/file-state.ts";
import { partialFolderName } from "../../exchange/folders/company-folders.ts";
import { countUploadsOfFormerJournal } from "../../exchange/journal/take-up-former-journal.ts";
import {
  type DiskRoom,
  type Explanation,
  explain,
  type FileStory,
  isKnown,
  type StopStory,
} from "../../inbound/explain/explain.ts";
import { explanationLines } from "../../inbound/explain/explain-words.ts";
import type { LedgerReport } from "../../inbound/recovery/ledger-report.ts";
import { verifyLedger } from "../../inbound/recovery/ledger-verify.ts";
import type { VerifyOptions, VerifyProgress } from "../../inbound/recovery/verify-options.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { systemClock } from "../../lib/clock.ts";
import { unlessStoreFault } from "../../lib/store-error.ts";
import { isSealedForm } from "../../lib/sealed-numbers.ts";
import { type Fault, reasonCodeOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { listFiles } from "../../store/ledger/file-queries.ts";
import { type FileRepeat, type LedgerEntry, listFileRepeats } from "../../store/ledger/files.ts";
import { noteVerified } from "../../store/database/generation.ts";
import { noteLastVerification } from "../../store/database/last-verification.ts";
import { findDeliveryHold } from "../../store/outbound/delivery-hold.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import { companyFilter } from "./admin.ts";
import { type AdminStore, type CutList, cutAt, type StateConfig, withAdminStore } from "./admin-store.ts";
import { whyHeld } from "../../inbound/explain/explain-held.ts";
import { folderFaultLines } from "../checks/folder-faults.ts";
import { holdText } from "../watch/delivery-hold-watch.ts";
import { type HeldReport, readHeldReport } from "../watch/held-report.ts";
import { findEntry } from "./ledger-reference.ts";
import { verifyGracesOf } from "../watch/ledger-watch.ts";
import { exchangeFoldersOf, minFreeBytesOf } from "../daemon/part-options.ts";
import { type FileFilter, readFilter } from "./file-filter.ts";
import { toDeliveryView } from "./delivery-view.ts";

export interface FileReason extends Omit<Fault, "code"> {
  readonly reasonCode: number;
}

/** A fault as commands show it. */
export function toReason({ code, ...fault }: Fault): FileReason {
  return { reasonCode: reasonCodeOf(code), ...fault };
}

/** A ledger entry as commands show it; times are ISO, UTC. */
export type FileView = Readonly<ReturnType<typeof toView>>;

function toView(entry: LedgerEntry, company: string, stateDir: string) {
  return {
    id: entry.id,
    company,
    name: entry.name,
    state: entry.state,
    receivedAt: isoTime(entry.receivedAt),
    channel: entry.channel,
    user: entry.userName,
    size: entry.size,
    sha256: entry.sha256 === "" ? null : entry.sha256,
    documentId: entry.documentId,
    function: entry.stopFunction,
    stopNbr: entry.stopNbr,
    reasons: entry.faults.map(toReason),
    recordsCreated: entry.created,
    recordsUpdated: entry.updated,
    recordsDeleted: entry.deleted,
    decidedAt: isoOrNull(entry.decidedAt),
    /** Absolute path. */
    location: createLocations(stateDir).fromLedger(entry.location),
    isFiled: entry.isFiled,
    duplicateOf: entry.firstId,
    removedAt: isoOrNull(entry.removedAt),
    removedBy: entry.removedBy,
  };
}

async function codesOf({ read }: Pick<AdminStore, "read">): Promise<ReadonlyMap<number, string>> {
  return new Map((await listCompanies(read)).map(({ id, code }) => [id, code]));
}

/** Entries of the ledger. */
export async function listLedger(
  config: StateConfig,
  options: FileFilter & { readonly limit: number },
): Promise<CutList<FileView>> {
  const filter = readFilter(options);
  return await withAdminStore(config, async (store) => {
    const { company, limit } = options;
    const owner = await companyFilter(store, company);
    const entries = await listFiles(store.read, { ...filter, ...owner, limit: limit + 1 });
    const codes = await codesOf(store);
    return cutAt(limit, entries, (entry) => toView(entry, codes.get(entry.companyId) ?? "", config.stateDir));
  });
}

/** What was decided about a file before a retry was requested. */
function toRepeatView({ askedAt, state, decidedAt, faults }: FileRepeat) {
  return { askedAt: isoTime(askedAt), state, decidedAt: isoOrNull(decidedAt), reasons: faults.map(toReason) };
}

export interface FileDetail extends FileView {
  /** Oldest first. */
  readonly repeats: readonly ReturnType<typeof toRepeatView>[];
}

/** One entry by its number or reference, undefined when there is none. */
export async function showFile(config: StateConfig, given: string): Promise<FileDetail | undefined> {
  return await withAdminStore(config, async (store) => {
    const entry = await findEntry(store, given);
    if (entry === undefined) return undefined;
    const view = toView(entry, (await codesOf(store)).get(entry.companyId) ?? "", config.stateDir);
    return { ...view, repeats: (await listFileRepeats(store.read, entry.id)).map(toRepeatView) };
  });
}

function storyView(story: FileStory, stateDir: string): object {
  const { before, first, laterStop, presence, path, repeats, ofSameStop } = story;
  return {
    ...toView(story.entry, story.company, stateDir),
    repeats: repeats.map(toRepeatView),
    ...{ presence, path },
    ...given({ first: first && toView(first, story.company, stateDir), laterStop, before, ofSameStop }),
  };
}

function stopView({ stop, deliveries, ...story }: StopStory, now: number): object {
  return {
    deliveries: deliveries.map((one) => toDeliveryView(one, now)),
    ...stop,
    createdAt: isoTime(stop.createdAt),
    updatedAt: isoTime(stop.updatedAt),
    ...story,
    events: story.events.map((event) => ({
      ...event,
      recordedAt: isoTime(event.recordedAt),
      happenedAt: isoTime(event.happenedAt),
    })),
  };
}

function explanationView(explanation: Explanation, stateDir: string): object {
  const { files, stopFiles, stops, loose, deliveries, ...rest } = explanation;
  const now = systemClock.now();
  return {
    ...rest,
    deliveries: deliveries.map((one) => toDeliveryView(one, now)),
    files: files.map((story) => storyView(story, stateDir)),
    loose: loose.map((file) => ({ ...file, modifiedAt: isoTime(file.modifiedAt) })),
    stops: stops.map((story) => stopView(story, now)),
    stopFiles: stopFiles.map((story) => storyView(story, stateDir)),
  };
}

/** An explanation, as facts for programs and as text. */
export interface ExplainedSubject {
  readonly isKnown: boolean;
  readonly facts: object;
  readonly lines: readonly string[];
}

async function roomOf(config: Pick<Config, "stateDir" | "storage">): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(config.stateDir);
  return { freeBytes: bavail * bsize, minFreeBytes: minFreeBytesOf(config)(blocks * bsize) };
}

function withHeld(explanation: Explanation, report: HeldReport | undefined): Explanation {
  if (report === undefined) return explanation;
  const withReason = (story: FileStory): FileStory => {
    if (!isOpenState(story.entry.state)) return story;
    const company = report.companies.find((one) => one.company === story.company);
    return { ...story, held: whyHeld(company, story.entry.id) };
  };
  const { files, stopFiles } = explanation;
  return { ...explanation, files: files.map(withReason), stopFiles: stopFiles.map(withReason) };
}

function troubleLines(troubles: readonly string[]): readonly string[] {
  if (troubles.length === 0) return [];
  return ["", "What keeps files back besides:", ...troubles.map((message) => `  ${message}`)];
}

/** Explains a file or a stop. */
export async function explainSubject(
  config: Pick<Config, "stateDir" | "companies" | "inbound" | "storage">,
  query: { readonly subject: string; readonly company?: string },
): Promise<ExplainedSubject> {
  return await withAdminStore(config, async (store) => {
    const { company, subject } = query;
    const owner = await companyFilter(store, company);
    const named = isSealedForm(subject) ? await findEntry(store, subject) : undefined;
    const locations = createLocations(config.stateDir);
    const folders = [...(await codesOf(store)).values()].flatMap((code) => [
      { companyCode: code, path: locations.inboundDirectory(code), isInbox: true },
      ...companySettingsOf(config, code).folders.map(({ path }) => ({
        companyCode: code,
        path,
        isInbox: false,
      })),
    ]);
    const daemonPid = findProcessLockHolder(config.stateDir);
    const explanation = await explain(
      { store, locations, folders, partialFolderName, daemonPid, space: await roomOf(config) },
      named === undefined ? { subject, ...owner } : { subject: named.name, companyId: named.companyId },
    );
    const report = await readHeldReport(config.stateDir, daemonPid);
    const explained = withHeld(explanation, report);
    const hold = await findDeliveryHold(store.read);
    // A running daemon reports it among its own.
    const held = hold === undefined || report !== undefined ? [] : [holdText(hold)];
    const troubles = [...(report?.troubles ?? held), ...(await folderFaultLines(folders))];
    return {
      isKnown: isKnown(explained),
      facts: { ...explanationView(explained, config.stateDir), troubles },
      lines: [...explanationLines(explained), ...troubleLines(troubles)],
    };
  });
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
    const isStopped = findProcessLockHolder(stateDir) === undefined;
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
