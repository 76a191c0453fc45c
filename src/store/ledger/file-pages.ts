/** Pages of the ledger in the order of arrival, for the console. */
import type { Reader } from "../database/database.ts";
import { type ArrivalPlace, beginOf, comparePlaces, type Direction } from "./arrival-place.ts";
import { type FoundPage, walkWays } from "../database/searches/page-walk.ts";
import { findPrunedBefore } from "./file-retention.ts";
import { type PageSelection, waysTo } from "./file-ways.ts";
import type { LedgerEntry } from "./files.ts";

export interface PageAsked {
  readonly direction: Direction;
  /** Only what comes after this place on the way. */
  readonly from?: ArrivalPlace;
  readonly limit: number;
  /** Whether there is still time for another piece. */
  hasTime(): boolean;
}

/** In the order of the way. */
export type FoundFiles = FoundPage<LedgerEntry, ArrivalPlace>;

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
): Promise<FoundFiles> {
  const selection = await narrowed(read, wanted);
  const compare = (one: ArrivalPlace, other: ArrivalPlace) => comparePlaces(direction, one, other);
  const ways = await waysTo({ read, selection, direction });
  return await walkWays(ways, { from, limit, compare, hasTime });
}
