import type { DiskCalls } from "../lib/durable-file.ts";
import type { RegularFile } from "../lib/open-regular-file.ts";
import { exchangeErrorOf } from "./disk-fault.ts";
import { type ExchangeAttributes, ExchangeError, type ReadHandle } from "./exchange-session.ts";
import { attributesOf } from "./listing.ts";

const maxReadBytes = 256 * 1024;

/** A file that a client reads. */
export class Download implements ReadHandle {
  readonly kind = "read";
  readonly #file: RegularFile;
  readonly #disk: DiskCalls;
  readonly #closed: (isComplete: boolean) => void;
  readonly #pending = new Set<Promise<unknown>>();
  #isOpen = true;
  #settled: () => void = () => undefined;
  #readBytes = 0;
  #hasSeenEnd: boolean;

  /** `closed` is told whether the client has read the whole file; not when the link broke. */
  constructor(file: RegularFile, disk: DiskCalls, closed: (isComplete: boolean) => void) {
    this.#file = file;
    this.#disk = disk;
    this.#closed = closed;
    this.#hasSeenEnd = file.stats.size === 0;
  }

  async attributes(): Promise<ExchangeAttributes> {
    return attributesOf(this.#file.stats);
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (!this.#isOpen) throw new ExchangeError("failure", "The file is closed");
    const bytes = Buffer.allocUnsafe(Math.min(length, maxReadBytes));
    const reading = this.#disk.read(this.#file.fd, bytes, offset);
    this.#pending.add(reading);
    try {
      const count = await reading;
      this.#readBytes += count;
      if (offset + count >= this.#file.stats.size) this.#hasSeenEnd = true;
      return bytes.subarray(0, count);
    } catch (error) {
      throw exchangeErrorOf(error);
    } finally {
      this.#pending.delete(reading);
    }
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    await this.abandon();
    this.#closed(this.#hasSeenEnd && this.#readBytes >= this.#file.stats.size);
  }

  /** Closes without counting as picked up. */
  async abandon(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // A descriptor must not be closed, and its number reused, under a read that is still running.
    await Promise.allSettled(this.#pending);
    // Nothing was written: a fault here changes nothing.
    await this.#disk.close(this.#file.fd).catch(() => undefined);
    this.#settled();
  }

  /** `listener` is called once nothing is left to end. */
  onSettled(listener: () => void): void {
    this.#settled = listener;
  }
}
