/** Refusals of this run: those that came since the last tick, and those that viewers who come back have missed. */
import { RefusalRing } from "./refusal-ring.ts";
import { type LiveSource, type Refusal, refusalKeyOf, refusalKeyText } from "./standing.ts";

/** More than that is read faster as a whole page. */
const mostReplayed = 50;
/** More of one kind are one line of a page. */
const mostOfKind = 4;

/** Whether a page has some of them as one line. */
function areMany(refusals: readonly Refusal[]): boolean {
  const kinds = Map.groupBy(refusals, (refusal) => refusalKeyText(refusalKeyOf(refusal)));
  return [...kinds.values()].some((ofKind) => ofKind.length > mostOfKind);
}

export class RefusalNews {
  readonly #ring = new RefusalRing();
  readonly #stopListening: () => void;
  #news: Refusal[] = [];

  constructor(source: Pick<LiveSource, "onRefusal">, isWatched: () => boolean) {
    this.#stopListening = source.onRefusal((refusal) => {
      this.#ring.add(refusal);
      if (isWatched()) this.#news.push(refusal);
    });
  }

  /** The place behind which a page that is made now goes on. */
  newestOf(companyIds: ReadonlySet<number>): string {
    return this.#ring.newestOf(companyIds);
  }

  /** Those behind the place, oldest first; undefined when they are not known any more, or too many. */
  missedSince(place: string, companyIds: ReadonlySet<number>): readonly Refusal[] | undefined {
    const missed = this.#ring.after(place, companyIds);
    const isReplayed = missed !== undefined && missed.length <= mostReplayed && !areMany(missed);
    return isReplayed ? missed : undefined;
  }

  /** Those that came since the last call. */
  take(): readonly Refusal[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  stop(): void {
    this.#stopListening();
  }
}
