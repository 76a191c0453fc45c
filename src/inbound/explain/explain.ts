/** Finds where a file is and why, or what became of a stop: the facts. Their text is in `explain-words.ts`. */
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { isOpenState } from "../../domain/files/file-state.ts";
import { recordedEvents } from "../../domain/outbound/recorded-events.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { stopNumberForms } from "../../domain/files/stop-number-in-name.ts";
import { isStopStatus, stopStatusNames } from "../../domain/stop/stop-status.ts";
import { momentOf } from "../../domain/time/zoned-time.ts";
import { isMissing, systemCodeOf } from "../../lib/errors.ts";
import { type Company, listCompanies } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { listDeliveries } from "../../store/outbound/delivery-lists.ts";
import { type ListedDelivery, listDeliveriesByName } from "../../store/outbound/delivery-queries.ts";
import {
  type FilesBefore,
  findEarlierOfStop,
  findFilesBefore,
  listFilesByName,
  type PlaceInLine,
  listFileSpellings,
} from "../../store/ledger/file-queries.ts";
import { listFiles } from "../../store/ledger/file-lists.ts";
import { type FileRepeat, findFile, type LedgerEntry, listFileRepeats } from "../../store/ledger/files.ts";
import {
  findStopSummaries,
  listStopEvents,
  type StopHistoryEvent,
  type StopSummary,
} from "../../store/stops/stop-history.ts";
import { listUserRecords } from "../../store/accounts/users.ts";
import { arrivalTime } from "../lanes/waiting-file.ts";
import {
  canBeRead,
  findLooseFiles,
  findLooseFilesOfStop,
  type LooseFile,
  type LooseSearch,
} from "../recovery/find-loose-files.ts";

export interface ExplainDependencies extends LooseSearch {
  readonly store: Pick<Store, "read">;
  /** The running daemon, undefined when there is none. */
  readonly daemonPid: number | undefined;
  /** Room on the disk of the state directory, and how much has to stay free, in bytes. */
  readonly space?: DiskRoom;
}

export interface DiskRoom {
  readonly freeBytes: number;
  readonly minFreeBytes: number;
}

/** What is at the location that the ledger names. */
export type BytesPresence = "there" | "absent" | "removed" | "notAFile" | "unreadable";

export interface FileStory {
  readonly company: string;
  readonly entry: LedgerEntry;
  /** Absolute path of the bytes. */
  readonly path: string;
  readonly presence: BytesPresence;
  /** What was decided about it before a retry, oldest first. */
  readonly repeats: readonly FileRepeat[];
  /** The entry whose content this one repeats. */
  readonly first?: LedgerEntry;
  /** The stop that was asked for, when it is not the file's first. */
  readonly laterStop?: string;
  /** Why it does not go on, as the running daemon reports it. */
  readonly held?: readonly string[];
  /** The files before it, while it waits. */
  readonly before?: FilesBefore;
  /** Files of the same stop that go before it, while it waits. */
  readonly ofSameStop?: readonly EarlierFile[];
  /** The same of files that still lie in a folder, because they are not whole or cannot be read. */
  readonly inFolders?: readonly LooseFile[];
}

export interface EarlierFile {
  readonly id: number;
  readonly name: string;
  readonly presence: BytesPresence;
}

export interface StopStory {
  readonly company: string;
  readonly stop: StopSummary;
  readonly statusName: string;
  /** By when they happened, the newest 100. */
  readonly events: readonly ToldEvent[];
  /** What went out about it, or is to go, oldest first, the newest 50. */
  readonly deliveries: readonly ListedDelivery[];
}

export interface ToldEvent {
  readonly code: number;
  readonly name: string;
  readonly recordedAt: number;
  /** When it happened: as reported, else when it was recorded. */
  readonly happenedAt: number;
}

export type LooseStory = LooseFile & { readonly userName?: string };

