import type { DiskCalls } from "../../lib/files/durable-file.ts";
import type { RegularFile } from "../../lib/files/open-regular-file.ts";
import {
  type ExchangeAttributes,
  ExchangeError,
  exchangeErrorOf,
  type ReadHandle,
} from "../exchange-session.ts";
import { attributesOf } from "./listing.ts";
import { noBytes, type PartOfFile } from "./partial-downloads.ts";

const maxReadBytes = 256 * 1024;

export type ReadPart = Pick<PartOfFile, "stats" | "ranges" | "isBroken">;

/** A file that a client reads. */
export class Download implements ReadHandle {
  readonly kind = "read";
  readonly #file: RegularFile;
  readonly #disk: DiskCalls;
  readonly #ended: (read: ReadPart) => void;
  readonly #pending = new Set<Promise<unknown>>();
  #isOpen = true;
  #onEnded: () => void = () => undefined;
  readonly #ranges = noBytes();
  #hasRead: boolean;

  /** `ended` gets what the client has read, if it has asked for anything. */
  constructor(file: RegularFile, disk: DiskCalls, ended: (read: ReadPart) => void) {
    this.#file = file;
    this.#disk = disk;
    this.#ended = ended;
    this.#hasRead = file.stats.size === 0;
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
      this.#ranges.add(offset, offset + count);
      this.#hasRead = true;
      return bytes.subarray(0, count);
    } catch (error) {
      throw exchangeErrorOf(error);
    } finally {
      this.#pending.delete(reading);
    }
  }

  async close(): Promise<void> {
    await this.#end(false);
  }

  /** Closes without counting as picked up; what was read counts when the client goes on with it. */
  async abandon(): Promise<void> {
    await this.#end(true);
  }

  async #end(isBroken: boolean): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    // A descriptor must not be closed, and its number reused, under a read that is still running.
    await Promise.allSettled(this.#pending);
    // Nothing was written: a fault here changes nothing.
    await this.#disk.close(this.#file.fd).catch(() => undefined);
    this.#onEnded();
    if (this.#hasRead) this.#ended({ stats: this.#file.stats, ranges: this.#ranges, isBroken });
  }

  /** `listener` is called once nothing is left to end. */
  onEnded(listener: () => void): void {
    this.#onEnded = listener;
  }
}
