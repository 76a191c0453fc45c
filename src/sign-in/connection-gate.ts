/**
 * Which connections of a server stand, for SFTP, FTP and HTTP alike.
 *
 *   comes ──> not signed in ──signs in──> signed in ──> gone
 *               │ pool full: displaced
 *
 * Connections that have not signed in have a pool of their own, so that they can take no place of those that have. A
 * newcomer always gets into the pool: when it is full, one connection of the address that holds most of it goes, its
 * oldest. Addresses from which somebody has signed in lately come last. So whoever opens connections and says nothing
 * pushes out himself. A place is counted by what failed sign-ins are counted by: an IPv6 address stands for its /64.
 *
 * All of it is in memory and about sockets that are open; nothing survives the process, and nothing needs to.
 */
import { peerKeyOf } from "../lib/address-range.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { AddressStanding } from "./sign-in.ts";
import { type Entry, type Newcomer, type Peer, WaitingConnections } from "./waiting-connections.ts";

export interface ConnectionLimits {
  /** That are signed in. */
  readonly maxConnections: number;
  /** That are not signed in (yet). */
  readonly maxUnauthenticatedConnections: number;
  /** Of one address, signed in or not. */
  readonly maxConnectionsPerAddress: number;
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

export interface ConnectionGateDeps {
  /** Of the server, for the log. */
  readonly name: string;
  readonly standing: AddressStanding;
  /** Those in force: a reload may change them. */
  limits(): ConnectionLimits;
  readonly log: Pick<Logger, "info" | "warn">;
  /** Whether a banned address is admitted all the same, so that the protocol can tell it. */
  readonly letsInBanned?: boolean;
}

export class ConnectionGate {
  readonly #deps: ConnectionGateDeps;
  readonly #log: LimitedLog;
  readonly #peers = new Map<string, Peer>();
  readonly #waiting = new WaitingConnections();
  #signedIn = 0;
  #admitted = 0;
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

  /** Gives the connection a place, for whose sake another may have to go, or says why it has none. */
  admit(newcomer: Newcomer): Admission {
    const { address } = newcomer;
    const reason = this.#refusalOf(newcomer);
    if (reason !== undefined) {
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

  #refusalOf({ address, isProxy }: Newcomer): string | undefined {
    const { standing, letsInBanned, limits } = this.#deps;
    if (this.#isClosed) return "stopping";
    if (letsInBanned !== true && standing.bannedForMs(address) > 0) return "the address is banned";
    const { maxConnections, maxConnectionsPerAddress } = limits();
    if (isProxy === true) return this.#signedIn < maxConnections ? undefined : "too many connections";
    const peer = this.#peers.get(peerKeyOf(address));
    if (peer === undefined || peer.open < maxConnectionsPerAddress) return undefined;
    if (!peer.isReported) standing.reportBrokenLimit(address);
    peer.isReported = true;
    return "too many connections from the address";
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
    this.#log.info({ address }, `${this.#deps.name} connection dropped: too many are not signed in`);
    this.#leave(first);
    first.newcomer.displace();
  }

  #signIn(entry: Entry): boolean {
    if (entry.state !== "waiting") return entry.state === "signedIn";
    entry.peer.isKnown = true;
    if (this.#signedIn >= this.#deps.limits().maxConnections) return false;
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
