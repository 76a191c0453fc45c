/** What the page of remotes and folders is told. Plain data; times are milliseconds UTC. */
import type { FolderStanding } from "../../../../../domain/files/folder-standing.ts";
import type { Move } from "../../../../../domain/outbound/whose-move.ts";

export interface UntakenView {
  readonly name: string;
  readonly size: number | undefined;
  /** In words, with when it is tried again. */
  readonly why: string;
}

export interface ShownRemote {
  readonly company: string;
  readonly name: string;
  /** As in `sftp files.example.com, folder out`. */
  readonly server: string;
  readonly polledAt: number | null;
  readonly succeededAt: number | null;
  /** When the next round is due, as far as the daemon has told. */
  readonly nextAt: number | null;
  /** Rounds that failed in a row. */
  readonly failures: number;
  readonly restsUntil: number | null;
  /** Somebody has asked for a round, and none that began since has ended. */
  readonly isAsked: boolean;
  readonly faultText: string | null;
  readonly remedy: string | undefined;
  /** Whose move it is after the fault. */
  readonly move: Move | undefined;
  readonly pause: { readonly by: string; readonly at: number; readonly reason: string } | undefined;
  /** Files that lie there and are not taken. */
  readonly files: readonly UntakenView[];
  readonly more: number;
}

/** A folder that is scanned: a company's own `inbound/`, or one more of the configuration. */
export interface ShownFolder extends Omit<FolderStanding, "companyId"> {
  readonly company: string;
  /** Its last part alone for who is no operator: places of the machine are nobody else's business. */
  readonly path: string;
  /** Why no file of the company is taken, though it lies there complete; undefined when there is room. */
  readonly noRoom: string | undefined;
}

export interface RemotesFound {
  readonly remotes: readonly ShownRemote[];
}
