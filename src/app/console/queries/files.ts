/** The page of files: the entries of the ledger that a filter selects, page by page in the order of their arrival. */
import type {
  FilesAsked,
  FilesFilter,
  FilesFound,
  ListedFile,
} from "../../../endpoints/http/console/pages/files/files-view.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import { remoteSettingsOf } from "../../../config/company-settings.ts";
import { openStates } from "../../../domain/files/file-state.ts";
import { prunedTextOf } from "../../../domain/retention/pruned-text.ts";
import { isSameCompanyCode } from "../../../domain/users/company-code.ts";
import { remedyOf } from "../../../inbound/explain/file-words.ts";
import { dayMs } from "../../../lib/durations.ts";
import { reasonCodeOf } from "../../../lib/errors.ts";
import { given } from "../../../lib/given.ts";
import type { SealedNumbers } from "../../../lib/sealed-numbers.ts";
import { listChannels } from "../../../store/ledger/daily-files.ts";
import { countFilePage } from "../../../store/ledger/file-page-counts.ts";
import { type FoundFiles, readFilePage } from "../../../store/ledger/file-pages.ts";
import type { PageSelection } from "../../../store/ledger/file-ways.ts";
import type { LedgerEntry } from "../../../store/ledger/files.ts";
import { codesOfReason } from "../../admin/file-filter.ts";
import type { QueryContext } from "../query-context.ts";
import { hasTimeToSearch, placeText, readPlace } from "./file-places.ts";

const channelDays = 30;

const nothing: FilesFound = {
  ...{ files: [], before: null, after: null, searchedTo: null, channels: [] },
  count: { kind: "exact", count: 0 },
};

function selectionOf(scope: Scope, filter: FilesFilter): PageSelection {
  const { company, state, reason, user: userName, ...rest } = filter;
  const companies = scope.companies.filter(
    ({ code }) => company === undefined || isSameCompanyCode(code, company),
  );
  const decided = state === undefined || state === "pruned" ? undefined : [state];
  return {
    companyIds: companies.map(({ id }) => id),
    ...rest,
    ...given({
      states: state === "waiting" ? openStates : decided,
      isPruned: state === "pruned" ? (true as const) : undefined,
      reasons: reason === undefined ? undefined : codesOfReason(reason),
      userName,
    }),
  };
}

/** An entry as lists show it. */
export function listedFile(entry: LedgerEntry, company: string, numbers: SealedNumbers): ListedFile {
  const { name, state, stopNbr, receivedAt, decidedAt, channel, userName, size, sha256, faults } = entry;
  const [first] = faults;
  const pruned = prunedTextOf(entry) ?? null;
  const isRefusal = state === "refused" || state === "superseded";
  return {
    ...{ reference: numbers.seal(entry.id), company, name, state, stopNbr, receivedAt, decidedAt, channel },
    ...{ user: userName, size, sha256: sha256 === "" ? null : sha256 },
    reason: first
      ? { code: reasonCodeOf(first.code), message: first.message, more: faults.length - 1 }
      : null,
    remedy: (first && remedyOf(first.code)) ?? null,
    canRetry: isRefusal && entry.isFiled && entry.removedAt === null,
    pruned,
  };
}

/** A page with the newest first; one that goes back to the begin is the first page. */
async function readPage(
  context: QueryContext,
  selection: PageSelection,
  { before, after, limit, isFurther }: FilesAsked,
): Promise<FoundFiles & { readonly isFirst: boolean; readonly hasOlder: boolean }> {
  const { read, ledgerNumbers } = context;
  const asked = { limit: limit + 1, hasTime: hasTimeToSearch(context, { isFurther }) };
  const newer = readPlace(ledgerNumbers, after);
  if (newer !== undefined) {
    const page = await readFilePage(read, selection, { ...asked, direction: "newer", from: newer });
    const entries = page.entries.slice(0, limit).toReversed();
    const isFull = page.entries.length > limit;
    if (isFull || page.searchedTo !== undefined) return { ...page, entries, isFirst: false, hasOlder: true };
  }
  const older = newer === undefined ? readPlace(ledgerNumbers, before) : undefined;
  const page = await readFilePage(read, selection, {
    ...asked,
    direction: "older",
    ...given({ from: older }),
  });
  const hasOlder = page.entries.length > limit;
  return { ...page, entries: page.entries.slice(0, limit), isFirst: older === undefined, hasOlder };
}

/** The ways by which files have come lately or are fetched, and those that have parts as a whole, in order. */
async function waysOf(
  { read, now, config }: QueryContext,
  companies: Scope["companies"],
): Promise<readonly string[]> {
  const companyIds = companies.map(({ id }) => id);
  const seen = await listChannels(read, { companyIds, since: now - channelDays * dayMs });
  const remotes = companies.flatMap(({ code }) =>
    [...remoteSettingsOf(config, code).keys()].map((name) => `remote:${name}`),
  );
  const parts = [...seen, ...remotes];
  const wholes = parts.filter((way) => way.includes(":")).map((way) => way.slice(0, way.indexOf(":")));
  return [...new Set([...parts, ...wholes])].toSorted();
}

/** The files of the companies in the scope. */
export async function queryFiles(
  context: QueryContext,
  scope: Scope,
  asked: FilesAsked,
): Promise<FilesFound> {
  const { read, ledgerNumbers } = context;
  const selection = selectionOf(scope, asked.filter);
  const { companyIds } = selection;
  if (companyIds.length === 0) return nothing;
  const { entries, searchedTo, isFirst, hasOlder } = await readPage(context, selection, asked);
  const codes = new Map(scope.companies.map(({ id, code }) => [id, code]));
  const last = searchedTo ?? (hasOlder ? entries.at(-1) : undefined);
  const [first] = entries;
  return {
    files: entries.map((entry) => listedFile(entry, codes.get(entry.companyId) ?? "", ledgerNumbers)),
    before: last === undefined ? null : placeText(ledgerNumbers, last),
    after: isFirst || first === undefined ? null : placeText(ledgerNumbers, first),
    searchedTo: searchedTo?.receivedAt ?? null,
    count: asked.isCounted ? ((await countFilePage(read, selection)) ?? null) : null,
    channels: await waysOf(
      context,
      scope.companies.filter(({ id }) => companyIds.includes(id)),
    ),
  };
}