export interface Explanation {
  readonly subject: string;
  /** What was asked for, when the ledger knows it only in another case. */
  readonly askedFor?: string;
  readonly daemonPid: number | undefined;
  /** Entries of that name, oldest first. */
  readonly files: readonly FileStory[];
  /** Files of that name that are in no ledger. */
  readonly loose: readonly LooseStory[];
  readonly stops: readonly StopStory[];
  /** Entries of the stop, oldest first, the newest 50. */
  readonly stopFiles: readonly FileStory[];
  /** Deliveries of that name: completion files and exports. */
  readonly deliveries: readonly ListedDelivery[];
  /** When there is too little room, so that uploads are refused. */
  readonly fullDisk?: DiskRoom;
  /** Companies outside the search that know the name or the stop. */
  readonly otherCompanies: readonly string[];
  /** What is wrong with the name, for a name that is known nowhere. */
  readonly nameFault?: string;
}

const maxStopFiles = 50;
const maxEvents = 100;
const maxDeliveries = 50;

const eventNames: ReadonlyMap<number, string> = new Map(
  Object.values(recordedEvents).map(({ code, name }) => [code, name]),
);

async function presenceOf(entry: LedgerEntry, path: string): Promise<BytesPresence> {
  try {
    const stats = await lstat(path);
    if (!stats.isFile()) return "notAFile";
    return (await canBeRead(path)) ? "there" : "unreadable";
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    if (!isMissing(error)) return "unreadable";
    return entry.removedAt === null ? "absent" : "removed";
  }
}

/** A decided file that is not filed away yet may still lie where it came from. */
async function whereabouts(
  deps: ExplainDependencies,
  entry: LedgerEntry,
): Promise<Pick<FileStory, "path" | "presence">> {
  const path = deps.locations.fromLedger(entry.location);
  const presence = await presenceOf(entry, path);
  if (presence !== "absent" || entry.isFiled) return { path, presence };
  const source = deps.locations.fromLedger(entry.source);
  const atSource = await presenceOf(entry, source);
  return atSource === "absent" ? { path, presence } : { path: source, presence: atSource };
}

function millisecondsOf(time: number): number {
  const text = String(time).padStart(14, "0");
  const part = (from: number, to: number) => Number(text.slice(from, to));
  return Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(8, 10), part(10, 12), part(12, 14));
}

async function earlierOfStop(
  deps: ExplainDependencies,
  { company, entry, place }: { company: string; entry: LedgerEntry; place: PlaceInLine },
): Promise<Pick<FileStory, "ofSameStop" | "inFolders">> {
  const name = parseStopFileName(entry.name);
  if (name.kind !== "named") return {};
  const earlier = await findEarlierOfStop(deps.store.read, { ...place, stopNbr: name.stopNbr });
  const told = await Promise.all(
    earlier.map(async (one) => ({ id: one.id, name: one.name, ...(await whereabouts(deps, one)) })),
  );
  const known = new Set(told.map(({ path }) => path));
  const loose = await findLooseFilesOfStop(deps, { company, stopNumbers: [name.stopNbr] });
  const keepsBack = ({ nameTime, path, isOpenEnded, isReadable }: (typeof loose)[number]) =>
    nameTime < place.time && !known.has(path) && (isOpenEnded === true || !isReadable);
  return { ofSameStop: told, inFolders: loose.filter(keepsBack) };
}

/** The files before a waiting file. */
async function lineBefore(
  deps: ExplainDependencies,
  company: string,
  entry: LedgerEntry,
): Promise<Pick<FileStory, "before" | "ofSameStop" | "inFolders">> {
  const time = entry.nameTime ?? arrivalTime(entry.receivedAt);
  const place = { companyId: entry.companyId, id: entry.id, time, timeMs: millisecondsOf(time) };
  const before = await findFilesBefore(deps.store.read, place);
  return { before, ...(await earlierOfStop(deps, { company, entry, place })) };
}

