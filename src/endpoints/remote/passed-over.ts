/**
 * The entries of a remote that are not fetched as they are: names that say that they are unfinished, and what is left
 * alone. Those of the last whole listing, with those of the one under way; so many that a person can ask for each.
 */
import type { UntakenFile } from "../../inbound/remotes/untaken-files.ts";

const mostKept = 1_000;

export class PassedOver {
  #last = new Map<string, UntakenFile>();
  #now = new Map<string, UntakenFile>();

  beginListing(): void {
    this.#now = new Map();
  }

  note(file: UntakenFile): void {
    if (this.#now.size < mostKept) this.#now.set(file.name, file);
  }

  /** To be called after a whole listing: entries that it did not have are gone. */
  endListing(): void {
    this.#last = this.#now;
    this.#now = new Map();
  }

  get files(): readonly UntakenFile[] {
    return [...new Map([...this.#last, ...this.#now]).values()];
  }
}
