/**
 * The settle rule of remotes: a file is complete when two listings that lie `settleMs` apart show the same size and time
 * (specification/file-exchange.md#remotes). The times of the server are compared with themselves alone, never with a
 * clock.
 *
 *   first listing ──settleMs──> the same in a later one ──> settled
 *        ^                               │
 *        └──── changed: from here again ─┘
 *
 * When there are too many, the names with the latest times go: of one stop the earlier file is to be taken before the later.
 * Times are milliseconds of a monotonic clock. All of it is in memory and begins anew with the process.
 */
import { isSameRemoteVersion } from "../../domain/files/remote-version.ts";
import type { RemoteFile } from "./fetch-messages.ts";
import { timeOfName } from "./order-of-stops.ts";

/** A listing ends early after so many times more names than are kept. */
const mostSeenFactor = 20;

interface Candidate {
  readonly file: RemoteFile;
  readonly sinceMs: number;
  /** The last listing that had it. */
  readonly listing: number;
}

export class RemoteCandidates {
  readonly #files = new Map<string, Candidate>();
  readonly #most: number;
  #listing = 0;
  #listingBegunMs = 0;
  /** How many of the names known before this listing it has not had yet. */
  #awaited = 0;
  #hasLeftOut = false;
  /** How many names this listing has had. */
  #seen = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Whether this listing had names for which there was no room. */
  get hasLeftOut(): boolean {
    return this.#hasLeftOut;
  }

  /** Whether the rest of this listing can be of use. */
  get wantsMore(): boolean {
    return this.#awaited > 0 || !this.#hasLeftOut || this.#seen < this.#most * mostSeenFactor;
  }

  beginListing(nowMs: number): void {
    this.#listing += 1;
    this.#listingBegunMs = nowMs;
    this.#awaited = this.#files.size;
    this.#hasLeftOut = false;
    this.#seen = 0;
  }

  see(file: RemoteFile, nowMs: number): void {
    const before = this.#files.get(file.name);
    this.#seen += 1;
    if (before !== undefined && before.listing < this.#listing) this.#awaited -= 1;
    const isSame = before !== undefined && isSameRemoteVersion(before.file, file);
    const sinceMs = isSame ? before.sinceMs : nowMs;
    this.#files.set(file.name, { file, sinceMs, listing: this.#listing });
    if (this.#files.size >= 2 * this.#most) this.#keepEarliest();
  }

  /** To be called after a whole listing: names that it did not have are gone. */
  endListing(): void {
    for (const [name, { listing }] of this.#files) if (listing < this.#listing) this.#files.delete(name);
    this.#keepEarliest();
  }

  drop(name: string): void {
    this.#files.delete(name);
  }

  /** All files, each with since when it has been the same. */
  *seen(): Generator<{ readonly file: RemoteFile; readonly sinceMs: number }> {
    for (const { file, sinceMs } of this.#files.values()) yield { file, sinceMs };
  }

  /** The files that the last listing had as one at least `settleMs` before it. */
  settled(settleMs: number): RemoteFile[] {
    return this.#those(settleMs, true);
  }

  /** The other files. */
  unsettled(settleMs: number): RemoteFile[] {
    return this.#those(settleMs, false);
  }

  #those(settleMs: number, wanted: boolean): RemoteFile[] {
    // After a listing that was cut short there may be too many.
    this.#keepEarliest();
    const found: RemoteFile[] = [];
    for (const { file, sinceMs, listing } of this.#files.values()) {
      const isLongEnough = listing === this.#listing && this.#listingBegunMs - sinceMs >= settleMs;
      // A file seen for the first time in this listing has not settled, however short `settleMs`.
      if ((isLongEnough && sinceMs < this.#listingBegunMs) === wanted) found.push(file);
    }
    return found;
  }

  #keepEarliest(): void {
    if (this.#files.size <= this.#most) return;
    this.#hasLeftOut = true;
    const times = new Map([...this.#files.keys()].map((name) => [name, timeOfName(name)]));
    const byTime = [...times.keys()].sort((one, other) => {
      const [first = 0, second = 0] = [times.get(one), times.get(other)];
      return first === second ? 0 : first - second;
    });
    for (const name of byTime.slice(this.#most)) {
      const candidate = this.#files.get(name);
      if (candidate !== undefined && candidate.listing < this.#listing) this.#awaited -= 1;
      this.#files.delete(name);
    }
  }
}
