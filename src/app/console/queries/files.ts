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
import type { ArrivalPlace } from "../../../store/ledger/arrival-place.ts";
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

interface ReadPage extends Omit<FoundFiles, "entries"> {
  /** The newest first. */
  readonly entries: readonly LedgerEntry[];
  /** Where the pages of older and of newer ones go on; undefined where there are none. */
  readonly older: ArrivalPlace | undefined;
  readonly newer: ArrivalPlace | undefined;
  /** Set when the time of a search for newer ones was over. */
  readonly searchedUpTo?: ArrivalPlace;
}

/** A page with the newest first; one that goes back to the begin is the first page. */
async function readPage(
  context: QueryContext,
  selection: PageSelection,
  { before, after, limit, isFurther }: FilesAsked,
): Promise<ReadPage> {
  const { read, ledgerNumbers } = context;
  const asked = { limit: limit + 1, hasTime: hasTimeToSearch(context, { isFurther }) };
  const newer = readPlace(ledgerNumbers, after);
  if (newer !== undefined) {
    const page = await readFilePage(read, selection, { ...asked, direction: "newer", from: newer });
    const entries = page.entries.slice(0, limit).toReversed();
    const isFull = page.entries.length > limit;
    // A search that ran out of time has seen all up to its place, and nothing beyond it.
    const goesOn = isFull ? entries[0] : page.searchedTo;
    if (goesOn !== undefined)
      return {
        ...{ entries, older: entries.at(-1) ?? newer, newer: goesOn, searchedTo: undefined },
        ...given({ searchedUpTo: page.searchedTo }),
      };
  }
  const older = newer === undefined ? readPlace(ledgerNumbers, before) : undefined;
  const page = await readFilePage(read, selection, {
    ...asked,
    direction: "older",
    ...given({ from: older }),
  });
  const entries = page.entries.slice(0, limit);
  const last = page.entries.length > limit ? entries.at(-1) : undefined;
  const isFirst = older === undefined;
  return { ...page, entries, older: page.searchedTo ?? last, newer: isFirst ? undefined : entries[0] };
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
  const { entries, searchedTo, searchedUpTo, older, newer } = await readPage(context, selection, asked);
  const codes = new Map(scope.companies.map(({ id, code }) => [id, code]));
  return {
    files: entries.map((entry) => listedFile(entry, codes.get(entry.companyId) ?? "", ledgerNumbers)),
    before: older === undefined ? null : placeText(ledgerNumbers, older),
    after: newer === undefined ? null : placeText(ledgerNumbers, newer),
    searchedTo: searchedTo?.receivedAt ?? null,
    ...given({ searchedUpTo: searchedUpTo?.receivedAt }),
    count: asked.isCounted ? ((await countFilePage(read, selection)) ?? null) : null,
    channels: await waysOf(
      context,
      scope.companies.filter(({ id }) => companyIds.includes(id)),
    ),
  };
}
