/** Files that lie on remotes and are not taken, as the pollers of the running daemon see them, for people. */

/** Times are milliseconds UTC. */
export type WhyUntaken =
  /** Its size and time have not been the same for long enough. */
  | { readonly kind: "settling"; readonly unchangedSince: number }
  /** An earlier file of its stop goes first. */
  | { readonly kind: "behind"; readonly before: string }
  /** It could not be fetched so often. */
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly attempts: number;
      readonly triedAgainAt: number;
    }
  /** It is never fetched as it is. */
  | { readonly kind: "leftAlone"; readonly message: string }
  /** Its name says that it is being written. */
  | { readonly kind: "unfinished" };

export interface UntakenFile {
  readonly name: string;
  /** Bytes, as listed; not of what is left alone. */
  readonly size?: number;
  readonly why: WhyUntaken;
}

export interface UntakenOfRemote {
  readonly company: string;
  readonly remote: string;
  /** When the next poll is due, milliseconds UTC. */
  readonly nextPollAt: number;
  readonly files: readonly UntakenFile[];
  /** How many more there are. */
  readonly more: number;
}
