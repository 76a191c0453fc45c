/**
 * Files that stay in a folder although they have settled, or that do not settle:
 *
 *   failed       cannot be read or removed       retried after pauses that grow from one scan to an hour
 *   incomplete   empty, or ends in the middle    checked again after growing pauses; refused when its grace is over
 *   changing     is written to                   checked again until it settles
 *
 * Each is reported once. While one stays it keeps back the later files of its stop, and no others. All of it is in memory:
 * after a restart the first scan finds these files again before any is taken, and the pipeline decides nothing of the
 * company before that (`inbound/recovery/files-of-earlier-run.ts`).
 */
import type { LeftFile, WhyLeft } from "../../domain/files/folder-standing.ts";
import { stopAndTimeOf } from "../../domain/files/stop-file-name.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isSameState, type FileState } from "./candidates.ts";
import { hourMs } from "../../lib/durations.ts";

const longestPauseMs = hourMs;
const longestCheckPauseMs = 60_000;

const permission =
  "give the user of dropgate the right to read the file and to write in its folder (a folder with the sticky bit lets only owners move files)";

const remedies: Readonly<Record<string, string>> = {
  EACCES: permission,
  EPERM: permission,
  EROFS: "mount the file system writable, so that files that were taken can be removed",
  EBUSY: "another program has locked the file; it is taken as soon as the lock ends",
  ETXTBSY: "another program has locked the file; it is taken as soon as the lock ends",
  ENOSPC: "make room on the disk of the state directory",
  EDQUOT: "make room on the disk of the state directory, or raise the quota",
  EIO: "check the disk or the share: reading or writing failed",
  EXDEV:
    "it is larger than inbound.maxFileBytes and on another file system, so it is not copied: remove it, or raise the limit",
};

export function remedyFor(error: unknown): string {
  return remedies[systemCodeOf(error) ?? ""] ?? "see the reason; the file is retried";
}

/** The moment of a report, by a monotonic clock (`nowMs`) and by the wall clock (`now`). */
export interface Moment {
  readonly nowMs: number;
  readonly now: number;
}

interface Staying {
  readonly why: Extract<WhyLeft, { kind: "failed" | "incomplete" | "changing" }>;
  readonly attempts: number;
  /** Not checked before, by the monotonic clock. */
  readonly untilMs: number;
  /** Since when it stays as it is now, by the wall clock. */
  readonly sinceAt: number;
  readonly state: FileState | undefined;
  /** The kinds of reasons (`why`) that have been reported. */
  readonly reported: Set<string>;
  /** It keeps back no file any more. */
  isGivenUp: boolean;
  scan: number;
}

export interface StayingFilesDeps {
  readonly log: Logger;
  /** Keeps back the later files of its stop, by whatever way they come in; returns the call that ends it. */
  readonly keepBack: (name: string) => () => void;
}

export class StayingFiles {
  readonly #deps: StayingFilesDeps;
  readonly #files = new Map<string, Staying>();
  readonly #ofStop = new Map<string, Set<string>>();
  readonly #releases = new Map<string, () => void>();
  /** Files that wait for one of these, each with the one it waits for. */
  readonly #behind = new Map<string, string>();
  #scan = 0;

  constructor(deps: StayingFilesDeps) {
    this.#deps = deps;
  }

  /** Whether the file is not to be checked now. */
  isResting(name: string, nowMs: number): boolean {
    const file = this.#files.get(name);
    if (file === undefined) return false;
    file.scan = this.#scan;
    return nowMs < file.untilMs;
  }

  /** The writer has changed the file: it rests no longer. */
  wake(name: string): void {
    const file = this.#files.get(name);
    if (file?.why.kind === "incomplete") this.#files.set(name, { ...file, untilMs: 0 });
  }