async function tellFile(deps: ExplainDependencies, company: string, entry: LedgerEntry): Promise<FileStory> {
  const first = entry.firstId === null ? undefined : await findFile(deps.store.read, entry.firstId);
  return {
    company,
    entry,
    ...(await whereabouts(deps, entry)),
    repeats: await listFileRepeats(deps.store.read, entry.id),
    ...(first === undefined ? {} : { first }),
    ...(isOpenState(entry.state) ? await lineBefore(deps, company, entry) : {}),
  };
}

function toldEvent({ code, recordedAt, eventDTTM, eventTz }: StopHistoryEvent): ToldEvent {
  const reported = eventDTTM === undefined ? undefined : momentOf(eventDTTM, eventTz ?? "UTC");
  const isKnown = reported !== undefined && !Number.isNaN(reported);
  const name = eventNames.get(code) ?? "unknown event";
  return { code, name, recordedAt, happenedAt: isKnown ? reported : recordedAt };
}

async function tellStops(deps: ExplainDependencies, company: Company, stopNbr: string): Promise<StopStory[]> {
  const { read } = deps.store;
  const stories: StopStory[] = [];
  for (const stop of await findStopSummaries(read, { companyId: company.id, stopNbr })) {
    const key = { companyId: company.id, stopNbr: stop.stopNbr, limit: maxEvents };
    const events = (await listStopEvents(read, key)).map(toldEvent);
    const statusName = isStopStatus(stop.status) ? stopStatusNames[stop.status] : "unknown status";
    const ofStop = { companyId: company.id, stopNbr: stop.stopNbr, limit: maxDeliveries };
    stories.push({
      ...{ company: company.code, stop, statusName },
      events: events.toSorted((one, other) => one.happenedAt - other.happenedAt),
      deliveries: (await listDeliveries(read, ofStop)).toReversed(),
    });
  }
  return stories;
}

async function tellLoose(
  deps: ExplainDependencies,
  company: Company,
  { fileName: name, stopNbr }: Subject,
  known: readonly FileStory[],
): Promise<readonly LooseStory[]> {
  const knownPaths = new Set(known.map(({ path }) => path));
  const key = { company: company.code, stopNumbers: stopNbr === undefined ? [] : stopNumberForms(stopNbr) };
  const found = [
    ...(await findLooseFiles(deps, { company: company.code, name })),
    ...(await findLooseFilesOfStop(deps, key)),
  ];
  const loose = found.filter(
    ({ path, kind }) => !knownPaths.has(path) && !(kind === "receipt" && known.length > 0),
  );
  if (!loose.some(({ userId }) => userId !== undefined)) return loose;
  const names = new Map((await listUserRecords(deps.store.read)).map(({ id, userName }) => [id, userName]));
  return loose.map((file) => {
    const userName = file.userId === undefined ? undefined : names.get(file.userId);
    return userName === undefined ? file : { ...file, userName };
  });
}

/** A file of a stop; its text is about its first Stop, which may be another. */
function asFileOfStop(story: FileStory, stopNbr: string): FileStory {
  const { entry } = story;
  const name = parseStopFileName(entry.name);
  const isNamed = name.kind === "named" && stopNumberForms(stopNbr).includes(name.stopNbr);
  const isFirst = entry.stopNbr === null || entry.stopNbr.toLowerCase() === stopNbr.toLowerCase();
  return isNamed || isFirst ? story : { ...story, laterStop: stopNbr };
}

interface Subject {
  readonly fileName: string;
  readonly stopNbr: string | undefined;
}

/** What ends in `.xml` is a file; anything else may be either. A receipt's name stands for its file's. */
function readSubject(text: string): Subject {
  const name = basename(text.trim());
  const ofReceipt = /^(.+)\.receipt\.xml$/i.exec(name)?.[1];
  if (ofReceipt !== undefined) return { fileName: `${ofReceipt}.xml`, stopNbr: undefined };
  return { fileName: name, stopNbr: /\.xml$/i.test(name) ? undefined : name };
}

