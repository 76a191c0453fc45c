import { basename } from "node:path";
import { recordedEvents } from "../../domain/outbound/recorded-events.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { stopNumberForms } from "../../domain/files/stop-number-in-name.ts";
import { isStopStatus, stopStatusNames } from "../../domain/stop/stop-status.ts";
import { momentOf } from "../../domain/time/zoned-time.ts";
import { type Company, listCompanies } from "../../store/accounts/companies.ts";
import { listDeliveries } from "../../store/outbound/delivery-lists.ts";
import { findDelivery, listDeliveriesByName } from "../../store/outbound/delivery-queries.ts";
import {
  listFilesByName,
  listFilesByDocumentId,
  listFileSpellings,
} from "../../store/ledger/file-queries.ts";
import { listForgotten } from "../../store/ledger/entry-retention.ts";
import { listFiles } from "../../store/ledger/file-lists.ts";
import type { LedgerEntry } from "../../store/ledger/files.ts";
import { findStopSummaries, listStopEvents, type StopHistoryEvent } from "../../store/stops/stop-history.ts";
import { listUserRecords } from "../../store/accounts/users.ts";
import { contentPath } from "../../lib/files/content-store.ts";
import { given } from "../../lib/given.ts";
import {
  findCandidates,
  isGuid,
  isPattern,
  tellDocument,
  tellRemoteFiles,
  tellUntaken,
} from "./explain-elsewhere.ts";
import { type OutboundStory, tellCompletionAlone, tellOutbound } from "./explain-outbound.ts";
import type {
  CompanyView,
  Explanation,
  ExplainDependencies,
  FileStory,
  LooseStory,
  StopStory,
  ToldEvent,
} from "./explanation.ts";
import { asFileOfStop, tellFile } from "./tell-file.ts";
import { findKeepingBack, findLooseFiles, findLooseFilesOfStop } from "../recovery/find-loose-files.ts";
import type { LooseFile, LooseKind } from "../recovery/folder-looks.ts";

const maxStopFiles = 50;
const maxEvents = 100;
const maxDeliveries = 50;

const eventNames: ReadonlyMap<number, string> = new Map(
  Object.values(recordedEvents).map(({ code, name }) => [code, name]),
);

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

/** Files of the subject in folders of the company that are in no ledger. */
export async function tellLoose(
  deps: ExplainDependencies,
  company: Company,
  { fileName: name, stopNbr }: Subject,
  { known, isSent }: { readonly known: readonly FileStory[]; readonly isSent: boolean },
): Promise<readonly LooseStory[]> {
  const knownPaths = new Set(known.map(({ path }) => path));
  const key = { company: company.code, stopNumbers: stopNbr === undefined ? [] : stopNumberForms(stopNbr) };
  const found = [
    ...(await findLooseFiles(deps, { company: company.code, name })),
    ...(await findLooseFilesOfStop(deps, key)),
  ];
  const isTold = { receipt: known.length > 0, outbound: isSent } as Partial<Record<LooseKind, boolean>>;
  const loose = found.filter(({ path, kind }) => !knownPaths.has(path) && isTold[kind] !== true);
  const isOfUsers = loose.some(({ userId }) => userId !== undefined);
  const users = isOfUsers ? await listUserRecords(deps.store.read) : [];
  const names = new Map(users.map(({ id, userName }) => [id, userName]));
  return await Promise.all(
    loose.map(async (file) => ({
      ...file,
      ...given({ userName: file.userId === undefined ? undefined : names.get(file.userId) }),
      ...(await whatKeepsBack(deps, file)),
    })),
  );
}

/** What keeps back a file that is to be taken from a folder. */
async function whatKeepsBack(
  deps: ExplainDependencies,
  file: LooseFile,
): Promise<Pick<LooseStory, "behind">> {
  const { kind, company, path } = file;
  const name = parseStopFileName(basename(path));
  if ((kind !== "inbound" && kind !== "watched") || name.kind !== "named") return {};
  const behind = await findKeepingBack(deps, { company, stopNbr: name.stopNbr, before: name.nameTime });
  return behind.length === 0 ? {} : { behind };
}

/** A name of a file, and a number of a stop where it may be one. */
export interface Subject {
  readonly fileName: string;
  readonly stopNbr: string | undefined;
}

/** What ends in `.xml` is a file; anything else may be either. A receipt's name stands for its file's. */
export function readSubject(text: string): Subject {
  const name = basename(text.trim());
  const ofReceipt = /^(.+)\.receipt\.xml$/i.exec(name)?.[1];
  if (ofReceipt !== undefined) return { fileName: `${ofReceipt}.xml`, stopNbr: undefined };
  return { fileName: name, stopNbr: /\.xml$/i.test(name) ? undefined : name };
}

/** By its name, or by the GUID that its receiver knows. */
async function outboundOf(
  deps: ExplainDependencies,
  company: Company,
  name: string,
): Promise<readonly OutboundStory[]> {
  const { read } = deps.store;
  const outboundDeps = { read, folderOfTarget: deps.folderOfTarget };
  if (isGuid(name)) {
    const found = await findDelivery(read, name.toLowerCase());
    return found?.company === company.code ? await tellOutbound(outboundDeps, [found]) : [];
  }
  // A manifest is part of what its document's name stands for.
  const key = {
    companyId: company.id,
    company: company.code,
    name: name.replace(/\.manifest\.xml$/, ".xml"),
  };
  const told = await tellOutbound(outboundDeps, await listDeliveriesByName(read, key));
  return told.length > 0 ? told : await tellCompletionAlone(outboundDeps, key);
}

