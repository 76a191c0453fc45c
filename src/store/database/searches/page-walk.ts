/**
 * Pages of rows that several ways together have, in one order: by place and not by number, so that the thousandth page costs
 * no more than the first. What no index serves is looked for piece by piece, as long as there is time; the page says how
 * far it has come.
 */

/** Some entries of a way beyond a place. */
export interface Seen<Entry, Place> {
  readonly entries: readonly Entry[];
  /** Up to where all were seen; undefined when the way has no more. */
  readonly seenTo: Place | undefined;
}

/** Gives the entries that come next behind a place, in the order of the page; at most so many. */
export type Way<Entry, Place> = (from: Place, limit: number) => Promise<Seen<Entry, Place>>;

export interface WalkAsked<Place> {
  /** What comes behind it is wanted. */
  readonly from: Place;
  readonly limit: number;
  /** Negative when the first place comes first. */
  compare(one: Place, other: Place): number;
  /** Whether there is still time for another piece. */
  hasTime(): boolean;
}

export interface FoundPage<Entry, Place> {
  /** In their order. */
  readonly entries: readonly Entry[];
  /** Set when the time was over before the page was full: up to where was looked. */
  readonly searchedTo: Place | undefined;
}

/** A way, and how far it has been gone. */
interface Walk<Entry, Place> {
  readonly way: Way<Entry, Place>;
  readonly seenTo: Place;
}

/** At least so many of each way at once. */
const smallestPart = 5;

/** The entries of all ways beyond a place, each once, as many as are asked for. */
export async function walkWays<Place, Entry extends Place & { readonly id: number }>(
  ways: readonly Way<Entry, Place>[],
  { from, limit, compare, hasTime }: WalkAsked<Place>,
): Promise<FoundPage<Entry, Place>> {
  const found = new Map<number, Entry>();
  const part = Math.max(smallestPart, Math.ceil((2 * limit) / Math.max(1, ways.length)));
  let walks: readonly Walk<Entry, Place>[] = ways.map((way) => ({ way, seenTo: from }));
  const pageUpTo = (place: Place | undefined) =>
    [...found.values()]
      .filter((entry) => place === undefined || compare(entry, place) <= 0)
      .toSorted(compare)
      .slice(0, limit);
  for (;;) {
    const last = walks.reduce<Walk<Entry, Place> | undefined>(
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

const firstPiece = 500;
const largestPiece = 16_000;
/** A piece that took longer is followed by a smaller one, one that took a third of it by a larger one. */
const longestPieceMs = 30;

/** How many rows are looked through at once where few are wanted: so many that the time is asked for often enough. */
export class PieceSize {
  #size = firstPiece;

  get rows(): number {
    return this.#size;
  }

  /** Has a piece of that size done, and learns from the time that it took. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    const begun = performance.now();
    const result = await work();
    const tookMs = performance.now() - begun;
    if (tookMs > longestPieceMs) this.#size = Math.max(firstPiece, Math.trunc(this.#size / 2));
    else if (tookMs < longestPieceMs / 3) this.#size = Math.min(largestPiece, this.#size * 2);
    return result;
  }
}
