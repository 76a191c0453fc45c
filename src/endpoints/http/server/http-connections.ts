/**
 * The open connections of the HTTP server and their places.
 *
 * A connection counts as signed in from its first request with the right user and password; until then, also while it only
 * asks for `/healthz`, it has to make room for others. All clients of a trusted proxy come over the connections of the
 * proxy, which therefore count as signed in from the beginning.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { normaliseAddress } from "../../../lib/address-range.ts";
import type { ConnectionGate, Place } from "../../../sign-in/connection-gate.ts";
import type { AddressStanding } from "../../../sign-in/sign-in.ts";

export interface HttpConnectionsDeps {
  readonly gate: ConnectionGate;
  readonly standing: Pick<AddressStanding, "reportSilence">;
  readonly isProxy: (address: string) => boolean;
}

/** The two ends in one text: over TLS, requests have another socket object than the connection. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

export class HttpConnections {
  readonly #deps: HttpConnectionsDeps;
  readonly #open = new Set<Socket>();
  readonly #places = new WeakMap<Socket, Place>();
  readonly #placesByKey = new Map<string, Place>();

  constructor(deps: HttpConnectionsDeps) {
    this.#deps = deps;
  }

  get open(): ReadonlySet<Socket> {
    return this.#open;
  }

  /** Counts the socket until it closes, and returns true; else the caller turns it away. */
  admit(socket: Socket): boolean {
    const { gate, isProxy } = this.#deps;
    const address = normaliseAddress(socket.remoteAddress ?? "");
    const admission = gate.admit({
      address,
      isProxy: isProxy(address),
      displace: () => socket.destroy(),
    });
    if (admission.kind === "refused") return false;
    const { place } = admission;
    const key = keyOf(socket);
    this.#open.add(socket);
    this.#places.set(socket, place);
    this.#placesByKey.set(key, place);
    socket.once("close", () => {
      place.leave();
      this.#open.delete(socket);
      if (this.#placesByKey.get(key) === place) this.#placesByKey.delete(key);
    });
    return true;
  }

  /** A request on the connection has signed in. False when as many connections as may be are signed in. */
  signIn(socket: Socket): boolean {
    // An unknown connection is closed: nobody reads the answer.
    return this.#placeOf(socket)?.signIn() ?? true;
  }

  /** The time for a request is over, and none has come. */
  reportSilence(socket: Socket): void {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || this.#placeOf(socket)?.isSignedIn !== false) return;
    this.#deps.standing.reportSilence(normaliseAddress(remoteAddress));
  }

  /** Closes every connection but those of these sockets; answers on their way may still finish. */
  closeAllBut(busy: Iterable<Socket | TLSSocket>): void {
    const keys = new Set([...busy].map(keyOf));
    for (const socket of this.#open) if (!keys.has(keyOf(socket))) socket.destroySoon();
  }

  #placeOf(socket: Socket): Place | undefined {
    const known = this.#places.get(socket);
    if (known !== undefined) return known;
    const place = this.#placesByKey.get(keyOf(socket));
    if (place !== undefined) this.#places.set(socket, place);
    return place;
  }
}
