/**
 * Sockets that read into one buffer, which all of them share, instead of one new buffer of 64 KB for each read.
 *
 * A large upload would otherwise take memory outside of the JavaScript heap for each byte three times: for the read, for
 * the decrypted bytes, and for putting together what two reads have cut. V8 collects garbage whenever so much of that was
 * taken; with one large buffer a quarter of the processor time of an upload is saved (docs/decisions/0017-speed-parts.md).
 *
 * The bytes in the buffer are those of the next read as soon as the listeners of "data" return. The SSH library keeps parts
 * of what it was given while keys are exchanged for the first time; later it decrypts every byte into memory of its own
 * before it returns. So `mayShare` is to say no until the user is signed in, and gets copies until then.
 */
import { createRequire } from "node:module";
import { type OnReadOpts, Socket, type SocketConstructorOpts } from "node:net";

/** The library's native ciphers, which a rebuild of the packages could bring, decrypt in the bytes they are given. */
const { bindingAvailable } = createRequire(import.meta.url)("ssh2/lib/protocol/crypto.js") as {
  readonly bindingAvailable: boolean;
};

const buffer = Buffer.allocUnsafeSlow(512 * 1024);

/** What Node's own servers make their sockets with; `handle` is not in its documentation. */
type AdoptingOptions = SocketConstructorOpts & { readonly handle: unknown; readonly onread: OnReadOpts };

export interface SharedReadsOptions {
  /** Asked for each read. */
  readonly mayShare: (socket: Socket) => boolean;
  /** Called for every read. */
  readonly received?: ((bytes: number) => void) | undefined;
}

/**
 * Takes over a socket that was accepted with `pauseOnConnect`. The given one is destroyed, and the connection goes on in the
 * returned one, with what lies in the given one unread.
 */
export function withSharedReads(accepted: Socket, { mayShare, received }: SharedReadsOptions): Socket {
  const holder = accepted as unknown as { _handle: unknown };
  const handle = holder._handle;
  // The client is gone already.
  if (typeof handle !== "object" || handle === null) return accepted;
  // Reading from one that has nothing would begin to read from the connection.
  const unread: Buffer | null = accepted.readableLength > 0 ? accepted.read() : null;
  holder._handle = null;
  accepted.destroy();
  const options: AdoptingOptions = {
    handle,
    onread: {
      buffer,
      callback(count) {
        received?.(count);
        const chunk = buffer.subarray(0, count);
        socket.emit("data", !bindingAvailable && mayShare(socket) ? chunk : Buffer.from(chunk));
        return true;
      },
    },
  };
  const socket: Socket = new Socket(options);
  if (unread !== null) {
    received?.(unread.length);
    socket.unshift(unread);
  }
  return socket;
}
