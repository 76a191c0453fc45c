/**
 * The rendered files of one export, behind one another in one file on the disk.
 *
 * The manifest names each file's SHA-256, so all of them have to be rendered before the first is sent; a target that is away
 * gets many attempts, and the spool has them rendered once for all. Of fifty thousand completions neither the rows nor the
 * files are in memory at once. Nothing depends on the spool: after a crash the window of the export gives the same bytes
 * again. So it is not synced, and the next start removes what a crash has left.
 */
import { createHash, type Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { open, unlink } from "../lib/files/changes.ts";

export interface SpooledFile {
  readonly name: string;
  readonly offset: number;
  readonly length: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

const bufferBytes = 256 * 1024;

async function writeAll(handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, at + done);
    done += bytesWritten;
  }
}

export class Spool {
  readonly #path: string;
  readonly #handle: FileHandle;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** How much has been written to the disk. */
  #written = 0;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /** Begins an empty spool in the place of one that is there. */
  static async create(path: string): Promise<Spool> {
    return new Spool(path, await open(path, "w+", 0o640));
  }

  /** Writes one file, piece by piece. One after the other: files lie behind one another. */
  async write(name: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<SpooledFile> {
    const offset = this.#written + this.#pendingBytes;
    const hash = createHash("sha256");
    for await (const piece of pieces) await this.#append(Buffer.from(piece), hash);
    const length = this.#written + this.#pendingBytes - offset;
    return { name, offset, length, sha256: hash.digest("hex") };
  }

  async #append(bytes: Uint8Array, hash: Hash): Promise<void> {
    hash.update(bytes);
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.byteLength;
    if (this.#pendingBytes >= bufferBytes) await this.flush();
  }

  /** After it, everything written can be read. */
  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    await writeAll(this.#handle, bytes, this.#written);
    this.#written += bytes.byteLength;
  }

  async read({ offset, length }: SpooledFile): Promise<Uint8Array> {
    const bytes = Buffer.alloc(length);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await this.#handle.read(bytes, done, length - done, offset + done);
      if (bytesRead === 0) throw new Error(`${this.#path} has been cut: it is shorter than what was written`);
      done += bytesRead;
    }
    return bytes;
  }

  /** Removes it from the disk. */
  async remove(): Promise<void> {
    await this.#handle.close();
    await unlink(this.#path);
  }
}
