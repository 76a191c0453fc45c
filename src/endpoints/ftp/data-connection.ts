/**
 * One data connection, from the accepted socket to its end.
 *
 * What the client sends is whole only when it ended the connection in order: a FIN, and on TLS a close_notify before it. A
 * reset, a FIN alone on TLS, a stand-still or an abort rejects with a `DataFault` instead.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { DataFault } from "./replies.ts";
import { handshake, type TlsSession } from "./tls-session.ts";
import { TlsUnderlay } from "./tls-underlay.ts";

/** How long a client that has been sent everything may take to close its side. */
const closeGraceMs = 1_000;
/** How often a TLS stream whose TCP connection is over is looked at, while what it holds is being read. */
const cutLookMs = 10;
const nothing = Buffer.alloc(0);

export interface DataOptions {
  /** Undefined: without TLS. */
  readonly tls: TlsSession | undefined;
  readonly requireSessionReuse: boolean;
  /** How long nothing may move. */
  readonly timeoutMs: number;
}

const cutWithoutNotice = "The data connection ended without TLS close_notify: what came may not be all";

export class DataConnection {
  readonly #stream: Socket | TLSSocket;
  readonly #socket: Socket;
  readonly #underlay: TlsUnderlay | undefined;
  #fault: DataFault | undefined;
  #isAllSent = false;
  lastMovedAtMs = Date.now();

  /** `secured` is the TLS stream over the socket, and what lies between. */
  constructor(socket: Socket, secured?: { readonly stream: TLSSocket; readonly underlay: TlsUnderlay }) {
    const stream = secured?.stream ?? socket;
    this.#socket = socket;
    this.#stream = stream;
    this.#underlay = secured?.underlay;
    stream.on("error", () => undefined);
  }

  /** What the client sends, to its orderly end. */
  async *received(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#stream.iterator({ destroyOnReturn: false })) {
        this.lastMovedAtMs = Date.now();
        yield chunk as Buffer;
      }
      if (this.#underlay === undefined) await this.#assertNotReset();
    } catch (error) {
      throw this.#fault ?? new DataFault(426, "The data connection broke", error);
    }
  }

  /** Node tells a reset that comes right behind bytes as an end in order; writing nothing tells the two apart. */
  #assertNotReset(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.write(nothing, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Resolves when there is room for more. */
  async send(bytes: Uint8Array): Promise<void> {
    this.#assertOpen();
    this.lastMovedAtMs = Date.now();
    if (this.#stream.write(bytes)) return;
    await this.#until("drain", () => !this.#stream.writableNeedDrain);
    this.lastMovedAtMs = Date.now();
  }

  /**
   * Everything is sent: ends the connection. True when the client has then closed it in order; false when it has not yet,
   * as one that waits for our reply, or for which all of it still lies in the system's buffers. Rejects after a reset.
   */
  async endSending(): Promise<boolean> {
    this.#assertOpen();
    this.#stream.end();
    await this.#until("finish", () => this.#stream.writableFinished);
    this.#isAllSent = true;
    this.#stream.resume();
    await this.#closedSoon();
    this.#assertUnharmed();
    if (this.#isEndedInOrder) this.#destroyInTime();
    return this.#isEndedInOrder;
  }

  /** After `endSending`: resolves once the connection is gone, with whether the client has closed it in order. */
  async hasEndedInOrder(): Promise<boolean> {
    const stream = this.#stream;
    if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", () => resolve()));
    return this.#isEndedInOrder;
  }

  /** The client may have a moment to close the connection; it is of no interest any more when it does. */
  letGo(): void {
    this.#destroyInTime();
  }

  /** Everything has come: says good-bye without waiting for it. */
  endReceiving(): void {
    this.#stream.end();
    this.#destroyInTime();
  }

  /** The client has closed a TLS connection without saying so. Of one who has been sent everything no more is wanted. */
  cut(): void {
    if (this.#isAllSent) this.#stream.destroy();
    else this.abort(new DataFault(426, cutWithoutNotice));
  }

  /** Breaks the connection off; whoever works with it gets the fault. */
  abort(fault: DataFault): void {
    this.#fault ??= fault;
    this.#stream.destroy(fault);
    this.#socket.destroy();
  }

  /** A FIN, or a close_notify: a client that had not read all would have reset the connection. */
  get #isEndedInOrder(): boolean {
    const isEnded = ({ readableEnded, errored }: Socket) => readableEnded && errored === null;
    return isEnded(this.#stream) || isEnded(this.#socket);
  }

  #destroyInTime(): void {
    const socket = this.#socket;
    if (socket.closed) return;
    const timer = setTimeout(() => socket.destroy(), closeGraceMs).unref();
    socket.once("close", () => clearTimeout(timer));
  }

  #assertOpen(): void {
    this.#assertUnharmed();
    if (this.#stream.destroyed) throw new DataFault(426, "The data connection broke");
  }

  #assertUnharmed(): void {
    if (this.#fault !== undefined) throw this.#fault;
    const error = this.#stream.errored ?? this.#underlay?.writeFault;
    if (error !== undefined) throw new DataFault(426, "The data connection broke", error);
  }

  /** Resolves once it is so, which is looked at when the event comes; rejects when the connection is closed before. */
  async #until(event: "drain" | "finish", isSo: () => boolean): Promise<void> {
    const stream = this.#stream;
    while (!isSo()) {
      if (stream.closed) this.#assertOpen();
      await new Promise<void>((resolve) => {
        const done = (): void => {
          stream.off(event, done);
          stream.off("close", done);
          resolve();
        };
        stream.on(event, done);
        stream.on("close", done);
      });
    }
  }

  #closedSoon(): Promise<void> {
    const stream = this.#stream;
    if (stream.closed) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, closeGraceMs);
      stream.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Looks, once the TCP connection is over, whether the client had ended the TLS stream; breaks it off when not. */
