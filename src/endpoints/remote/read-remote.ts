/**
 * One listing of a remote, portion by portion: however long it is, the candidates bound the memory that it takes. It skips
 * files that were taken before and have stayed, and forgets the notes about files that are gone.
 */
import { hash } from "node:crypto";
import { faultOfRemoteName } from "../../domain/files/remote-file-name.ts";
import { isSameRemoteVersion } from "../../domain/files/remote-version.ts";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import type { RemoteKey } from "../../inbound/remotes/remote-memory.ts";
import type { ListedEntry } from "../../remote/remote-session.ts";
import type { CallOutcome, RemoteFile } from "./fetch-messages.ts";
import type { RemoteCandidates } from "./remote-candidates.ts";
import type { RemoteClient } from "./remote-client.ts";
import type { RemoteDeps } from "./remote-deps.ts";
import type { RemoteReports } from "./remote-reports.ts";

/** How many noted names are compared with a listing in one query. */
const pruneAtOnce = 500;

const bits = 2 ** 24;

function placesOf(name: string): readonly [number, number] {
  const digest = hash("md5", name, "buffer");
  return [digest.readUInt32LE(0) % bits, digest.readUInt32LE(4) % bits];
}

/**
 * Remembers which names a listing had, in 2 MiB however many they are: it never says no for a name that was there, and
 * now and then yes for one that was not (with a million names, once in 70).
 */
export class NameFilter {
  readonly #bytes = new Uint8Array(bits / 8);

  add(name: string): void {
    for (const place of placesOf(name)) this.#set(place);
  }

  mayHave(name: string): boolean {
    return placesOf(name).every((place) => ((this.#bytes[place >> 3] ?? 0) & (1 << (place & 7))) !== 0);
  }

  #set(place: number): void {
    this.#bytes[place >> 3] = (this.#bytes[place >> 3] ?? 0) | (1 << (place & 7));
  }
}

export interface ListedRemote {
  readonly key: RemoteKey;
  readonly client: RemoteClient;
  readonly candidates: RemoteCandidates;
  readonly reports: RemoteReports;
}

type ListDeps = Pick<RemoteDeps, "memory" | "limits">;

interface Tally {
  readonly noted: number;
  readonly names: NameFilter | undefined;
  /** How many of these the listing had. */
  found: number;
}

const why = {
  folder: "a folder is not fetched: put the files themselves there, or rename the folder",
  link: "a link is not followed: put the file itself there",
  other: "it is not a regular file",
} as const;

function whyLeftAlone({ name, kind, size }: ListedEntry, maxFileBytes: number): string | undefined {
  const nameFault = faultOfRemoteName(name);
  if (nameFault !== undefined) return nameFault;
  if (kind !== "file") return why[kind];
  if (!Number.isSafeInteger(size) || size < 0) return "the server does not report its size";
  if (size <= maxFileBytes) return undefined;
  return `it has ${size} bytes, more than inbound.maxFileBytes (${maxFileBytes}): send it in parts`;
}

/** Folders are reported only when they are called like a file; unfinished files will be renamed. */
function isPassedOver({ name, kind }: ListedEntry, reports: RemoteReports): boolean {
  if (kind === "folder" && !/^[^.].*\.xml$/i.test(name)) return true;
  if (!isUnfinishedName(name)) return false;
  if (kind === "file") reports.unfinished(name);
  return true;
}

function fileOf(entry: ListedEntry, remote: ListedRemote, maxFileBytes: number): RemoteFile | undefined {
  if (isPassedOver(entry, remote.reports)) return undefined;
  const fault = whyLeftAlone(entry, maxFileBytes);
  if (fault !== undefined) {
    remote.reports.leftAlone(entry.name, fault);
    return undefined;
  }
  const { name, size, modified } = entry;
  return { name, size, modified };
}

async function takePortion(
  { memory, limits }: ListDeps,
  remote: ListedRemote,
  { entries, tally }: { readonly entries: readonly ListedEntry[]; readonly tally: Tally },
): Promise<boolean> {
  const { candidates, reports, key } = remote;
  const { maxFileBytes } = limits();
  for (const { name } of entries) tally.names?.add(name);
  const files = entries.flatMap((entry) => fileOf(entry, remote, maxFileBytes) ?? []);
  const names = files.map(({ name }) => name);
  const records = tally.noted === 0 ? [] : await memory.find(key, names);
  const noted = new Map(records.map((record) => [record.name, record]));
  tally.found += noted.size;
  const nowMs = performance.now();
  for (const file of files) {
    const record = noted.get(file.name);
    const isSeen = record?.state === "seen" && isSameRemoteVersion(record, file);
    if (!isSeen && !reports.isResting(file, nowMs)) candidates.see(file, nowMs);
  }
  return candidates.wantsMore;
}

async function forgetGone({ memory }: ListDeps, key: RemoteKey, names: NameFilter): Promise<void> {
  for (let after = ""; ; ) {
    const page = await memory.namesAfter(key, after, pruneAtOnce);
    await memory.forget(
      key,
      page.filter((name) => !names.mayHave(name)),
    );
    const last = page.at(-1);
    if (last === undefined || page.length < pruneAtOnce) return;
    after = last;
  }
}

/** Lists the remote once, and brings its candidates up to date. Rejects with the signal's reason when aborted. */
export async function listRemote(
  deps: ListDeps,
  remote: ListedRemote,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { key, client, candidates, reports } = remote;
  const noted = await deps.memory.count(key);
  const tally: Tally = { noted, names: noted === 0 ? undefined : new NameFilter(), found: 0 };
  candidates.beginListing(performance.now());
  reports.beginListing();
  const outcome = await client.list((entries) => takePortion(deps, remote, { entries, tally }), signal);
  if (outcome.kind !== "listed" || !outcome.isWhole) return outcome;
  candidates.endListing();
  reports.endListing();
  if (tally.names !== undefined && tally.found < noted) await forgetGone(deps, key, tally.names);
  return outcome;
}
