/** What is told of single files of a remote: once each, as long as they stay. */
import type { RemoteVersion } from "../../domain/files/remote-version.ts";
import { isSameRemoteVersion } from "../../domain/files/remote-version.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { RemoteFile } from "./fetch-messages.ts";

/** Enough for every folder that is not abused; what is beyond is not told by its name, and tried in each round. */
const maxKept = 20_000;
/** A log is to be read. */
const toldInRound = 20;
const firstPauseMs = 60_000;
const longestPauseMs = 3_600_000;
/** Two where something has to settle. */
const listingsOfRound = 2;

interface Told {
  readonly why: string;
  listing: number;
}

/**
 * Why a file was not fetched. `changed` and `link` (the server hung, or the connection broke, in the middle of it) say
 * nothing of the file when they come once.
 */
export type FetchFailure = "changed" | "link" | "refused";

interface Held {
  readonly version: RemoteVersion;
  readonly cause: FetchFailure;
  readonly attempts: number;
  readonly untilMs: number;
  /** When it failed for the first time, as it is now. */
  readonly sinceMs: number;
  listing: number;
}

function forgetBefore(map: Map<string, { readonly listing: number }>, listing: number): void {
  for (const [name, kept] of map) if (kept.listing < listing) map.delete(name);
}

export class RemoteReports {
  readonly #log: Logger;
  readonly #told = new Map<string, Told>();
  readonly #held = new Map<string, Held>();
  #listing = 0;
  #toldNow = 0;
  #untold = 0;
  #isUntoldTold = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  beginListing(): void {
    this.#listing += 1;
    this.#toldNow = 0;
    this.#untold = 0;
  }

  /** What a listing that was given to its end did not have is forgotten, to be told again when it comes again. */
  endListing(): void {
    forgetBefore(this.#told, this.#listing);
    forgetBefore(this.#held, this.#listing);
    if (this.#untold > 0 && !this.#isUntoldTold)
      this.#log.warn({ entries: this.#untold }, "further entries of a remote are left alone");
    this.#isUntoldTold = this.#untold > 0;
  }

  /** An entry of the listing that is not fetched, and why. */
  leftAlone(name: string, why: string): void {
    const told = this.#told.get(name);
    if (told?.why === why) {
      told.listing = this.#listing;
      return;
    }
    if (this.#told.size >= maxKept || this.#toldNow >= toldInRound) {
      this.#untold += 1;
      return;
    }
    this.#toldNow += 1;
    this.#told.set(name, { why, listing: this.#listing });
    this.#log.warn({ file: name.slice(0, 300), reason: why }, "an entry of a remote is left alone");
  }

  /** Whether the file failed so lately that it is left for now. Times are of a clock that never jumps. */
  isResting(file: RemoteFile, nowMs: number): boolean {
    const held = this.#held.get(file.name);
    if (held !== undefined) held.listing = this.#listing;
    return held !== undefined && nowMs < held.untilMs && isSameRemoteVersion(held.version, file);
  }

  /** Files that could not be fetched, but for those that have been tried for `giveUpAfterMs`. */
  failing(nowMs: number, giveUpAfterMs: number): string[] {
    return [...this.#held].filter(([, { sinceMs }]) => nowMs - sinceMs < giveUpAfterMs).map(([name]) => name);
  }

  /** A file stays there because it waits for an earlier one of its stop. */
  keptBack(name: string, before: string): void {
    const why = `behind ${before}`;
    const told = this.#told.get(name);
    // Said after a listing, and again after those of the next round.
    this.#told.set(name, { why, listing: this.#listing + listingsOfRound });
    if (told?.why !== why)
      this.#log.info({ file: name, before }, "a file waits for an earlier one of its stop");
  }

  /** Somebody has seen to the server: what rests is tried in the next round. */
  endRests(): void {
    this.#held.clear();
  }

  /** Whether there are files at which the link has broken again and again. */
  get hasLinkBreakers(): boolean {
    return [...this.#held.values()].some(({ cause, attempts }) => cause === "link" && attempts > 1);
  }

  /** The file could not be fetched. */
  failed(
    file: RemoteFile,
    why: string,
    { cause, nowMs }: { readonly cause: FetchFailure; readonly nowMs: number },
  ): void {
    const before = this.#held.get(file.name);
    const isSame = before !== undefined && isSameRemoteVersion(before.version, file);
    const attempts = isSame ? before.attempts + 1 : 1;
    const mayPass = cause !== "refused";
    const isTold = attempts === (mayPass ? 2 : 1);
    const pauseMs =
      mayPass && attempts === 1 ? 0 : Math.min(firstPauseMs * 2 ** (attempts - 1), longestPauseMs);
    if (before === undefined && this.#held.size >= maxKept) return;
    const untilMs = nowMs + pauseMs;
    const sinceMs = isSame ? before.sinceMs : nowMs;
    this.#held.set(file.name, { version: file, cause, attempts, untilMs, sinceMs, listing: this.#listing });
    if (!isTold || this.#toldNow >= toldInRound) return;
    this.#toldNow += 1;
    this.#log.warn(
      { file: file.name, reason: why },
      "a file of a remote cannot be fetched; it stays there and is tried again",
    );
  }

  fetched(name: string): void {
    this.#held.delete(name);
    this.#told.delete(name);
  }
}