function watchCut(stream: TLSSocket, underlay: TlsUnderlay, data: DataConnection): void {
  if (stream.readableEnded || stream.destroyed) return;
  if (underlay.readableLength > 0 || stream.readableLength > 0) {
    setTimeout(() => watchCut(stream, underlay, data), cutLookMs);
    return;
  }
  // The end of a stream is told a moment after its last byte was read.
  setTimeout(() => {
    if (stream.readableLength > 0) watchCut(stream, underlay, data);
    else if (!stream.readableEnded) data.cut();
  }, cutLookMs);
}

function secured(socket: Socket, tls: TlsSession): { data: DataConnection; stream: TLSSocket } {
  const underlay: TlsUnderlay = new TlsUnderlay(socket, () => watchCut(stream, underlay, data));
  underlay.on("error", () => undefined);
  const stream = tls.wrap(underlay);
  const data = new DataConnection(socket, { stream, underlay });
  return { data, stream };
}

/** Makes the accepted socket, which is paused, ready for a transfer. Rejects with a `DataFault`, the socket destroyed. */
export async function openData(socket: Socket, options: DataOptions): Promise<DataConnection> {
  const { tls, timeoutMs, requireSessionReuse } = options;
  const { data, stream } =
    tls === undefined ? { data: new DataConnection(socket), stream: undefined } : secured(socket, tls);
  socket.setTimeout(timeoutMs, () =>
    data.abort(new DataFault(426, "The data connection stood still for too long")),
  );
  if (stream === undefined) return data;
  try {
    await handshake(stream);
  } catch (error) {
    const fault = new DataFault(425, "The TLS handshake of the data connection failed", error);
    data.abort(fault);
    throw fault;
  }
  if (!requireSessionReuse || stream.isSessionReused()) return data;
  const fault = new DataFault(
    522,
    "The data connection has to resume the TLS session of the control connection",
  );
  data.abort(fault);
  throw fault;
}
