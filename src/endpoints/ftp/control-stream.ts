/**
 * The bytes of one control connection, in clear at first, over TLS from `startTls` on. It is always read, so that the end of
 * the connection is seen at any moment.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Reply, renderReply } from "./replies.ts";
import { handshake, type TlsSession } from "./tls-session.ts";

const maxUnreadBytes = 256 * 1024;

export interface ControlStreamDeps {
  readonly socket: Socket;
  readonly tls: TlsSession | undefined;
  readonly data: (chunk: Buffer) => void;
  readonly ended: () => void;
  /** The handshake has failed; the connection ends. */
  readonly tlsFailed: (error: unknown) => void;
  readonly closed: () => void;
}

export class ControlStream {
  readonly #deps: ControlStreamDeps;
  #stream: Socket | TLSSocket;
  #isSecure = false;

  constructor(deps: ControlStreamDeps) {
    this.#deps = deps;
    this.#stream = deps.socket;
    deps.socket.on("close", () => {
      this.#stream.destroy();
      deps.closed();
    });
  }

  get isSecure(): boolean {
    return this.#isSecure;
  }

  /** Begins to read, over TLS when it is implicit. */
  async open({ isImplicit }: { readonly isImplicit: boolean }): Promise<void> {
    if (isImplicit) await this.#secure();
    else this.#listen(this.#stream);
  }

  /** Sends the reply in clear. Resolves when TLS is there, or the connection is gone. */
  async startTls(answer: Reply): Promise<void> {
    const { socket, data, ended } = this.#deps;
    socket.off("data", data);
    socket.off("end", ended);
    socket.pause();
    socket.write(renderReply(answer));
    await this.#secure();
  }

  /** False when the client leaves too many replies unread. */
  send(answer: Reply): boolean {
    if (!this.#stream.writable) return true;
    this.#stream.write(renderReply(answer));
    return this.#stream.writableLength <= maxUnreadBytes;
  }

  end(): void {
    this.#stream.end();
  }

  destroy(): void {
    this.#deps.socket.destroy();
  }

  /** Puts TLS over the socket, which nobody reads from. */
  async #secure(): Promise<void> {
    const { tls, socket, tlsFailed } = this.#deps;
    if (tls === undefined) throw new Error("TLS was asked for and is not set up");
    const stream = tls.wrap(socket);
    this.#stream = stream;
    try {
      await handshake(stream);
    } catch (error) {
      tlsFailed(error);
      socket.destroy();
      return;
    }
    this.#isSecure = true;
    this.#listen(stream);
  }

  #listen(stream: Socket | TLSSocket): void {
    stream.on("data", this.#deps.data);
    stream.on("end", this.#deps.ended);
    stream.resume();
  }
}
