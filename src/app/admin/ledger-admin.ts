/** The ledger, as the commands of an administrator see it. */
import { statfs } from "node:fs/promises";
import { companySettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import type { FileState } from "../../domain/files/file-state.ts";
import { partialFolderName } from "../../exchange/folders/company-tree.ts";
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
import { isSealedForm } from "../../lib/sealed-numbers.ts";
import { type Fault, reasonCodeOf } from "../../lib/errors.ts";
import { isoOrNull, isoTime } from "../../lib/iso-time.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { listFiles } from "../../store/ledger/file-queries.ts";
import { type FileRepeat, findFile, type LedgerEntry, listFileRepeats } from "../../store/ledger/files.ts";
import { noteVerified } from "../../store/database/generation.ts";
import { findProcessLockHolder } from "../../store/database/process-lock-holder.ts";
import { chooseCompany } from "./admin.ts";
import { type AdminStore, withAdminStore } from "./admin-store.ts";
import { exchangeFoldersOf } from "../daemon/exchange-folders.ts";
import { whyHeld } from "../../inbound/explain/explain-held.ts";
import { isOpenState } from "../../domain/files/file-state.ts";
import { folderFaultLines } from "../checks/folder-faults.ts";
import { type HeldReport, readHeldReport } from "../watch/held-report.ts";
import { entryNumberOf } from "./ledger-reference.ts";
import { verifyGracesOf } from "../watch/ledger-watch.ts";
import { minFreeBytesOf } from "../daemon/endpoint-options.ts";
import { type FileFilter, readFilter } from "./file-filter.ts";
import { toDeliveryView } from "./outbound-admin.ts";

export interface FileReason {
  readonly reasonCode: number;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly stopNbr?: string;
}

/** A ledger entry as commands show it; times are ISO, UTC. */
export interface FileView {
  readonly id: number;
  readonly company: string;
  readonly name: string;
  readonly state: FileState;
  readonly receivedAt: string;
  readonly channel: string;
  readonly user: string | null;
  readonly size: number;
  readonly sha256: string | null;
  readonly documentId: string | null;
  readonly function: string | null;
  readonly stopNbr: string | null;
  readonly reasons: readonly FileReason[];
  readonly recordsCreated: number;
  readonly recordsUpdated: number;
  readonly recordsDeleted: number;
  readonly decidedAt: string | null;
  /** Absolute path. */
  readonly location: string;
  readonly isFiled: boolean;
  readonly duplicateOf: number | null;
  readonly removedAt: string | null;
  readonly removedBy: string | null;
}

function toReason({ code, ...fault }: Fault): FileReason {
  return { reasonCode: reasonCodeOf(code), ...fault };
}

function toView(entry: LedgerEntry, company: string, stateDir: string): FileView {
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
    location: createLocations(stateDir).fromLedger(entry.location),
    isFiled: entry.isFiled,
    duplicateOf: entry.firstId,
    removedAt: isoOrNull(entry.removedAt),
    removedBy: entry.removedBy,
  };
}

type StateConfig = Pick<Config, "stateDir">;

async function codesOf({ read }: Pick<AdminStore, "read">): Promise<ReadonlyMap<number, string>> {
  return new Map((await listCompanies(read)).map(({ id, code }) => [id, code]));
}

export interface LedgerList {
  /** The newest first. */
  readonly files: readonly FileView[];
  /** Whether there are more than the limit lets through. */
  readonly isCut: boolean;
}

/** Entries of the ledger. */
export async function listLedger(
  config: StateConfig,
  options: FileFilter & { readonly limit: number },
): Promise<LedgerList> {
  const filter = readFilter(options);
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const { companyCode, limit } = options;
    const company = companyCode === undefined ? undefined : await chooseCompany(store, companyCode);
    const owner = company === undefined ? {} : { companyId: company.id };
    const entries = await listFiles(store.read, { ...filter, ...owner, limit: limit + 1 });
    const codes = await codesOf(store);
    const shown = entries.slice(0, limit);
    return {
      files: shown.map((entry) => toView(entry, codes.get(entry.companyId) ?? "", config.stateDir)),
      isCut: entries.length > limit,
    };
  });
}

async function findGiven(store: AdminStore, given: string): Promise<LedgerEntry | undefined> {
  const id = await entryNumberOf(store, given);
  return id === undefined ? undefined : await findFile(store.read, id);
}

