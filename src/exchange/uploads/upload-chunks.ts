export const chunkBytes = 256 * 1024;

/** Bytes that follow one another, and where they belong. */
export interface Chunk {
  /** As long as its room; the first `length` bytes are taken. */
  readonly buffer: Buffer;
  readonly start: number;
  readonly length: number;
}

/** Gathers writes that follow one another into chunks, and gives each away when it is full or the next write is apart. */
export class UploadChunks {
  readonly #full: (chunk: Chunk) => void;
  #chunk: Chunk | undefined;
  #spare: Buffer | undefined;

  constructor(full: (chunk: Chunk) => void) {
    this.#full = full;
  }

  /** Copies the bytes. `isProbablyAll`: a chunk is first made as long as they are. */
  put(at: number, bytes: Uint8Array, isProbablyAll: boolean): void {
    for (let taken = 0; taken < bytes.byteLength; )
      taken += this.#take(at + taken, bytes.subarray(taken), isProbablyAll);
  }

  /** Gives away what there is. */
  flush(): void {
    const chunk = this.#chunk;
    if (chunk === undefined) return;
    this.#chunk = undefined;
    this.#full(chunk);
  }

  /** The bytes of the chunk are written: its memory may be used again. */
  written({ buffer }: Chunk): void {
    if (buffer.byteLength === chunkBytes) this.#spare = buffer;
  }

  /** Copies what fits into the current chunk and returns how much that was. */
  #take(at: number, bytes: Uint8Array, isProbablyAll: boolean): number {
    const current = this.#chunk;
    if (current !== undefined && at !== current.start + current.length) this.flush();
    const chunk = this.#chunk ?? {
      buffer: this.#newBuffer(isProbablyAll ? bytes.byteLength : chunkBytes),
      start: at,
      length: 0,
    };
    const buffer = chunk.length < chunk.buffer.byteLength ? chunk.buffer : this.#grown(chunk);
    const count = Math.min(buffer.byteLength - chunk.length, bytes.byteLength);
    buffer.set(count === bytes.byteLength ? bytes : bytes.subarray(0, count), chunk.length);
    this.#chunk = { buffer, start: chunk.start, length: chunk.length + count };
    if (this.#chunk.length === chunkBytes) this.flush();
    return count;
  }

  #newBuffer(wanted: number): Buffer {
    if (wanted < chunkBytes) return Buffer.allocUnsafeSlow(wanted);
    const buffer = this.#spare ?? Buffer.allocUnsafeSlow(chunkBytes);
    this.#spare = undefined;
    return buffer;
  }

  #grown(chunk: Chunk): Buffer {
    const buffer = this.#newBuffer(chunkBytes);
    buffer.set(chunk.buffer.subarray(0, chunk.length));
    return buffer;
  }
}
