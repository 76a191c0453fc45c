/**
 * Which connections of a server stand, for SFTP, FTP and HTTP alike.
 *
 *   comes ──> not signed in ──signs in──> signed in ──> gone
 *               │ pool full: displaced
 *
 * Connections that have not signed in have a pool of their own, so that they can take no place of those that have. A
 * newcomer always gets into the pool: when it is full, the oldest connection of the address that holds most of it goes.
 * Addresses from which somebody has signed in lately come last. So whoever opens connections and says nothing pushes out
 * himself. As for failed sign-ins, an IPv6 address stands for its /64.
 *
 * All of it is in memory and about open sockets.
 */
import { peerKeyOf } from "../lib/address-range.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { AddressStanding } from "./sign-in.ts";

export interface ConnectionLimits {
  /** That are signed in. */
  readonly maxConnections: number;
  /** That are not signed in (yet). */
  readonly maxUnauthenticatedConnections: number;
  /** Of one address, signed in or not. */
  readonly maxConnectionsPerAddress: number;
}

/** Why a connection was turned away, or had to make room, in the words of the log. */
const refusalTexts = {
  stopping: "stopping",
  banned: "the address is banned",
  too_many: "too many connections",
  too_many_of_address: "too many connections from the address",
  displaced: "too many are not signed in",
} as const;

export type ConnectionRefusal = keyof typeof refusalTexts;

/** For monitoring. */
export interface ConnectionStatistics {
  readonly open: number;
  readonly signedIn: number;
  /** Since the start; sign-ins for which there was no place count as `too_many`. */
  readonly refused: Readonly<Record<ConnectionRefusal, number>>;
}

/** Where a connection is counted. */
export interface Place {
  readonly isSignedIn: boolean;
  /** Its user has signed in. False when as many as may be have; the place then stays what it was. May be repeated. */
  signIn(): boolean;
  /** The connection is gone. May be repeated. */
  leave(): void;
}

export type Admission =
  | { readonly kind: "admitted"; readonly place: Place }
  | { readonly kind: "refused"; readonly reason: string };

/** A connection that has just come. */
export interface Newcomer {
  /** Normalised. */
  readonly address: string;
  /** A trusted proxy, behind which anybody may be: it counts as signed in, under no ban and no limit of one address. */
  readonly isProxy?: boolean;
  /** Takes the connection down to make room for another. Its place is free already. */
  displace(): void;
}

/** What one address has open. */
interface Peer {
  readonly key: string;
  open: number;
  /** An excess is reported once until the address is under its limit again: a burst is one fault, not fifty. */
  isReported: boolean;
  /** Somebody has signed in from it lately; as of its first connection. */
  isKnown: boolean;
  /** Those that are not signed in, oldest first. */
  readonly waiting: Set<Entry>;
}

/** A connection that was let in. */
interface Entry {
  readonly peer: Peer;
  readonly newcomer: Newcomer;
  /** How many connections came before. */
  readonly order: number;
  state: "waiting" | "signedIn" | "gone";
}

/** Whether `one` has to make room rather than `other`. */
function goesBefore(one: Entry, other: Entry): boolean {
  if (one.peer.isKnown !== other.peer.isKnown) return other.peer.isKnown;
  const [size, otherSize] = [one.peer.waiting.size, other.peer.waiting.size];
  return size === otherSize ? one.order < other.order : size > otherSize;
}

/** The connections that have not signed in, and which of them makes room when there are too many. */
class WaitingConnections {
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

  /** The oldest connection of the address that holds most; addresses with a sign-in lately come last. */
  firstToGo(): Entry | undefined {
    let first: Entry | undefined;
    for (const { waiting } of this.#peers) {
      const [oldest] = waiting;
      if (oldest !== undefined && (first === undefined || goesBefore(oldest, first))) first = oldest;
    }
    return first;
  }
}

export interface ConnectionGateDeps {
  /** Of the server, for the log. */
  readonly name: string;
  readonly standing: AddressStanding;
  /** Those in force: a reload may change them. */
  limits(): ConnectionLimits;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Whether to admit a banned address all the same, so that the protocol can answer it. */
  readonly letsInBanned?: boolean;
}

