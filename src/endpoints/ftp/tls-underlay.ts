import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/**
 * What lies between TLS and the TCP socket of a data connection. It keeps the end of the TCP stream to itself, so that
 * the TLS stream above ends only when the client has said so (close_notify): a connection that was cut, or that somebody
 * else has cut, ends without.
 */
export class TlsUnderlay extends Duplex {
  readonly #socket: Socket;
  /** Why something could not be sent. */
  writeFault: Error | undefined;

  /** `over` is called once nothing more can come from the client and all that came has been passed on. */
  constructor(socket: Socket, over: () => void) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.once("end", over);
    socket.once("close", () => {
      // A client that resets the connection right behind its last bytes has sent them all the same.
      for (let chunk = readRest(socket); chunk !== undefined; chunk = readRest(socket)) this.push(chunk);
      over();
    });
    socket.pause();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // Kept and not told: what was received before counts, whatever has become of the way back.
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
