/**
 * The settle rule of remotes: a file is complete when two listings that lie `settleMs` apart tell the same size and time of
 * it (decisions 6). The times of the server are compared with themselves alone, never with a clock.
 *
 *   first listing ──settleMs──> the same in a later one ──> settled
 *        ^                               │
 *        └──── changed: from here again ─┘
 *
 * Times here are milliseconds of a clock that never jumps. Nothing is kept over a restart: it begins anew.
 */
import { isSameRemoteVersion } from "../../domain/remote-version.ts";
import type { RemoteFile } from "./fetch-messages.ts";

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
  /** Of those that were known before this listing, how many it has not had yet. */
  #awaited = 0;
  #hasLeftOut = false;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#files.size;
  }

  /** Whether this listing had names that found no room. */
  get hasLeftOut(): boolean {
    return this.#hasLeftOut;
  }

  /** Whether the rest of this listing could be of use. */
  get wantsMore(): boolean {
    return this.#awaited > 0 || !this.#hasLeftOut;
  }

  beginListing(nowMs: number): void {
    this.#listing += 1;
    this.#listingBegunMs = nowMs;
    this.#awaited = this.#files.size;
    this.#hasLeftOut = false;
  }

  /** The listing has this file. */
  see(file: RemoteFile, nowMs: number): void {
    const before = this.#files.get(file.name);
    if (before === undefined && this.#files.size >= this.#most) {
      this.#hasLeftOut = true;
      return;
    }
    if (before !== undefined && before.listing < this.#listing) this.#awaited -= 1;
    const isSame = before !== undefined && isSameRemoteVersion(before.file, file);
    const sinceMs = isSame ? before.sinceMs : nowMs;
    this.#files.set(file.name, { file, sinceMs, listing: this.#listing });
  }

  /** The listing was given to its end: what it did not have is gone. */
  endListing(): void {
    for (const [name, { listing }] of this.#files) if (listing < this.#listing) this.#files.delete(name);
  }

  drop(name: string): void {
    this.#files.delete(name);
  }

  /** What the last listing had as one at least `settleMs` before it. */
  settled(settleMs: number): RemoteFile[] {
    const found: RemoteFile[] = [];
    for (const { file, sinceMs, listing } of this.#files.values()) {
      const isSettled = listing === this.#listing && this.#listingBegunMs - sinceMs >= settleMs;
      // Seen for the first time in this very listing, however short the time.
      if (isSettled && sinceMs < this.#listingBegunMs) found.push(file);
    }
    return found;
  }
}
