/** Refusals of this run: those that came since the last tick, and those that viewers who come back have missed. */
import { RefusalRing } from "./refusal-ring.ts";
import type { LiveSource, Refusal } from "./standing.ts";

/** More than that is read faster as a whole page. */
const mostReplayed = 50;

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
    return missed === undefined || missed.length > mostReplayed ? undefined : missed;
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
