/** Retries of refused and superseded files that an administrator requests. */
import { prunedTextOf } from "../../domain/retention/pruned-text.ts";
import { lstat } from "node:fs/promises";
import { createLocations } from "../../inbound/places/locations.ts";
import { systemClock } from "../../lib/clock.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import { listFileIds } from "../../store/ledger/file-lists.ts";
import { lastFileId } from "../../store/ledger/file-queries.ts";
import { findFile, type LedgerEntry, requestRetry } from "../../store/ledger/files.ts";
import { companyFilter } from "./admin.ts";
import { type AdminStore, type StateConfig, withAdminStore, writeEach } from "./admin-store.ts";
import { type FileFilter, readFilter } from "./file-filter.ts";
import { type FileView, toFileView } from "./file-view.ts";
import {
  byReason,
  inBatches,
  itemsAtOnce,
  pagesOfShown,
  type SelectionMode,
  type SelectionReport,
} from "./in-batches.ts";
import { findEntry, whyNoEntry } from "./ledger-reference.ts";
import { portionsOf } from "../../lib/portions.ts";
import { findRunningDaemons, type RunningDaemons } from "./running-daemons.ts";

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

export interface FileRetries extends RunningDaemons {
  readonly retries: readonly FileRetry[];
}

async function whyUnknown(store: AdminStore, given: string): Promise<string> {
  const why = await whyNoEntry(store, given);
  return why === undefined
    ? "there is no such ledger entry: `dropgate files` lists them"
    : `${why}; have the file sent again`;
}

/** Why a file cannot be tried again; undefined when it can. `path`: where its bytes were filed. */
export async function whyNotRetried(entry: LedgerEntry, path: string): Promise<string | undefined> {
  if (entry.state === "retry") return "a retry is already requested";
  if (entry.state !== "refused" && entry.state !== "superseded")
    return `it is ${entry.state}; only refused and superseded files can be tried again`;
  const pruned = prunedTextOf(entry);
  if (pruned !== undefined) return `its content was ${pruned}: have the file sent again`;
  if (entry.removedAt !== null) return "its content was removed by a user: have the file sent again";
  if (!entry.isFiled) return "it is still being filed away: try again in a moment";
  try {
    await lstat(path);
    return undefined;
  } catch {
    return "its content is not where it was filed (`dropgate file show`): have the file sent again";
  }
}

async function judge(store: AdminStore, given: string, stateDir: string): Promise<FileRetry> {
  const entry = await findEntry(store, given);
  if (entry === undefined) return { given, id: null, name: null, why: await whyUnknown(store, given) };
  const path = createLocations(stateDir).fromLedger(entry.location);
  return { given, id: entry.id, name: entry.name, why: await whyNotRetried(entry, path) };
}

async function request(store: AdminStore, wanted: readonly FileRetry[]): Promise<readonly FileRetry[]> {
  if (wanted.every(({ why }) => why !== undefined)) return wanted;
  const now = systemClock.now();
  return await writeEach(store, wanted, async (tx, one) => {
    const { id, why } = one;
    const isRequested = why === undefined && id !== null && (await requestRetry(tx, { id, now }));
    return isRequested ? one : { ...one, why: why ?? "it changed meanwhile: check it again" };
  });
}

interface Mode {
  readonly isDryRun: boolean;
}

async function retrySome(
  store: AdminStore,
  stateDir: string,
  { given, isDryRun }: Mode & { readonly given: readonly string[] },
): Promise<readonly FileRetry[]> {
  const judged: FileRetry[] = [];
  for (const one of given) judged.push(await judge(store, one, stateDir));
  return isDryRun ? judged : await request(store, judged);
}

/** Requests retries by numbers or references; a running daemon takes them up within a second. */
export async function retryFiles(
  config: StateConfig,
  entries: readonly string[],
  { isDryRun }: Mode,
): Promise<FileRetries> {
  const { stateDir } = config;
  return await withAdminStore(config, async (store) => {
    const retries: FileRetry[] = [];
    for (const given of portionsOf([...new Set(entries)], itemsAtOnce))
      retries.push(...(await retrySome(store, stateDir, { given, isDryRun })));
    return { retries, ...(await findRunningDaemons(config, store)) };
  });
}

async function viewsOf(
  store: AdminStore,
  stateDir: string,
  ids: readonly number[],
): Promise<readonly FileView[]> {
  const codes = new Map((await listCompanies(store.read)).map(({ id, code }) => [id, code]));
  const views: FileView[] = [];
  for (const id of ids) {
    const entry = await findFile(store.read, id);
    if (entry !== undefined) views.push(toFileView(entry, codes.get(entry.companyId) ?? "", stateDir));
  }
  return views;
}

/**
 * Requests retries of all refused and superseded files that the filter selects, the oldest first; with `isDryRun` it only
 * finds out which they would be. Each file is asked for once: one that was refused again meanwhile is not asked for twice.
 */
export async function retrySelectedFiles(
  config: StateConfig,
  filter: FileFilter,
  { isDryRun, shown, limit }: SelectionMode & { readonly limit: number },
): Promise<SelectionReport<FileView>> {
  const read = readFilter(filter);
  const states = read.states ?? (["refused", "superseded"] as const);
  const { stateDir } = config;
  return await withAdminStore(config, async (store) => {
    const selection = { ...read, states, ...(await companyFilter(store, filter.company)) };
    const upToId = await lastFileId(store.read);
    const retries: FileRetry[] = [];
    await inBatches(
      pagesOfShown(shown, (afterId) =>
        listFileIds(store.read, selection, { afterId, upToId, limit: itemsAtOnce }),
      ),
      async (ids) => {
        retries.push(...(await retrySome(store, stateDir, { given: ids.map(String), isDryRun })));
      },
      { rests: !isDryRun },
    );
    const ids = retries.flatMap(({ id, why }) => (why === undefined && id !== null ? [id] : []));
    const refused = retries.flatMap(({ id, why }) => (why === undefined || id === null ? [] : [{ id, why }]));
    const [last] = await viewsOf(store, stateDir, ids.slice(-1));
    return {
      ids,
      items: await viewsOf(store, stateDir, ids.slice(0, limit)),
      last: last ?? null,
      notDone: byReason(refused),
      ...(await findRunningDaemons(config, store)),
    };
  });
}