async function elsewhereOf(
  { store: { read }, locations, untaken }: ExplainDependencies,
  company: Company,
  subject: Subject,
): Promise<Pick<CompanyView, "remoteFiles" | "untaken" | "documents">> {
  const { fileName, stopNbr } = subject;
  const path = (sha256: string) => contentPath(locations.documentsDirectory, sha256);
  const isDocument = stopNbr !== undefined && isGuid(fileName);
  return {
    remoteFiles: await tellRemoteFiles(read, company, fileName),
    untaken: tellUntaken(untaken, company.code, subject),
    documents: isDocument ? await tellDocument({ read, contentPath: path }, company, fileName) : [],
  };
}

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
  const outbound = await outboundOf(deps, company, fileName);
  const isSent = outbound.length > 0;
  const elsewhere = await elsewhereOf(deps, company, subject);
  if (stopNbr === undefined) {
    const loose = await tellLoose(deps, company, subject, { known: files, isSent });
    return { files, loose, outbound, ...elsewhere, stops: [], stopFiles: [] };
  }
  const ofStop = await listFiles(read, { companyId: company.id, stopNbr, limit: maxStopFiles });
  const told = await Promise.all(ofStop.toReversed().map(tell));
  const stopFiles = told.map((story) => asFileOfStop(story, stopNbr));
  const loose = await tellLoose(deps, company, subject, { known: [...files, ...stopFiles], isSent });
  const stops = await tellStops(deps, company, stopNbr);
  return { files, loose, outbound, ...elsewhere, stops, stopFiles };
}

/**
 * Explains a file name (also with a folder before it, or the name of its receipt) or a stop number, in one company or in
 * all.
 */
export async function explain(
  deps: ExplainDependencies,
  query: { readonly subject: string; readonly companyId?: number },
): Promise<Explanation> {
  const explanation = await explainAll(deps, query);
  const forgotten = isFileKnown(explanation) ? [] : await listForgotten(deps.store.read, query.companyId);
  return forgotten.length === 0 ? explanation : { ...explanation, forgotten };
}

/** Whether there is an entry of it, or it is something else. */
function isFileKnown({ files, stopFiles, outbound, documents, candidates }: Explanation): boolean {
  return [files, stopFiles, outbound, documents, candidates].some((list) => list.length > 0);
}

async function explainAll(
  deps: ExplainDependencies,
  query: { readonly subject: string; readonly companyId?: number },
): Promise<Explanation> {
  const subject = readSubject(query.subject);
  if (isPattern(subject.fileName)) return await explainPattern(deps, subject, query.companyId);
  const explanation = await explainSubject(deps, subject, query.companyId);
  if (isKnown(explanation)) return explanation;
  const ofDocument = await explainDocumentId(deps, explanation, query.companyId);
  if (ofDocument !== undefined) return ofDocument;
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

/** The only name of that pattern, or what it may mean. */
async function explainPattern(
  deps: ExplainDependencies,
  subject: Subject,
  companyId: number | undefined,
): Promise<Explanation> {
  const { read } = deps.store;
  const key = { name: subject.fileName, ...given({ companyId }) };
  const candidates = await findCandidates(read, await listCompanies(read), key);
  const names = [...new Set(candidates.map(({ name }) => name))];
  const [fileName] = names;
  if (fileName !== undefined && names.length === 1)
    return await explainSubject(deps, { fileName, stopNbr: undefined }, companyId);
  return { ...(await explainSubject(deps, subject, companyId)), candidates };
}

/** The files whose document has that DocumentID; undefined when there are none. */
async function explainDocumentId(
  deps: ExplainDependencies,
  nothing: Explanation,
  companyId: number | undefined,
): Promise<Explanation | undefined> {
  const { read } = deps.store;
  const found = await listFilesByDocumentId(read, { ...given({ companyId }), documentId: nothing.subject });
  if (found.length === 0) return undefined;
  const codes = new Map((await listCompanies(read)).map(({ id, code }) => [id, code]));
  const files: FileStory[] = [];
  for (const entry of found) files.push(await tellFile(deps, codes.get(entry.companyId) ?? "", entry));
  return { ...nothing, files };
}

/** Whether anything is known of what was asked for. */
export function isKnown(view: CompanyView & Partial<Pick<Explanation, "candidates">>): boolean {
  const { files, loose, stops, stopFiles, outbound, remoteFiles, untaken, documents } = view;
  const all = [files, loose, stops, stopFiles, outbound, remoteFiles, untaken, documents];
  return [...all, view.candidates ?? []].some((list) => list.length > 0);
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
    now: deps.now,
    daemonPid: deps.daemonPid,
    ...given({ liveNodes: deps.liveNodes }),
    files: views.flatMap(({ files }) => files),
    loose: views.flatMap(({ loose }) => loose),
    stops: views.flatMap(({ stops }) => stops),
    stopFiles: views.flatMap(({ stopFiles }) => stopFiles),
    outbound: views.flatMap(({ outbound }) => outbound),
    remoteFiles: views.flatMap(({ remoteFiles }) => remoteFiles),
    untaken: views.flatMap(({ untaken }) => untaken),
    moreUntaken: deps.untaken.reduce((sum, { more }) => sum + more, 0),
    documents: views.flatMap(({ documents }) => documents),
    candidates: [],
    ...(isFull ? { fullDisk: space } : {}),
    otherCompanies,
    ...(isFaulty ? { nameFault: name.why } : {}),
  };
}
