/** What a session has open, so that its end ends it. */
import { type ExchangeEntry, exchangeErrorOf } from "./exchange-session.ts";

export type Pages = AsyncGenerator<readonly ExchangeEntry[]>;

/** An upload or a download. */
interface Handle {
  abandon(): Promise<void>;
  /** `listener` is called once nothing is left to end. */
  onEnded(listener: () => void): void;
}

export class OpenHandles {
  readonly #handles = new Set<Handle>();
  readonly #listings = new Set<Pages>();
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Keeps a handle until it is closed; one that comes after the end is ended at once. */
  async keep<T extends Handle>(handle: T): Promise<T> {
    this.#handles.add(handle);
    handle.onEnded(() => this.#handles.delete(handle));
    if (this.#hasEnded) await handle.abandon();
    return handle;
  }

  /**
   * Keeps a listing until it is read or left, and translates what the disk throws. No generator: the end of one that was
   * never begun would not be noticed.
   */
  keepListing(pages: Pages): AsyncIterableIterator<readonly ExchangeEntry[]> {
    this.#listings.add(pages);
    const over = <T>(outcome: T): T => {
      this.#listings.delete(pages);
      return outcome;
    };
    const iterator: AsyncIterableIterator<readonly ExchangeEntry[]> = {
      async next() {
        try {
          const page = await pages.next();
          return page.done === true ? over(page) : page;
        } catch (error) {
          throw over(exchangeErrorOf(error));
        }
      },
      return: async () => over(await pages.return(undefined)),
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    const ends = [...this.#handles].map((handle) => handle.abandon());
    const returns = [...this.#listings].map((pages) => pages.return(undefined));
    await Promise.allSettled([...ends, ...returns]);
  }
}
