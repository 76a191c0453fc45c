/** Retries of refused and superseded files that an administrator requests. */
import { lstat } from "node:fs/promises";
import { createLocations } from "../../inbound/places/locations.ts";
import { systemClock } from "../../lib/clock.ts";
import { listFiles } from "../../store/ledger/file-queries.ts";
import { type LedgerEntry, requestRetry } from "../../store/ledger/files.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import { companyFilter } from "./admin.ts";
import { type AdminStore, type StateConfig, withAdminStore, writeEach } from "./admin-store.ts";
import { type FileFilter, readFilter } from "./file-filter.ts";
import { findEntry } from "./ledger-reference.ts";

/** The result for one requested file. */
export interface FileRetry {
  /** The number or reference that was asked for. */
  readonly given: string;
  /** Null when there is no such entry. */
  readonly id: number | null;
  readonly name: string | null;
  /** Undefined when it will be retried. */
  readonly why: string | undefined;
}

export interface FileRetries {
  readonly retries: readonly FileRetry[];
  readonly daemonPid: number | undefined;
}

async function whyNotRetried(entry: LedgerEntry | undefined, path: string): Promise<string | undefined> {
  if (entry === undefined) return "there is no such ledger entry: `dropgate files` lists them";
  if (entry.state === "retry") return "a retry is already requested";
  if (entry.state !== "refused" && entry.state !== "superseded")
    return `it is ${entry.state}; only refused and superseded files can be tried again`;
  if (entry.removedAt !== null) return "its bytes were removed by a user: have the file sent again";
  if (!entry.isFiled) return "it is still being filed away: try again in a moment";
  try {
    await lstat(path);
    return undefined;
  } catch {
    return `its bytes are not at ${path}: have the file sent again`;
  }
}

async function judge(store: AdminStore, given: string, stateDir: string): Promise<FileRetry> {
  const entry = await findEntry(store, given);
  const path = createLocations(stateDir).fromLedger(entry?.location ?? "");
  return { given, id: entry?.id ?? null, name: entry?.name ?? null, why: await whyNotRetried(entry, path) };
}

async function request(store: AdminStore, wanted: readonly FileRetry[]): Promise<readonly FileRetry[]> {
  const now = systemClock.now();
  return await writeEach(store, wanted, async (tx, one) => {
    const { id, why } = one;
    const isRequested = why === undefined && id !== null && (await requestRetry(tx, { id, now }));
    return isRequested ? one : { ...one, why: why ?? "it changed meanwhile: check it again" };
  });
}

const retriesAtOnce = 500;

/** Requests retries by numbers or references; a running daemon takes them up within a second. */
export async function retryFiles(
  config: StateConfig,
  entries: readonly string[],
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<FileRetries> {
  const { stateDir } = config;
  return await withAdminStore(config, async (store) => {
    const wanted = [...new Set(entries)];
    const retries: FileRetry[] = [];
    for (let from = 0; from < wanted.length; from += retriesAtOnce) {
      const some: FileRetry[] = [];
      for (const given of wanted.slice(from, from + retriesAtOnce))
        some.push(await judge(store, given, stateDir));
      retries.push(...(isDryRun ? some : await request(store, some)));
    }
    return { retries, daemonPid: findProcessLockHolder(stateDir) };
  });
}

const selectedAtMost = 1_000_000;

/** The numbers of refused and superseded files that match the filter and can be retried. */
export async function selectRetries(config: StateConfig, filter: FileFilter): Promise<readonly number[]> {
  const read = readFilter(filter);
  const states = read.states ?? (["refused", "superseded"] as const);
  return await withAdminStore(config, async (store) => {
    const owner = await companyFilter(store, filter.company);
    const entries = await listFiles(store.read, { ...read, states, ...owner, limit: selectedAtMost });
    const retriable = entries.filter(({ state }) => state === "refused" || state === "superseded");
    return retriable
      .filter(({ isFiled, removedAt }) => isFiled && removedAt === null)
      .map(({ id }) => id)
      .toReversed();
  });
}
