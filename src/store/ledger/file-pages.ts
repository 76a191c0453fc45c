/**
 * Pages of the ledger in the order of arrival, for the console: by place and not by number, so that the thousandth page costs
 * no more than the first. What no index serves is looked for piece by piece, as long as there is time; the page says how far
 * it has come.
 */
import type { Reader } from "../database/database.ts";
import { type ArrivalPlace, beginOf, comparePlaces, type Direction } from "./arrival-place.ts";
import { findPrunedBefore } from "./file-retention.ts";
import { type PageSelection, type Way, waysTo } from "./file-ways.ts";
import type { LedgerEntry } from "./files.ts";

export interface PageAsked {
  readonly direction: Direction;
  /** Only what comes after this place on the way. */
  readonly from?: ArrivalPlace;
  readonly limit: number;
  /** Whether there is still time for another piece. */
  hasTime(): boolean;
}

export interface FoundPage {
  /** In the order of the way. */
  readonly entries: readonly LedgerEntry[];
  /** Set when the time was over before the page was full: up to where was looked. */
  readonly searchedTo: ArrivalPlace | undefined;
}

/** A way, and how far it has been gone. */
interface Walk {
  readonly way: Way;
  readonly seenTo: ArrivalPlace;
}

/** At least so many of each way at once. */
const smallestPart = 5;

/** Decisions come after the arrivals: what arrived later than the last decision whose bytes went has all of its bytes. */
async function narrowed(read: Reader, selection: PageSelection): Promise<PageSelection> {
  if (selection.isPruned === undefined) return selection;
  const end = await findPrunedBefore(read, selection.companyIds);
  return { ...selection, until: Math.min(end, selection.until ?? end) };
}

/** The entries of the selection beyond a place, as many as are asked for. */
export async function readFilePage(
  read: Reader,
  wanted: PageSelection,
  { direction, from = beginOf[direction], limit, hasTime }: PageAsked,
): Promise<FoundPage> {
  const selection = await narrowed(read, wanted);
  const compare = (one: ArrivalPlace, other: ArrivalPlace) => comparePlaces(direction, one, other);
  const found = new Map<number, LedgerEntry>();
  const ways = await waysTo({ read, selection, direction });
  const part = Math.max(smallestPart, Math.ceil((2 * limit) / Math.max(1, ways.length)));
  let walks: readonly Walk[] = ways.map((way) => ({ way, seenTo: from }));
  const pageUpTo = (place: ArrivalPlace | undefined) =>
    [...found.values()]
      .filter((entry) => place === undefined || compare(entry, place) <= 0)
      .toSorted(compare)
      .slice(0, limit);
  for (;;) {
    const last = walks.reduce<Walk | undefined>(
      (least, walk) => (least === undefined || compare(walk.seenTo, least.seenTo) < 0 ? walk : least),
      undefined,
    );
    if (last === undefined) return { entries: pageUpTo(undefined), searchedTo: undefined };
    const isBegun = last.seenTo !== from;
    if (isBegun && found.size >= limit) {
      const entries = pageUpTo(last.seenTo);
      if (entries.length === limit) return { entries, searchedTo: undefined };
    }
    if (isBegun && !hasTime()) return { entries: pageUpTo(last.seenTo), searchedTo: last.seenTo };
    const { entries, seenTo } = await last.way(last.seenTo, part);
    for (const entry of entries) found.set(entry.id, entry);
    const others = walks.filter((walk) => walk !== last);
    walks = seenTo === undefined ? others : [...others, { way: last.way, seenTo }];
  }
}
