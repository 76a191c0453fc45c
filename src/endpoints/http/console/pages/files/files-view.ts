/** What the page of files asks and gets. */
import type { FileState } from "../../../../../domain/files/file-state.ts";

/** States by which the page filters: `waiting` has those that are to be tried again too. */
export const askedStates = ["waiting", "applied", "refused", "superseded", "duplicate", "pruned"] as const;

export type AskedState = (typeof askedStates)[number];

/** What is asked for; together as far as it is given. */
export interface FilesFilter {
  /** The code of a company. */
  readonly company?: string;
  readonly state?: AskedState;
  /** As hosts know it, such as 953. */
  readonly reason?: number;
  /** `remote` and `folder` stand for all of them. */
  readonly channel?: string;
  readonly user?: string;
  /** With `*` and `?`. */
  readonly name?: string;
  /** Received at this time or later, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
}

export interface FilesAsked {
  readonly filter: FilesFilter;
  readonly limit: number;
  /** A place that `FilesFound` has named: what comes before it, which is older, or after it. */
  readonly before?: string;
  readonly after?: string;
  /** The search goes on from where one has ended for its time, and takes longer. */
  readonly isFurther?: boolean;
  /** Whether it is to be said how many there are. */
  readonly isCounted: boolean;
}

/** An entry in the list. Times are milliseconds UTC. */
export interface ListedFile {
  /** As its receipt names it. */
  readonly reference: string;
  readonly company: string;
  readonly name: string;
  readonly state: FileState;
  readonly stopNbr: string | null;
  readonly receivedAt: number;
  readonly decidedAt: number | null;
  readonly channel: string;
  readonly user: string | null;
  readonly size: number;
  readonly sha256: string | null;
  /** The first of its faults, and how many there are besides. */
  readonly reason: { readonly code: number; readonly message: string; readonly more: number } | null;
  /** What to do, where the message of the reason does not say it all. */
  readonly remedy: string | null;
  /** A retry can be asked for. */
  readonly canRetry: boolean;
  /** Why its bytes are gone, when that is their age. */
  readonly pruned: string | null;
}

export interface FilesFound {
  /** The newest first. */
  readonly files: readonly ListedFile[];
  /** The places from which the next pages go on. */
  readonly before: string | null;
  readonly after: string | null;
  /** The time was over before the page was full: up to here was looked. */
  readonly searchedTo: number | null;
  /** The same of a search for newer ones, which leads on to those that are newer still. */
  readonly searchedUpTo?: number;
  /** `ever`: of these some are kept no longer. Null when they cannot be counted in time. */
  readonly count: { readonly kind: "exact" | "ever" | "moreThan"; readonly count: number } | null;
  /** Ways of the last thirty days, those of remotes, and `remote` for all of these, for the filter. */
  readonly channels: readonly string[];
}