  /** The file could not be taken. */
  failed(name: string, error: unknown, at: Moment & { readonly scanMs: number }): void {
    const before = this.#files.get(name);
    const failedBefore = before?.why.kind === "failed" ? before : undefined;
    const attempts = (failedBefore?.attempts ?? 0) + 1;
    const pauseMs = Math.min(at.scanMs * 2 ** (attempts - 1), longestPauseMs);
    const sinceAt = failedBefore?.sinceAt ?? at.now;
    const systemCode = systemCodeOf(error);
    const told = { reason: messageOf(error), remedy: remedyFor(error) };
    const why = { kind: "failed", systemCode: systemCode ?? "unknown", ...told } as const;
    this.#keep(name, { why, attempts, untilMs: at.nowMs + pauseMs, sinceAt, state: undefined });
    this.#reportOnce(
      name,
      { systemCode, ...told },
      "a file cannot be taken; it stays in the folder and is retried",
    );
  }

  /** Whether a report named the file, so that files of its stop may wait for it. */
  isWaitedFor(name: string): boolean {
    return (this.#files.get(name)?.reported.size ?? 0) > 0;
  }

  /** Since when the file has been incomplete as it is now; undefined when it is not known to be. */
  incompleteSince(name: string, state: FileState): number | undefined {
    const file = this.#files.get(name);
    const isSame = file?.state !== undefined && isSameState(file.state, state);
    return file?.why.kind === "incomplete" && isSame ? file.sinceAt : undefined;
  }

  /**
   * Whether the file is unchanged since it was found incomplete. Compares the ctime too, for a writer that sets the mtime
   * back.
   */
  isUntouched(name: string, state: FileState): boolean {
    const found = this.#files.get(name)?.state;
    return found !== undefined && isSameState(found, state) && found.ctimeMs === state.ctimeMs;
  }

  /** The file is empty or ends in the middle, and its grace is not over. */
  incomplete(
    name: string,
    state: FileState,
    at: Moment & { readonly settleMs: number; readonly graceMs: number },
  ): void {
    const sinceAt = this.incompleteSince(name, state) ?? at.now;
    const attempts = sinceAt === at.now ? 1 : (this.#files.get(name)?.attempts ?? 0) + 1;
    const refusedAt = sinceAt + at.graceMs;
    const leftMs = Math.max(0, refusedAt - at.now);
    const pauseMs = Math.min(at.settleMs * 2 ** attempts, longestCheckPauseMs, leftMs);
    const why = { kind: "incomplete", isEmpty: state.size === 0, refusedAt } as const;
    this.#keep(name, { why, attempts, untilMs: at.nowMs + pauseMs, sinceAt, state });
    const fault = why.isEmpty ? "is empty" : "ends in the middle";
    const remedy = `let its writer finish it, or remove it; when it has not changed for ${Math.round(at.graceMs / 1000)} s (inbound.incompleteGraceMs) it is refused`;
    this.#reportOnce(
      name,
      { size: state.size, remedy },
      `a file ${fault}; it stays where it is, and later files of its stop wait for it`,
    );
  }

  /** The file did not settle: a writer is still at work. */
  changing(name: string, at: Moment): void {
    const why = { kind: "changing" } as const;
    this.#keep(name, { why, attempts: 1, untilMs: 0, sinceAt: at.now, state: undefined });
  }

  /** The file stays no longer: it was taken, or is gone. */
  drop(name: string): void {
    this.#behind.delete(name);
    if (!this.#files.delete(name)) return;
    const place = stopAndTimeOf(name);
    const names = place === undefined ? undefined : this.#ofStop.get(place.stop);
    names?.delete(name);
    if (place !== undefined && names?.size === 0) this.#ofStop.delete(place.stop);
    this.#releases.get(name)?.();
    this.#releases.delete(name);
  }

  /** The file that keeps this one back, if any; reported once. */
  keptBackBy(name: string): string | undefined {
    if (this.#files.size === 0) return undefined;
    const place = stopAndTimeOf(name);
    if (place === undefined) return undefined;
    for (const other of this.#ofStop.get(place.stop) ?? []) {
      const isBefore = (stopAndTimeOf(other)?.time ?? Number.POSITIVE_INFINITY) < place.time;
      if (!isBefore || this.#files.get(other)?.isGivenUp === true) continue;
      if (this.#behind.get(name) !== other)
        this.#deps.log.info({ file: name, before: other }, "a file waits for an earlier one of its stop");
      this.#behind.set(name, other);
      return other;
    }
    this.#behind.delete(name);
    return undefined;
  }

  /**
   * Forgets files not seen since the last call, and releases the files that have waited `giveUpAfterMs` for one that cannot
   * be taken. To be called at the end of each full scan.
   */
  endScan(at: { readonly now: number; readonly giveUpAfterMs: number }): void {
    for (const [name, file] of this.#files) {
      if (file.scan < this.#scan) this.drop(name);
      else if (file.why.kind === "failed" && at.now - file.sinceAt >= at.giveUpAfterMs)
        this.#giveUp(name, file);
    }
    this.#scan += 1;
  }

  /** The files that stay, and those that wait for one of them. */
  list(): readonly LeftFile[] {
    const staying = [...this.#files].map(([name, { sinceAt, why }]) => ({ name, since: sinceAt, why }));
    const behind = [...this.#behind]
      .filter(([name]) => !this.#files.has(name))
      .map(([name, before]) => ({ name, since: undefined, why: { kind: "behind" as const, before } }));
    return [...staying, ...behind];
  }

  /** Keeps nothing back any longer. */
  close(): void {
    for (const release of this.#releases.values()) release();
    this.#releases.clear();
  }

  #giveUp(name: string, file: Staying): void {
    if (file.isGivenUp) return;
    file.isGivenUp = true;
    this.#releases.get(name)?.();
    if (this.#releases.delete(name))
      this.#deps.log.warn({ file: name }, "files of its stop no longer wait for a file that cannot be taken");
  }

  #keep(name: string, file: Omit<Staying, "reported" | "isGivenUp" | "scan">): void {
    const before = this.#files.get(name);
    const { reported = new Set<string>(), isGivenUp = false } = before ?? {};
    this.#files.set(name, { ...file, reported, isGivenUp, scan: this.#scan });
    const place = stopAndTimeOf(name);
    if (place === undefined || isGivenUp) return;
    const names = this.#ofStop.get(place.stop) ?? new Set();
    this.#ofStop.set(place.stop, names.add(name));
    if (!this.#releases.has(name)) this.#releases.set(name, this.#deps.keepBack(name));
  }

  #reportOnce(name: string, fields: Readonly<Record<string, unknown>>, message: string): void {
    const file = this.#files.get(name);
    if (file === undefined || file.reported.has(file.why.kind)) return;
    file.reported.add(file.why.kind);
    this.#deps.log.warn({ file: name, ...fields }, message);
  }
}