/** What was decided about a file before a retry was requested. */
export interface FileRepeatView {
  readonly askedAt: string;
  readonly state: FileState;
  readonly decidedAt: string | null;
  readonly reasons: readonly FileReason[];
}

export interface FileDetail extends FileView {
  /** Oldest first. */
  readonly repeats: readonly FileRepeatView[];
}

function toRepeatView({ askedAt, state, decidedAt, faults }: FileRepeat): FileRepeatView {
  return { askedAt: isoTime(askedAt), state, decidedAt: isoOrNull(decidedAt), reasons: faults.map(toReason) };
}

/** One entry by its number or reference, undefined when there is none. */
export async function showFile(config: StateConfig, given: string): Promise<FileDetail | undefined> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const entry = await findGiven(store, given);
    if (entry === undefined) return undefined;
    const view = toView(entry, (await codesOf(store)).get(entry.companyId) ?? "", config.stateDir);
    return { ...view, repeats: (await listFileRepeats(store.read, entry.id)).map(toRepeatView) };
  });
}

/** What is reported of a file besides its entry. */
function storyView(story: FileStory, stateDir: string): object {
  const { before, first, laterStop, presence, path, repeats, ofSameStop } = story;
  return {
    ...toView(story.entry, story.company, stateDir),
    repeats: repeats.map(toRepeatView),
    presence,
    path,
    ...(first === undefined ? {} : { first: toView(first, story.company, stateDir) }),
    ...(laterStop === undefined ? {} : { laterStop }),
    ...(before === undefined ? {} : { before }),
    ...(ofSameStop === undefined ? {} : { ofSameStop }),
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
  /** Whether anything is known of it. */
  readonly isKnown: boolean;
  readonly facts: object;
  readonly lines: readonly string[];
}

async function roomOf(config: Pick<Config, "stateDir" | "storage">): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(config.stateDir);
  return { freeBytes: bavail * bsize, minFreeBytes: minFreeBytesOf(config)(blocks * bsize) };
}

/** With what the running daemon knows of the files that wait. */
function withHeld(explanation: Explanation, report: HeldReport | undefined): Explanation {
  if (report === undefined) return explanation;
  const tell = (story: FileStory): FileStory => {
    if (!isOpenState(story.entry.state)) return story;
    const company = report.companies.find((one) => one.company === story.company);
    return { ...story, held: whyHeld(company, story.entry.id) };
  };
  const { files, stopFiles } = explanation;
  return { ...explanation, files: files.map(tell), stopFiles: stopFiles.map(tell) };
}

function troubleLines(troubles: readonly string[]): readonly string[] {
  if (troubles.length === 0) return [];
  return ["", "What keeps files back besides:", ...troubles.map((message) => `  ${message}`)];
}

/** Explains a file or a stop. */
export async function explainSubject(
  config: Pick<Config, "stateDir" | "companies" | "inbound" | "storage">,
  query: { readonly subject: string; readonly companyCode?: string },
): Promise<ExplainedSubject> {
  return await withAdminStore(config.stateDir, { mayCreate: false }, async (store) => {
    const { companyCode, subject } = query;
    const company = companyCode === undefined ? undefined : await chooseCompany(store, companyCode);
    const named = isSealedForm(subject) ? await findGiven(store, subject) : undefined;
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
      named === undefined
        ? { subject, ...(company === undefined ? {} : { companyId: company.id }) }
        : { subject: named.name, companyId: named.companyId },
    );
    const report = await readHeldReport(config.stateDir, daemonPid);
    const told = withHeld(explanation, report);
    const ofFolders = await folderFaultLines(folders);
    return {
      isKnown: isKnown(told),
      facts: {
        ...explanationView(told, config.stateDir),
        troubles: [...(report?.troubles ?? []), ...ofFolders],
      },
      lines: [...explanationLines(told), ...troubleLines([...(report?.troubles ?? []), ...ofFolders])],
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
  return await withAdminStore(stateDir, { mayCreate: false }, async (store) => {
    const isStopped = findProcessLockHolder(stateDir) === undefined;
    const locations = createLocations(stateDir);
    const deps = { store, locations, clock: systemClock, ...verifyGracesOf(config), isStopped };
    const report = await verifyLedger(deps, options);
    await noteVerified(store);
    if (!isStopped) return report;
    const journaled = await countUploadsOfFormerJournal(exchangeFoldersOf(stateDir));
    return { ...report, atNextStart: report.atNextStart + journaled };
  });
}
