/**
 * The bytes of one upload on their way to the disk.
 *
 * Writes are gathered into chunks and written in the order in which they came, one at a time, while the next chunk fills.
 * The first fault stops everything after it and is told at the next call. Three things shorten what a client waits for:
 * the file is made while the client is on its way to the first write; a first write that is short is probably the whole
 * file and is written and synced while the client is on its way to the close; a long file is synced in the background
 * every 32 MiB.
 */
import { constants } from "node:fs";
import { type DiskCalls, writeWhole } from "../lib/files/durable-file.ts";
import { systemCodeOf } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { PinnedFolder } from "../lib/files/open-regular-file.ts";
import { exchangeErrorOf } from "./disk-fault.ts";
import { syncShort } from "../lib/files/short-sync.ts";
import type { DiskSpace } from "./disk-space.ts";
import type { ExchangeError } from "./exchange-session.ts";

const chunkBytes = 256 * 1024;
const maxQueuedChunks = 3;
/** A client that has more to send fills its packets, which are 32 KiB at least with every known one. */
const shortWriteBytes = 32_000;
const backgroundSyncBytes = 32 * 1024 * 1024;
const spaceCheckBytes = 64 * 1024 * 1024;
const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

interface Chunk {
  readonly buffer: Buffer;
  readonly start: number;
  readonly length: number;
}

export interface UploadFileDeps {
  readonly disk: DiskCalls;
  readonly space: Pick<DiskSpace, "assertEnough">;
  /** Told of the first fault, after which nothing more is written. */
  readonly failed: (fault: ExchangeError) => void;
  readonly folder: PinnedFolder;
  readonly name: string;
  /** An unfinished part that is continued; without it a new file is made. */
  readonly resumed?: { readonly fd: number; readonly size: number } | undefined;
}

