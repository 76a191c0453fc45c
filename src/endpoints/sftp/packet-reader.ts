/**
 * Cuts the byte stream of an SFTP channel into packets (a 32-bit length, then that many bytes).
 *
 * A packet whole in one chunk is handed on without a copy; one that spans chunks is gathered in a buffer of its own, each
 * byte copied once. Buffers of large packets are used again when the reader gets them back: memory outside of the
 * JavaScript heap that comes and goes with every packet makes V8 collect garbage every few megabytes.
 */
import { maxPacketBytes } from "./wire.ts";

/** The stream breaks the protocol; only the end of the channel helps. */
export class BrokenStream extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BrokenStream";
  }
}

/** Sizes of buffers that are used again: for the packets of most clients, and for the largest ones. */
const lentSizes = [48 * 1024, maxPacketBytes];
const minLentBytes = 16 * 1024;
const maxSpareBytes = 1024 * 1024;

export class PacketReader {
  /** Weak, because not every packet is given back. */
  readonly #lent = new WeakSet<ArrayBufferLike>();
  #spare: Buffer[] = [];
  /** Bytes of a length field cut by a chunk's end. */
  #head: Buffer = Buffer.alloc(0);
  #packet: Buffer | undefined;
  #filled = 0;

  /** Calls `onPacket` for each packet completed by `chunk`. Throws `BrokenStream` on a length that cannot be. */
  push(chunk: Buffer, onPacket: (packet: Buffer) => void): void {
    let rest = this.#continuePacket(chunk, onPacket);
    if (this.#head.length > 0 && rest.length > 0) {
      rest = Buffer.concat([this.#head, rest]);
      this.#head = Buffer.alloc(0);
    }
    let at = 0;
    while (rest.length - at >= 4) {
      const length = lengthOf(rest, at);
      const end = at + 4 + length;
      if (end > rest.length) {
        this.#beginPacket(rest.subarray(at + 4), length);
        return;
      }
      onPacket(rest.subarray(at + 4, end));
      at = end;
    }
    if (at < rest.length) this.#head = rest.subarray(at);
  }

  /** Takes back the packet in which these bytes lie. Nothing of it may be used any more. */
  giveBack(bytes: Uint8Array): void {
    const { buffer } = bytes;
    if (!this.#lent.delete(buffer)) return;
    const spareBytes = this.#spare.reduce((sum, each) => sum + each.length, 0);
    if (spareBytes + buffer.byteLength <= maxSpareBytes) this.#spare.push(Buffer.from(buffer));
  }

  /** Keeps no buffers for packets to come. */
  dropSpare(): void {
    if (this.#spare.length > 0) this.#spare = [];
  }

  #beginPacket(bytes: Buffer, length: number): void {
    this.#packet = this.#bufferFor(length);
    this.#filled = bytes.copy(this.#packet);
  }

  #bufferFor(length: number): Buffer {
    const size = lentSizes.find((each) => each >= length);
    if (length < minLentBytes || size === undefined) return Buffer.allocUnsafe(length);
    const at = this.#spare.findIndex((each) => each.length === size);
    const [buffer = Buffer.allocUnsafeSlow(size)] = at < 0 ? [] : this.#spare.splice(at, 1);
    this.#lent.add(buffer.buffer);
    return buffer.subarray(0, length);
  }

  /** Adds to a packet begun earlier; returns what is left of the chunk. */
  #continuePacket(chunk: Buffer, onPacket: (packet: Buffer) => void): Buffer {
    const packet = this.#packet;
    if (packet === undefined) return chunk;
    const copied = chunk.copy(packet, this.#filled);
    this.#filled += copied;
    if (this.#filled < packet.length) return chunk.subarray(copied);
    this.#packet = undefined;
    onPacket(packet);
    return chunk.subarray(copied);
  }
}

function lengthOf(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length === 0 || length > maxPacketBytes)
    throw new BrokenStream(`packet length ${length} is not between 1 and ${maxPacketBytes}`);
  return length;
}
