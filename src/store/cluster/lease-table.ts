/**
 * Leases of companies, as rows that the nodes of a database share. A lease gives one node the background work of a company
 * for some seconds. Only the clock of the database decides when it is over.
 */

/** A lease that the node has. */
export interface Lease {
  readonly companyId: number;
  readonly epoch: number;
}

/** A lease that was taken just now. */
export interface ClaimedLease extends Lease {
  /**
   * When a node that died with it was surely there for the last time, or gave it back without having come to its end,
   * milliseconds UTC, of several the first; null when all that such nodes left is taken over (`settle`).
   */
  readonly orphanedAt: number | null;
}

/** What a node says of itself, again and again. */
export interface NodeReport {
  readonly name: string;
  readonly incarnation: string;
  readonly version: string;
  /** The schema that it knows. */
  readonly schema: number;
  /** What it listens on, by protocol. */
  readonly address: Readonly<Record<string, string>>;
  /** Hash of the settings that all nodes must have in common. */
  readonly settings: string;
}

/** A node as the others know it. Times are milliseconds UTC of the database. */
export interface KnownNode extends NodeReport {
  readonly startedAt: number;
  readonly seenAt: number;
  /** Somebody has asked it to give its companies away. */
  readonly isDraining: boolean;
  readonly isStopped: boolean;
  /** How long ago it was seen. */
  readonly silentMs: number;
  /** The companies that it has, with 0 for what concerns none. */
  readonly lanes: number;
}

/** What a node learns when it has said that it is there. */
export interface Orders {
  /** Another process has its name: this one must not go on. */
  readonly isReplaced: boolean;
  readonly isToDrain: boolean;
  /** The schema of the oldest programs that may use the database, or of which a migration waits for the others to go. */
  readonly neededSchema: number;
  /** Nodes that were seen lately, take companies and have let no lease run out; this one too. */
  readonly nodes: number;
  /** Until the first lease of another node is over, if nobody renews it, in milliseconds; null when no other has one. */
  readonly nextOverMs: number | null;
  /** All lanes. */
  readonly lanes: number;
}

export interface LeaseTable {
  /** Takes the name. Gives another process that has it and was seen within `leaseMs`, other than `former`; it stays as it is then. */
  enter(
    report: NodeReport,
    given: { readonly leaseMs: number; readonly former: string | undefined },
  ): Promise<{ readonly rival: { readonly silentMs: number } | undefined }>;
  /** `isAway`: it takes no companies, because its program is too old or its tree does not answer; nobody waits for it. */
  beat(report: NodeReport, given: { readonly leaseMs: number; readonly isAway: boolean }): Promise<Orders>;
  /** Extends these leases of the node, and gives those that it still has. */
  renew(node: string, leaseMs: number, companyIds: readonly number[]): Promise<readonly Lease[]>;
  /**
   * Takes up to `limit` leases that nobody has or that are over, and besides all that have been over, or free, for longer than
   * `graceMs`; never those of `without`.
   */
  claim(given: {
    readonly node: string;
    readonly leaseMs: number;
    readonly limit: number;
    readonly graceMs: number;
    readonly without: readonly number[];
  }): Promise<readonly ClaimedLease[]>;
  /** What dead nodes left of these companies, which the node has in these epochs, is taken over. */
  settle(node: string, leases: readonly Lease[]): Promise<void>;
  /** Gives leases back that the node has in these epochs. Unless `isSure`, whoever takes them looks as after a death. */
  release(node: string, leases: readonly Lease[], how: { readonly isSure: boolean }): Promise<void>;
  /** All nodes that have ever been, by name. */
  nodes(): Promise<readonly KnownNode[]>;
  /** Who has which company. */
  owners(): Promise<readonly { readonly companyId: number; readonly owner: string | null }[]>;
  /** Asks a node to give its companies away, or to take some again. Whether there is such a node. */
  order(node: string, isToDrain: boolean): Promise<boolean>;
  /** It stops, and is not missed. */
  leave(node: string, incarnation: string): Promise<void>;
}
