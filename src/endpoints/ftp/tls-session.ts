/**
 * TLS of one client: its control connection and its data connections.
 *
 * Each client has a context, and so keys for session tickets, of its own: a TLS session that is resumed on a data
 * connection can only have begun on the control connection of the same client.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { type TlsOptions, tlsSettings } from "../../lib/tls-settings.ts";

/** As long as a control connection lasts in practice; with the usual five minutes, resuming would fail after them. */
const sessionSeconds = 24 * 3600;

export class TlsSession {
  readonly #context: SecureContext;

  /** Throws when certificate and key cannot be used. */
  constructor(options: TlsOptions) {
    this.#context = createSecureContext({
      ...tlsSettings(options),
      sessionTimeout: sessionSeconds,
      sessionIdContext: "dropgate-ftp",
    });
  }

  /** The TLS side of a connection at the point where TLS begins. It has its error listener. */
  wrap(below: Socket | Duplex): TLSSocket {
    const stream = new TLSSocket(below, { isServer: true, secureContext: this.#context });
    stream.on("error", () => undefined);
    // Without a server around it a TLS stream does not report its faults, and stands still.
    stream.on("_tlsError", () => stream.destroy());
    return stream;
  }
}

/** Resolves when the handshake is done; rejects when the connection closes before. */
export function handshake(stream: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once("secure", () => resolve());
    stream.once("close", () => reject(new Error("the connection closed during the TLS handshake")));
  });
}