export class UploadFile {
  readonly #deps: UploadFileDeps;
  #fd: number | undefined;
  #size: number;
  #chunk: Chunk | undefined;
  #spare: Buffer | undefined;
  #queue: Promise<void> = Promise.resolve();
  readonly #flushes: Promise<void>[] = [];
  #fault: ExchangeError | undefined;
  #isUntouched = true;
  #isDirty = false;
  #unsyncedBytes = 0;
  #uncheckedBytes = 0;
  #backgroundSync: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(deps: UploadFileDeps) {
    this.#deps = deps;
    this.#fd = deps.resumed?.fd;
    this.#size = deps.resumed?.size ?? 0;
    // A part that was left behind by a broken link has never been synced.
    this.#isDirty = deps.resumed !== undefined;
  }

  /** Bytes taken so far, written or not. */
  get size(): number {
    return this.#size;
  }

  throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Makes the file while the client, who is being answered, is still on its way to the first write. */
  begin(): void {
    setImmediate(() => {
      if (this.#closing === undefined) void this.#enqueue(async () => void (await this.#opened()));
    });
  }

  /** Copies the bytes; `at` is not beyond the size. */
  put(at: number, bytes: Uint8Array): void {
    const isFirst = this.#isUntouched;
    this.#isUntouched = false;
    let taken = 0;
    while (taken < bytes.byteLength) taken += this.#take(at + taken, bytes.subarray(taken), isFirst);
    this.#size = Math.max(this.#size, at + bytes.byteLength);
    // Probably there is nothing more to come.
    if (isFirst && bytes.byteLength < shortWriteBytes) this.#enqueueSync();
  }

  /** Copies what fits into the current chunk and returns how much that was. */
  #take(at: number, bytes: Uint8Array, isFirst: boolean): number {
    const current = this.#chunk;
    if (current !== undefined && at !== current.start + current.length) this.#flush();
    const chunk = this.#chunk ?? {
      buffer: this.#newBuffer(isFirst ? bytes.byteLength : chunkBytes),
      start: at,
      length: 0,
    };
    const buffer = chunk.length < chunk.buffer.byteLength ? chunk.buffer : this.#grown(chunk);
    const count = Math.min(buffer.byteLength - chunk.length, bytes.byteLength);
    buffer.set(count === bytes.byteLength ? bytes : bytes.subarray(0, count), chunk.length);
    this.#chunk = { buffer, start: chunk.start, length: chunk.length + count };
    if (this.#chunk.length === chunkBytes) this.#flush();
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

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#flushes.length > maxQueuedChunks) await this.#flushes[0];
  }

  /** Cuts the file; `size` is not beyond its end. */
  truncate(size: number): void {
    this.#flush();
    this.#size = size;
    void this.#enqueue(async () => {
      const fd = await this.#opened();
      this.#isDirty = true;
      await this.#deps.disk.ftruncate(fd, size);
      killPoint("upload.cut");
    });
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#flush();
    await this.#drained();
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, this.#size - offset, chunkBytes)));
    if (bytes.byteLength === 0 || this.#fd === undefined) return bytes;
    return bytes.subarray(0, await this.#deps.disk.read(this.#fd, bytes, offset));
  }

  /** Resolves when everything taken so far is durable in the unfinished file. */
  async sync(): Promise<void> {
    this.#enqueueSync();
    await this.#drained();
  }

  /** Writes what is still in memory, without making it durable: the link broke. Faults are left for the next open. */
  async leave(): Promise<void> {
    this.#flush();
    void this.#enqueue(async () => void (await this.#opened()));
    await this.close();
    killPoint("upload.left");
  }

  /** Closes the descriptor once nothing uses it any more. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#closed();
    return this.#closing;
  }

  async #closed(): Promise<void> {
    await this.#queue;
    await this.#backgroundSync;
    const fd = this.#fd;
    this.#fd = undefined;
    // Everything that had to be durable has been synced: a fault here changes nothing.
    if (fd !== undefined) await this.#deps.disk.close(fd).catch(() => undefined);
  }

  async #drained(): Promise<void> {
    await this.#queue;
    this.throwFault();
  }

  /** Jobs run one after the other; after a fault they are passed over. */
  #enqueue(job: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(async () => {
      if (this.#fault !== undefined) return;
      await job().catch((error: unknown) => this.#keepFault(error));
    });
    return this.#queue;
  }

  #keepFault(error: unknown): void {
    if (this.#fault !== undefined) return;
    this.#fault = exchangeErrorOf(error);
    this.#deps.failed(this.#fault);
  }

  #flush(): void {
    const chunk = this.#chunk;
    if (chunk === undefined) return;
    this.#chunk = undefined;
    const flush = this.#enqueue(() => this.#writeChunk(chunk));
    this.#flushes.push(flush);
    void flush.then(() => {
      this.#flushes.shift();
      if (chunk.buffer.byteLength === chunkBytes) this.#spare = chunk.buffer;
    });
  }

  async #writeChunk(chunk: Chunk): Promise<void> {
    const fd = await this.#opened();
    killPoint("upload.writing");
    await this.#checkSpace(chunk.length);
    this.#isDirty = true;
    await writeWhole(this.#deps.disk, fd, chunk.buffer.subarray(0, chunk.length), chunk.start);
    killPoint("upload.written");
    this.#unsyncedBytes += chunk.length;
    if (this.#unsyncedBytes >= backgroundSyncBytes) this.#syncInBackground(fd);
  }

  async #checkSpace(bytes: number): Promise<void> {
    this.#uncheckedBytes += bytes;
    if (this.#uncheckedBytes < spaceCheckBytes) return;
    this.#uncheckedBytes = 0;
    await this.#deps.space.assertEnough();
  }

  #syncInBackground(fd: number): void {
    if (this.#backgroundSync !== undefined) return;
    this.#unsyncedBytes = 0;
    // The kernel tells a lost write once only, so a fault seen here has to be kept for the close.
    this.#backgroundSync = this.#deps.disk
      .fdatasync(fd)
      .catch((error: unknown) => this.#keepFault(error))
      .finally(() => {
        this.#backgroundSync = undefined;
      });
  }

  #enqueueSync(): void {
    this.#flush();
    void this.#enqueue(async () => {
      const fd = await this.#opened();
      await this.#backgroundSync;
      if (!this.#isDirty) return;
      this.#isDirty = false;
      const { disk } = this.#deps;
      await (this.#size < shortWriteBytes ? syncShort(disk, fd) : disk.fsync(fd));
      killPoint("upload.synced");
    });
  }

  /** The descriptor; makes the file when it is not there yet. */
  async #opened(): Promise<number> {
    this.#fd ??= await this.#create();
    return this.#fd;
  }

  /** Always a new file: an older part may share its bytes with a file that has arrived (a crash between link and unlink). */
  async #create(): Promise<number> {
    const { disk, folder, name } = this.#deps;
    this.#isDirty = true;
    killPoint("upload.creating");
    try {
      return await disk.open(folder.child(name), createFlags, 0o640);
    } catch (error) {
      if (systemCodeOf(error) !== "EEXIST") throw error;
    }
    await disk.unlink(folder.child(name));
    killPoint("upload.stalePartRemoved");
    return await disk.open(folder.child(name), createFlags, 0o640);
  }
}
