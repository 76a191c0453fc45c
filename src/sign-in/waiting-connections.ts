/** The connections of a server that have not signed in, and which of them makes room when they are too many. */

/** A connection that has just come. */
export interface Newcomer {
  /** Normalised. */
  readonly address: string;
  /** A trusted proxy, behind which anybody may be: it counts as signed in, and has no limit of its own. */
  readonly isProxy?: boolean;
  /** Takes the connection down to make room for another. Its place is free already. */
  displace(): void;
}

/** What one address has open. */
export interface Peer {
  readonly key: string;
  open: number;
  /** One excess is reported until the address has been under its limit again: a burst is one fault, not fifty. */
  isReported: boolean;
  /** Somebody has signed in from it lately. Looked up when its first connection comes. */
  isKnown: boolean;
  /** Those that are not signed in, oldest first. */
  readonly waiting: Set<Entry>;
}

/** A connection that was let in. */
export interface Entry {
  readonly peer: Peer;
  readonly newcomer: Newcomer;
  /** How many came before. */
  readonly order: number;
  state: "waiting" | "signedIn" | "gone";
}

/** Whether the one has to make room rather than the other. */
function goesBefore(one: Entry, other: Entry): boolean {
  if (one.peer.isKnown !== other.peer.isKnown) return other.peer.isKnown;
  const [size, otherSize] = [one.peer.waiting.size, other.peer.waiting.size];
  return size === otherSize ? one.order < other.order : size > otherSize;
}

export class WaitingConnections {
  readonly #peers = new Set<Peer>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(entry: Entry): void {
    this.#count += 1;
    entry.peer.waiting.add(entry);
    this.#peers.add(entry.peer);
  }

  remove(entry: Entry): void {
    this.#count -= 1;
    entry.peer.waiting.delete(entry);
    if (entry.peer.waiting.size === 0) this.#peers.delete(entry.peer);
  }

  /** The oldest of the address that holds most; of those from which somebody has signed in lately only when there are no others. */
  firstToGo(): Entry | undefined {
    let first: Entry | undefined;
    for (const { waiting } of this.#peers) {
      const [oldest] = waiting;
      if (oldest !== undefined && (first === undefined || goesBefore(oldest, first))) first = oldest;
    }
    return first;
  }
}
