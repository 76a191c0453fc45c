/**
 * The bytes of one upload on their way to the disk.
 *
 * Writes are gathered into chunks and written in the order in which they came, one at a time, while the next chunk fills.
 * The first fault stops everything after it, and the next call throws it. Two things shorten what a client waits for: the
 * file is made while the client is on its way to the first write; a first write that is short is probably the whole file
 * and is written and synced while the client is on its way to the close.
 */
import { type ExchangeError, exchangeErrorOf } from "../exchange-session.ts";
import { PartFile, type PartFileDeps } from "./part-file.ts";
import { type Chunk, chunkBytes, UploadChunks } from "./upload-chunks.ts";

const maxQueuedChunks = 3;
/** A client that has more to send fills its packets, which are 32 KiB at least with every known one. */
const shortWriteBytes = 32_000;

export interface UploadFileDeps extends PartFileDeps {
  /** Called with the first fault, after which nothing more is written. */
  readonly failed: (fault: ExchangeError) => void;
}

/** Jobs on one file, one after the other. The first fault is kept, and the jobs behind it are passed over. */
export class JobLine {
  readonly #failed: (fault: ExchangeError) => void;
  #last: Promise<void> = Promise.resolve();
  #fault: ExchangeError | undefined;

  constructor(failed: (fault: ExchangeError) => void) {
    this.#failed = failed;
  }

  throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  /** Resolves when the job is done, has failed or was passed over. */
  add(job: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(async () => {
      if (this.#fault !== undefined) return;
      await job().catch((error: unknown) => this.fail(error));
    });
    return this.#last;
  }

  fail(error: unknown): void {
    if (this.#fault !== undefined) return;
    this.#fault = exchangeErrorOf(error);
    this.#failed(this.#fault);
  }

  /** Resolves when all jobs added so far are over, whatever became of them. */
  idle(): Promise<void> {
    return this.#last;
  }

  /** Resolves when all jobs added so far are done; rejects with the first fault. */
  async done(): Promise<void> {
    await this.#last;
    this.throwFault();
  }
}

export class UploadFile {
  readonly #jobs: JobLine;
  readonly #part: PartFile;
  readonly #chunks = new UploadChunks((chunk) => this.#write(chunk));
  /** Chunks that are not written yet, the first one first. */
  readonly #writes: Promise<void>[] = [];
  #size: number;
  #isUntouched = true;
  #closing: Promise<void> | undefined;

  constructor(deps: UploadFileDeps) {
    this.#jobs = new JobLine(deps.failed);
    this.#part = new PartFile(deps, (error) => this.#jobs.fail(error));
    this.#size = deps.resumed?.size ?? 0;
  }

  /** Bytes taken so far, written or not. */
  get size(): number {
    return this.#size;
  }

  throwFault(): void {
    this.#jobs.throwFault();
  }

  /** Makes the file while the client, who is being answered, is still on its way to the first write. */
  begin(): void {
    setImmediate(() => {
      if (this.#closing === undefined) void this.#jobs.add(() => this.#part.made());
    });
  }

  /** Copies the bytes; `at` is not beyond the size. */
  put(at: number, bytes: Uint8Array): void {
    const isFirst = this.#isUntouched;
    this.#isUntouched = false;
    this.#chunks.put(at, bytes, isFirst);
    this.#size = Math.max(this.#size, at + bytes.byteLength);
    // Probably there is nothing more to come.
    if (isFirst && bytes.byteLength < shortWriteBytes) this.#beginSync();
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#writes.length > maxQueuedChunks) await this.#writes[0];
  }

  /** Cuts the file; `size` is not beyond its end. */
  truncate(size: number): void {
    this.#chunks.flush();
    this.#size = size;
    void this.#jobs.add(() => this.#part.truncate(size));
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#chunks.flush();
    await this.#jobs.done();
    return await this.#part.read(offset, Math.max(0, Math.min(length, this.#size - offset, chunkBytes)));
  }

  /** Resolves when everything taken so far is durable in the unfinished file. */
  async sync(): Promise<void> {
    this.#beginSync();
    await this.#jobs.done();
  }

  /** Writes what is still in memory, without making it durable: the link broke. Faults are left for the next open. */
  async leave(): Promise<void> {
    this.#chunks.flush();
    void this.#jobs.add(() => this.#part.made());
    await this.close();
  }

  /** Closes the descriptor once nothing uses it any more. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#jobs.idle().then(() => this.#part.close());
    return this.#closing;
  }

  #write(chunk: Chunk): void {
    const write = this.#jobs.add(() => this.#part.write(chunk));
    this.#writes.push(write);
    void write.then(() => {
      this.#writes.shift();
      this.#chunks.written(chunk);
    });
  }

  #beginSync(): void {
    this.#chunks.flush();
    void this.#jobs.add(() => this.#part.sync(this.#size < shortWriteBytes));
  }
}
