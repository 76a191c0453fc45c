/** How a watched folder stands, as its scans have found it. Plain data; times are milliseconds UTC. */

/** A call of the system that failed. */
export interface FolderFault {
  /** Such as `EACCES`. */
  readonly systemCode: string;
  /** In the words of the system: it may name places of the machine. */
  readonly reason: string;
  readonly remedy: string;
}

/** Why an entry of a folder is not taken. */
export type WhyLeft =
  /** It cannot be read or removed, and is tried again. */
  | ({ readonly kind: "failed" } & FolderFault)
  /** It is empty, or ends in the middle; refused at that time unless it changes. */
  | { readonly kind: "incomplete"; readonly isEmpty: boolean; readonly refusedAt: number }
  /** A writer is still at work. */
  | { readonly kind: "changing" }
  /** It waits for an earlier file of its stop. */
  | { readonly kind: "behind"; readonly before: string }
  /** Its name says so. */
  | { readonly kind: "unfinished" }
  /** A link, a folder, a device, or a name that nobody could ask for. */
  | { readonly kind: "noFile"; readonly remedy: string };

export interface LeftFile {
  readonly name: string;
  /** Since when it stays as it is now; undefined where nobody has noted that. */
  readonly since: number | undefined;
  readonly why: WhyLeft;
}

export interface FolderStanding {
  readonly companyId: number;
  readonly path: string;
  /** The company's own `inbound/`. */
  readonly isInbox: boolean;
  /** When it was looked at last and could be read; undefined before the first time. */
  readonly lookedAt: number | undefined;
  /** When the scan began that is under way, or the look whether one is due; a share that does not answer keeps one so. */
  readonly scanningSince: number | undefined;
  /** Between two scans. */
  readonly scanMs: number;
  /** Why it cannot be used, and since when; undefined when it can. */
  readonly fault: (FolderFault & { readonly since: number }) | undefined;
  /** What lies there and is not taken, those that have stayed longest first; at most `mostLeftFiles`. */
  readonly files: readonly LeftFile[];
  /** How many there are besides. */
  readonly more: number;
}

/** As many are told of a folder. */
export const mostLeftFiles = 200;
