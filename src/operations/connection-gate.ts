import { peerKeyOf } from "../lib/address-range.ts";
import type { SignIn } from "./sign-in.ts";

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

/** Which connections of an endpoint are let in: bans, and limits in all and for each address. */
export class ConnectionGate {
  readonly #signIn: Pick<SignIn, "bannedForMs" | "reportBrokenLimit">;
  /** By what a peer is counted by everywhere: an IPv6 address stands for its network. */
  readonly #perPeer = new Map<string, number>();
  #isClosed = false;

  constructor(signIn: Pick<SignIn, "bannedForMs" | "reportBrokenLimit">) {
    this.#signIn = signIn;
  }

  /** Lets nobody in any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Why a connection from this address is not even greeted, in words for the log; `open` is how many there are. */
  refusalOf(address: string, open: number, limits: ConnectionLimits): string | undefined {
    if (this.#isClosed) return "stopping";
    if (this.#signIn.bannedForMs(address) > 0) return "the address is banned";
    if (open >= limits.maxConnections) return "too many connections";
    if ((this.#perPeer.get(peerKeyOf(address)) ?? 0) < limits.maxConnectionsPerAddress) return undefined;
    this.#signIn.reportBrokenLimit(address);
    return "too many connections from the address";
  }

  /** Counts a connection that was let in; the result counts it off and is called once. */
  enter(address: string): () => void {
    const peer = peerKeyOf(address);
    this.#perPeer.set(peer, (this.#perPeer.get(peer) ?? 0) + 1);
    return () => {
      const left = (this.#perPeer.get(peer) ?? 1) - 1;
      if (left > 0) this.#perPeer.set(peer, left);
      else this.#perPeer.delete(peer);
    };
  }
}
