/** What is known of a name besides files, stops and deliveries: documents, files of remotes, and what a pattern may mean. */
import { lstat } from "node:fs/promises";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { stopNumberForms } from "../../domain/files/stop-number-in-name.ts";
import { isMissing } from "../../lib/errors.ts";
import type { Company } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";
import { listFiles } from "../../store/ledger/file-lists.ts";
import { findNotesOfName, type RemoteNote } from "../../store/ledger/remote-files.ts";
import { listDeliveries } from "../../store/outbound/delivery-lists.ts";
import { findDocument, type StoredDocument } from "../../store/stops/documents.ts";
import { isUnfinishedFormOf } from "../recovery/find-loose-files.ts";
import type { UntakenFile, UntakenOfRemote } from "../remotes/untaken-files.ts";

export interface RemoteFileStory extends RemoteNote {
  readonly company: string;
}

/** A file that lies on a remote and is not taken. */
export interface UntakenStory extends UntakenFile {
  readonly company: string;
  readonly remote: string;
  /** Milliseconds UTC. */
  readonly nextPollAt: number;
}

export interface DocumentStory extends StoredDocument {
  readonly company: string;
  /** Of its content. */
  readonly path: string;
  readonly presence: "there" | "absent";
}

export interface Candidate {
  readonly name: string;
  readonly company: string;
  /** As in `file, applied (entry 7)`. */
  readonly what: string;
  readonly at: number;
}

const guidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isGuid(text: string): boolean {
  return guidForm.test(text);
}

export function isPattern(text: string): boolean {
  return /[*?]/.test(text);
}

/** Notes of files that were taken from remotes under that name. */
export async function tellRemoteFiles(
  read: Reader,
  { id, code }: Company,
  name: string,
): Promise<readonly RemoteFileStory[]> {
  const notes = await findNotesOfName(read, { companyId: id, name });
  return notes.map((note) => ({ ...note, company: code }));
}

/**
 * The files of a company's remotes that are not taken and have that name, an unfinished form of it, or the number of the
 * stop in theirs.
 */
export function tellUntaken(
  remotes: readonly UntakenOfRemote[],
  company: string,
  { fileName, stopNbr }: { readonly fileName: string; readonly stopNbr: string | undefined },
): readonly UntakenStory[] {
  const numbers = stopNbr === undefined ? [] : stopNumberForms(stopNbr);
  const isOfStop = (name: string) => {
    const parsed = numbers.length === 0 ? undefined : parseStopFileName(name);
    return parsed?.kind === "named" && numbers.includes(parsed.stopNbr);
  };
  const isMeant = ({ name, why }: UntakenFile) =>
    name === fileName || (why.kind === "unfinished" && isUnfinishedFormOf(name, fileName)) || isOfStop(name);
  return remotes
    .filter((one) => one.company === company)
    .flatMap(({ remote, nextPollAt, files }) =>
      files.filter(isMeant).map((file) => ({ ...file, company, remote, nextPollAt })),
    );
}

export async function tellDocument(
  deps: { readonly read: Reader; readonly contentPath: (sha256: string) => string },
  { id, code }: Company,
  guid: string,
): Promise<readonly DocumentStory[]> {
  const found = await findDocument(deps.read, id, guid.toLowerCase());
  if (found === undefined) return [];
  const path = deps.contentPath(found.sha256);
  const stats = await lstat(path).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  return [{ ...found, company: code, path, presence: stats === undefined ? "absent" : "there" }];
}

const maxCandidates = 20;

/** The newest files and deliveries whose names are of the pattern. */
export async function findCandidates(
  read: Reader,
  companies: readonly Company[],
  { name, companyId }: { readonly name: string; readonly companyId?: number },
): Promise<readonly Candidate[]> {
  const owner = companyId === undefined ? {} : { companyId };
  const codes = new Map(companies.map(({ id, code }) => [id, code]));
  const files = await listFiles(read, { ...owner, name, limit: maxCandidates });
  const deliveries = await listDeliveries(read, { ...owner, name, limit: maxCandidates });
  const all = [
    ...files.map((one) => ({
      ...{ name: one.name, company: codes.get(one.companyId) ?? "", at: one.receivedAt },
      what: `file, ${one.state} (entry ${one.id})`,
    })),
    ...deliveries.map((one) => ({
      ...{ name: one.name, company: one.company, at: one.createdAt },
      what: `to ${one.target}, ${one.state} (delivery ${one.id})`,
    })),
  ];
  return all.toSorted((one, other) => other.at - one.at).slice(0, maxCandidates);
}
