/**
 * The open connections of the HTTP server and their places.
 *
 * A connection counts as signed in from its first request with the right user and password; until then, also while it only
 * asks for `/healthz`, it has to make room for others. All clients of a trusted proxy come over the connections of the
 * proxy, which therefore count as signed in from the beginning. So do those that a balancer opens for itself.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Client } from "../../../lib/proxy-protocol/client-finder.ts";
import type { ConnectionGate, Place } from "../../../sign-in/connection-gate.ts";
import type { AddressStanding } from "../../../sign-in/sign-in.ts";

export interface HttpConnectionsDeps {
  readonly gate: ConnectionGate;
  readonly standing: Pick<AddressStanding, "reportSilence">;
  readonly isProxy: (address: string) => boolean;
}

/** A connection that was let in. */
interface Admitted {
  readonly place: Place;
  /** The client's, or that of the proxy whose requests come over it. Normalised. */
  readonly address: string;
}

/** The two ends in one text: over TLS, requests have another socket object than the connection. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

export class HttpConnections {
  readonly #deps: HttpConnectionsDeps;
  readonly #open = new Set<Socket>();
  readonly #admitted = new WeakMap<Socket, Admitted>();
  readonly #admittedByKey = new Map<string, Admitted>();

  constructor(deps: HttpConnectionsDeps) {
    this.#deps = deps;
  }

  get open(): ReadonlySet<Socket> {
    return this.#open;
  }

  /** Counts the socket until it closes, and returns true; else the caller turns it away. */
  admit(socket: Socket, { address, isBalancer }: Client): boolean {
    const { gate, isProxy } = this.#deps;
    const admission = gate.admit({
      address,
      isProxy: isBalancer || isProxy(address),
      displace: () => socket.destroy(),
    });
    if (admission.kind === "refused") return false;
    const admitted = { place: admission.place, address };
    const key = keyOf(socket);
    this.#open.add(socket);
    this.#admitted.set(socket, admitted);
    this.#admittedByKey.set(key, admitted);
    socket.once("close", () => {
      admitted.place.leave();
      this.#open.delete(socket);
      if (this.#admittedByKey.get(key) === admitted) this.#admittedByKey.delete(key);
    });
    return true;
  }

  /** Of the client that is connected; empty for a connection that is gone. */
  addressOf(socket: Socket): string {
    return this.#find(socket)?.address ?? "";
  }

  /** A request on the connection has signed in. False when as many connections as may be are signed in. */
  signIn(socket: Socket): boolean {
    // An unknown connection is closed: nobody reads the answer.
    return this.#find(socket)?.place.signIn() ?? true;
  }

  /** The time for a request is over, and none has come. */
  reportSilence(socket: Socket): void {
    const admitted = this.#find(socket);
    if (admitted?.place.isSignedIn === false) this.#deps.standing.reportSilence(admitted.address);
  }

  /** Closes every connection but those of these sockets; answers on their way may still finish. */
  closeAllBut(busy: Iterable<Socket | TLSSocket>): void {
    const keys = new Set([...busy].map(keyOf));
    for (const socket of this.#open) if (!keys.has(keyOf(socket))) socket.destroySoon();
  }

  #find(socket: Socket): Admitted | undefined {
    const known = this.#admitted.get(socket);
    if (known !== undefined) return known;
    const admitted = this.#admittedByKey.get(keyOf(socket));
    if (admitted !== undefined) this.#admitted.set(socket, admitted);
    return admitted;
  }
}
