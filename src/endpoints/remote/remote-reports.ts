/** Reports about single files of a remote: one for each while it stays; and why a file is not taken, for people. */
import { isSameRemoteVersion, type RemoteVersion } from "../../domain/files/remote-version.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { UntakenFile, WhyUntaken } from "../../inbound/remotes/untaken-files.ts";
import type { RemoteFile } from "./fetch-messages.ts";
import { hourMs } from "../../lib/durations.ts";
import { PassedOver } from "./passed-over.ts";

/** Enough for every folder that is not abused; beyond it files get no report of their own, and no rest. */
const maxKept = 20_000;
/** A log has to stay readable. */
const reportsInRound = 20;
const firstPauseMs = 60_000;
const longestPauseMs = hourMs;
/** A round has two listings when files have to settle. */
const listingsOfRound = 2;

interface Reported {
  readonly why: string;
  /** The earlier file of its stop that it waits for. */
  readonly before?: string;
  listing: number;
}

/**
 * Why a file was not fetched. `changed` and `link` (the server hung, or the connection broke, in the middle of it) say
 * nothing of the file when they come once.
 */
export type FetchFailure = "changed" | "link" | "refused";

interface Held {
  readonly version: RemoteVersion;
  readonly message: string;
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
  readonly #reported = new Map<string, Reported>();
  readonly #held = new Map<string, Held>();
  readonly #passedOver = new PassedOver();
  #listing = 0;
  #reportedNow = 0;
  #omitted = 0;
  #isOmissionReported = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  beginListing(): void {
    this.#listing += 1;
    this.#reportedNow = 0;
    this.#omitted = 0;
    this.#passedOver.beginListing();
  }

  /** To be called after a whole listing: forgets files that it did not have, to report them anew when they come again. */
  endListing(): void {
    forgetBefore(this.#reported, this.#listing);
    forgetBefore(this.#held, this.#listing);
    this.#passedOver.endListing();
    if (this.#omitted > 0 && !this.#isOmissionReported)
      this.#log.warn({ entries: this.#omitted }, "further entries of a remote are left alone");
    this.#isOmissionReported = this.#omitted > 0;
  }

  /** Reports an entry of the listing that is not fetched, and why. */
  leftAlone(name: string, why: string): void {
    this.#passedOver.note({ name, why: { kind: "leftAlone", message: why } });
    const reported = this.#reported.get(name);
    if (reported?.why === why) {
      reported.listing = this.#listing;
      return;
    }
    if (this.#reported.size >= maxKept || this.#reportedNow >= reportsInRound) {
      this.#omitted += 1;
      return;
    }
    this.#reportedNow += 1;
    this.#reported.set(name, { why, listing: this.#listing });
    this.#log.warn({ file: name.slice(0, 300), reason: why }, "an entry of a remote is left alone");
  }

  /** Notes an entry whose name says that it is unfinished: it is not reported, because it will be renamed. */
  unfinished(name: string): void {
    this.#passedOver.note({ name, why: { kind: "unfinished" } });
  }

  /** Whether the file failed so lately that it rests. Times are of a monotonic clock. */
  isResting(file: RemoteFile, nowMs: number): boolean {
    const held = this.#held.get(file.name);
    if (held !== undefined) held.listing = this.#listing;
    return held !== undefined && nowMs < held.untilMs && isSameRemoteVersion(held.version, file);
  }

  /** Files that cannot be fetched, but for those tried for `giveUpAfterMs` already. */
  failing(nowMs: number, giveUpAfterMs: number): string[] {
    return [...this.#held].filter(([, { sinceMs }]) => nowMs - sinceMs < giveUpAfterMs).map(([name]) => name);
  }

  /** Reports a file that waits for an earlier one of its stop. */
  keptBack(name: string, before: string): void {
    const why = `behind ${before}`;
    const reported = this.#reported.get(name);
    // Known until after the listings of the next round, which reports it again.
    this.#reported.set(name, { why, before, listing: this.#listing + listingsOfRound });
    if (reported?.why !== why)
      this.#log.info({ file: name, before }, "a file waits for an earlier one of its stop");
  }

  /** Somebody has repaired the server: the next round tries the files that rest. */
  endRests(): void {
    this.#held.clear();
  }

  /** Whether the link breaks at some file again and again. */
  get hasLinkBreakers(): boolean {
    return [...this.#held.values()].some(({ cause, attempts }) => cause === "link" && attempts > 1);
  }

  failed(
    file: RemoteFile,
    why: string,
    { cause, nowMs }: { readonly cause: FetchFailure; readonly nowMs: number },
  ): void {
    const before = this.#held.get(file.name);
    const isSame = before !== undefined && isSameRemoteVersion(before.version, file);
    const attempts = isSame ? before.attempts + 1 : 1;
    const mayPass = cause !== "refused";
    const isReported = attempts === (mayPass ? 2 : 1);
    const pauseMs =
      mayPass && attempts === 1 ? 0 : Math.min(firstPauseMs * 2 ** (attempts - 1), longestPauseMs);
    if (before === undefined && this.#held.size >= maxKept) return;
    const untilMs = nowMs + pauseMs;
    const sinceMs = isSame ? before.sinceMs : nowMs;
    const now = { cause, attempts, untilMs, sinceMs, listing: this.#listing };
    this.#held.set(file.name, { version: file, message: why, ...now });
    if (!isReported || this.#reportedNow >= reportsInRound) return;
    this.#reportedNow += 1;
    this.#log.warn(
      { file: file.name, reason: why },
      "a file of a remote cannot be fetched; it stays there and is retried",
    );
  }

  fetched(name: string): void {
    this.#held.delete(name);
    this.#reported.delete(name);
  }

  /** Why a file that is seen there has not been taken; undefined when it only has to settle. `atOf`: UTC of a monotonic time. */
  whyNotTaken(name: string, atOf: (ms: number) => number): WhyUntaken | undefined {
    const before = this.#reported.get(name)?.before;
    if (before !== undefined) return { kind: "behind", before };
    const held = this.#held.get(name);
    if (held === undefined) return undefined;
    const { message, attempts, untilMs } = held;
    return { kind: "failed", message, attempts, triedAgainAt: atOf(untilMs) };
  }

  /** What rests, and what is not fetched as it is. */
  untaken(atOf: (ms: number) => number): readonly UntakenFile[] {
    const resting = [...this.#held].flatMap(
      ([
        name,
        {
          version: { size },
        },
      ]) => {
        const why = this.whyNotTaken(name, atOf);
        return why === undefined ? [] : [{ name, size, why }];
      },
    );
    return [...resting, ...this.#passedOver.files];
  }
}
