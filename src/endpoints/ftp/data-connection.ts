/**
 * One data connection, from the accepted socket to its end.
 *
 * An upload is whole only when the client ends the connection in order: a FIN, and on TLS a close_notify before it. A reset,
 * a FIN alone on TLS, a stand-still or an abort rejects with a `DataFault` instead.
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { DataFault } from "./replies.ts";
import { handshake, type TlsSession } from "./tls-session.ts";

/** How long a client may take to close its side when everything has been sent. */
const closeGraceMs = 1_000;
/** How often a TLS stream is checked after the end of its TCP connection, while its content is still being read. */
const cutCheckMs = 10;
const nothing = Buffer.alloc(0);

export interface DataOptions {
  /** Undefined: without TLS. */
  readonly tls: TlsSession | undefined;
  readonly requireSessionReuse: boolean;
  /** How long the connection may stand still. */
  readonly timeoutMs: number;
}

const cutWithoutNotice = "The data connection ended without TLS close_notify: what came may not be all";

/**
 * The stream between TLS and the TCP socket of a data connection. It does not pass on the end of the TCP stream, so that
 * the TLS stream above ends only with a close_notify of the client: a connection that somebody has cut ends without.
 */
class TlsUnderlay extends Duplex {
  readonly #socket: Socket;
  writeFault: Error | undefined;

  /** Calls `over` when no more can come from the client and all that came has been passed on. */
  constructor(socket: Socket, over: () => void) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once("end", over);
    socket.once("close", () => {
      // A client may reset the connection right behind its last bytes.
      for (let chunk = readRest(socket); chunk !== undefined; chunk = readRest(socket)) this.push(chunk);
      over();
    });
    socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // Kept back: what was received before counts, whatever becomes of the way back.
    this.#socket.write(chunk, (error) => {
      this.writeFault ??= error ?? undefined;
      done();
    });
  }

  /** The records of a handshake leave together. */
  override _writev(
    chunks: readonly { readonly chunk: Buffer; readonly encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), "latin1", done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

function readRest(socket: Socket): Buffer | undefined {
  const chunk: unknown = socket.read();
  return Buffer.isBuffer(chunk) ? chunk : undefined;
}

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

  /** Node reports a reset right behind bytes as an end in order; an empty write tells the two apart. */
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
   * Ends the connection after the last byte. True when the client then closes it in order; false when it has not yet: it may
   * wait for our reply, or the bytes may still lie in the system's buffers. Rejects after a reset.
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

  /** After `endSending`: resolves when the connection is gone; true when the client has closed it in order. */
  async hasEndedInOrder(): Promise<boolean> {
    const stream = this.#stream;
    if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", () => resolve()));
    return this.#isEndedInOrder;
  }

  /** Gives the client a moment to close the connection. */
  letGo(): void {
    this.#destroyInTime();
  }

  /** Ends the connection after the last byte has come, without waiting for it. */
  endReceiving(): void {
    this.#stream.end();
    this.#destroyInTime();
  }

  /** The client has closed a TLS connection without close_notify, which matters only before everything is sent. */
  cut(): void {
    if (this.#isAllSent) this.#stream.destroy();
    else this.abort(new DataFault(426, cutWithoutNotice));
  }

  /** Ends the connection now; the calls in progress reject with the fault. */
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

  /** Resolves when `isSo`, checked at each event; rejects when the connection closes before. */
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

/** Checks after the end of the TCP connection whether the client has ended the TLS stream, and cuts the connection if not. */
function watchCut(stream: TLSSocket, underlay: TlsUnderlay, data: DataConnection): void {
  if (stream.readableEnded || stream.destroyed) return;
  if (underlay.readableLength > 0 || stream.readableLength > 0) {
    setTimeout(() => watchCut(stream, underlay, data), cutCheckMs);
    return;
  }
  // A stream reports its end a moment after its last byte was read.
  setTimeout(() => {
    if (stream.readableLength > 0) watchCut(stream, underlay, data);
    else if (!stream.readableEnded) data.cut();
  }, cutCheckMs);
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
