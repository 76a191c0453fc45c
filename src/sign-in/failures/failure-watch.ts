/** What nodes that share a database tell one another of failed sign-ins. */
import type { Scored } from "./score-board.ts";

/** Points as each node counts them. */
export interface CountedFailure extends Scored {
  /** The address, or the network that counts as one. */
  readonly peer: string;
  /** The name that was tried, by `subjectOf`; undefined when there was none. */
  readonly subject: string | undefined;
}

/** Is told what other nodes have to know. */
export interface FailureWatch {
  counted(failure: CountedFailure): void;
  /** A ban has begun. */
  banned(key: string): void;
  /** A ban was lifted here, and is noted as lifted by who did that. */
  lifted(key: string): void;
}