type CompanyView = Pick<Explanation, "files" | "loose" | "stops" | "stopFiles" | "deliveries">;

async function lookInCompany(
  deps: ExplainDependencies,
  company: Company,
  subject: Subject,
): Promise<CompanyView> {
  const { read } = deps.store;
  const { fileName, stopNbr } = subject;
  const tell = (entry: LedgerEntry) => tellFile(deps, company.code, entry);
  const named = await listFilesByName(read, { companyId: company.id, name: fileName });
  const files = await Promise.all(named.map(tell));
  // A manifest is part of what its document's name stands for.
  const delivered = fileName.replace(/\.manifest\.xml$/, ".xml");
  const deliveries = await listDeliveriesByName(read, { companyId: company.id, name: delivered });
  if (stopNbr === undefined) {
    const loose = await tellLoose(deps, company, subject, files);
    return { files, loose, deliveries, stops: [], stopFiles: [] };
  }
  const ofStop = await listFiles(read, { companyId: company.id, stopNbr, limit: maxStopFiles });
  const told = await Promise.all(ofStop.toReversed().map(tell));
  const stopFiles = told.map((story) => asFileOfStop(story, stopNbr));
  const loose = await tellLoose(deps, company, subject, [...files, ...stopFiles]);
  return { files, loose, deliveries, stops: await tellStops(deps, company, stopNbr), stopFiles };
}

/**
 * Explains a file name (also with a folder before it, or the name of its receipt) or a stop number, in one company or in
 * all.
 */
export async function explain(
  deps: ExplainDependencies,
  query: { readonly subject: string; readonly companyId?: number },
): Promise<Explanation> {
  const subject = readSubject(query.subject);
  const explanation = await explainSubject(deps, subject, query.companyId);
  if (isKnown(explanation)) return explanation;
  const told: Explanation[] = [];
  // Names of the ledger that differ in case alone, in the company or in all.
  const spellings = await listFileSpellings(deps.store.read, { ...query, name: subject.fileName });
  for (const fileName of spellings)
    told.push(await explainSubject(deps, { fileName, stopNbr: undefined }, query.companyId));
  const [first] = told;
  if (first === undefined) return explanation;
  return {
    ...first,
    askedFor: subject.fileName,
    files: told.flatMap(({ files }) => files),
    loose: told.flatMap(({ loose }) => loose),
  };
}

/** Whether anything is known of what was asked for. */
export function isKnown({ files, loose, stops, stopFiles, deliveries }: CompanyView): boolean {
  return [files, loose, stops, stopFiles, deliveries].some((list) => list.length > 0);
}

async function explainSubject(
  deps: ExplainDependencies,
  subject: Subject,
  companyId: number | undefined,
): Promise<Explanation> {
  const all = await listCompanies(deps.store.read);
  const views: CompanyView[] = [];
  const otherCompanies: string[] = [];
  for (const company of all) {
    const view = await lookInCompany(deps, company, subject);
    if (companyId === undefined || companyId === company.id) views.push(view);
    else if (isKnown(view)) otherCompanies.push(company.code);
  }
  const { space } = deps;
  const isFull = space !== undefined && space.freeBytes < space.minFreeBytes;
  const name = parseStopFileName(subject.fileName);
  const isFaulty = subject.stopNbr === undefined && name.kind === "wrong";
  return {
    subject: subject.fileName,
    daemonPid: deps.daemonPid,
    files: views.flatMap(({ files }) => files),
    loose: views.flatMap(({ loose }) => loose),
    stops: views.flatMap(({ stops }) => stops),
    stopFiles: views.flatMap(({ stopFiles }) => stopFiles),
    deliveries: views.flatMap(({ deliveries }) => deliveries),
    ...(isFull ? { fullDisk: space } : {}),
    otherCompanies,
    ...(isFaulty ? { nameFault: name.why } : {}),
  };
}