export class ConnectionGate {
  readonly #deps: ConnectionGateDeps;
  readonly #log: LimitedLog;
  readonly #peers = new Map<string, Peer>();
  readonly #waiting = new WaitingConnections();
  #signedIn = 0;
  #admitted = 0;
  readonly #refused = { stopping: 0, banned: 0, too_many: 0, too_many_of_address: 0, displaced: 0 };
  #isClosed = false;

  constructor(deps: ConnectionGateDeps) {
    this.#deps = deps;
    this.#log = createLimitedLog(deps.log);
  }

  /** Admits nobody any more. */
  close(): void {
    this.#isClosed = true;
    this.#log.flush();
  }

  /** Gives the connection a place, to which another may have to give way, or says why it gets none. */
  admit(newcomer: Newcomer): Admission {
    const { address } = newcomer;
    const refusal = this.#refusalOf(newcomer);
    if (refusal !== undefined) {
      const reason = refusalTexts[refusal];
      this.#refused[refusal] += 1;
      this.#log.info({ address, reason }, `${this.#deps.name} connection refused`);
      return { kind: "refused", reason };
    }
    const peer = this.#peerOf(address);
    const isProxy = newcomer.isProxy === true;
    const entry: Entry = {
      ...{ peer, newcomer, order: this.#admitted },
      state: isProxy ? "signedIn" : "waiting",
    };
    this.#admitted += 1;
    peer.open += 1;
    if (isProxy) this.#signedIn += 1;
    else this.#takeIntoPool(entry);
    return { kind: "admitted", place: this.#placeOf(entry) };
  }

  statistics(): ConnectionStatistics {
    const signedIn = this.#signedIn;
    return { open: signedIn + this.#waiting.count, signedIn, refused: this.#refused };
  }

  #refusalOf({ address, isProxy }: Newcomer): ConnectionRefusal | undefined {
    const { standing, letsInBanned, limits } = this.#deps;
    if (this.#isClosed) return "stopping";
    const { maxConnections, maxConnectionsPerAddress } = limits();
    if (isProxy === true) return this.#signedIn < maxConnections ? undefined : "too_many";
    if (letsInBanned !== true && standing.bannedForMs(address) > 0) return "banned";
    const peer = this.#peers.get(peerKeyOf(address));
    if (peer === undefined || peer.open < maxConnectionsPerAddress) return undefined;
    if (!peer.isReported) standing.reportBrokenLimit(address);
    peer.isReported = true;
    return "too_many_of_address";
  }

  #peerOf(address: string): Peer {
    const key = peerKeyOf(address);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const isKnown = this.#deps.standing.hasSignedInLately(address);
    const peer = { key, open: 0, isReported: false, isKnown, waiting: new Set<Entry>() };
    this.#peers.set(key, peer);
    return peer;
  }

  #placeOf(entry: Entry): Place {
    return {
      get isSignedIn() {
        return entry.state === "signedIn";
      },
      signIn: () => this.#signIn(entry),
      leave: () => this.#leave(entry),
    };
  }

  #takeIntoPool(entry: Entry): void {
    // More than one goes only after a reload that has made the pool smaller.
    while (this.#waiting.count >= this.#deps.limits().maxUnauthenticatedConnections) this.#makeRoom();
    this.#waiting.add(entry);
  }

  #makeRoom(): void {
    const first = this.#waiting.firstToGo();
    if (first === undefined) throw new Error("the pool is full and holds nothing");
    const { address } = first.newcomer;
    this.#refused.displaced += 1;
    this.#log.info({ address }, `${this.#deps.name} connection dropped: ${refusalTexts.displaced}`);
    this.#leave(first);
    first.newcomer.displace();
  }

  #signIn(entry: Entry): boolean {
    if (entry.state !== "waiting") return entry.state === "signedIn";
    entry.peer.isKnown = true;
    if (this.#signedIn >= this.#deps.limits().maxConnections) {
      this.#refused.too_many += 1;
      return false;
    }
    this.#waiting.remove(entry);
    this.#signedIn += 1;
    entry.state = "signedIn";
    return true;
  }

  #leave(entry: Entry): void {
    if (entry.state === "gone") return;
    if (entry.state === "waiting") this.#waiting.remove(entry);
    else this.#signedIn -= 1;
    entry.state = "gone";
    const { peer } = entry;
    peer.open -= 1;
    peer.isReported = false;
    if (peer.open === 0) this.#peers.delete(peer.key);
  }
}
