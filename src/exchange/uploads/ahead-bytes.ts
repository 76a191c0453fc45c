/**
 * Bytes of an upload that came before those in front of them: clients that keep many writes under way, and programs that
 * write where they like.
 *
 * They wait in a file without a name, each at its place, until the hole in front of them is filled. So the unfinished part
 * never has a hole: when the link breaks or the process dies, it is the beginning of the file, and can be continued.
 */
import { constants } from "node:fs";
import { randomBytes } from "node:crypto";
import { unlessMissing } from "../../lib/errors.ts";
import { type DiskCalls, writeWhole } from "../../lib/files/durable-file.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { ByteRanges } from "../byte-ranges.ts";
import { ExchangeError } from "../exchange-session.ts";

const maxHoles = 64;
const maxAheadBytes = 64 * 1024 * 1024;
const pieceBytes = 256 * 1024;
const openFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** No client can send a name with a backslash, so whatever is called so was left by a crash. */
const namePattern = /^\\[0-9a-f]{12}$/;

/** Whether a file among the unfinished ones has the name that such a file has for a moment. */
export function isAheadName(name: string): boolean {
  return namePattern.test(name);
}

export class AheadBytes {
  readonly #disk: DiskCalls;
  readonly #folder: PinnedFolder;
  readonly #ranges = new ByteRanges(maxHoles);
  #fd: Promise<number> | undefined;
  /** Calls take effect one after the other; the descriptor is closed behind the last. */
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(disk: DiskCalls, folder: PinnedFolder) {
    this.#disk = disk;
    this.#folder = folder;
  }

  get isEmpty(): boolean {
    return this.#ranges.first === undefined;
  }

  /** The first byte that is here. */
  get start(): number | undefined {
    return this.#ranges.first?.[0];
  }

  /** The first byte behind all that is here; 0 when there is nothing. */
  get end(): number {
    return this.#ranges.end;
  }

  /** Keeps bytes that belong behind a hole; `size` is that of the file in front of it. Throws when it is too much. */
  put(at: number, bytes: Uint8Array, size: number): Promise<void> {
    if (at + bytes.byteLength > size + maxAheadBytes) {
      throw new ExchangeError(
        "failure",
        `Writing at ${at} is more than 64 MiB ahead of the first ${size} bytes; send the file in order`,
      );
    }
    if (!this.#ranges.add(at, at + bytes.byteLength)) {
      throw new ExchangeError(
        "failure",
        `Writing at ${at} would leave more than ${maxHoles} holes; send the file in order`,
      );
    }
    return this.#inTurn(async () => writeWhole(this.#disk, await this.#opened(), bytes, at));
  }

  /** The next bytes that follow `at` without a hole, no longer kept here; empty when there is a hole. */
  async take(at: number): Promise<Uint8Array> {
    this.#ranges.keep(at, Number.MAX_SAFE_INTEGER);
    const { first } = this.#ranges;
    if (first === undefined || first[0] > at) return new Uint8Array();
    const bytes = await this.read(at, Math.min(pieceBytes, first[1] - at));
    this.#ranges.keep(at + bytes.byteLength, Number.MAX_SAFE_INTEGER);
    return bytes;
  }

  /** Bytes from `at`, zeros where there are holes. */
  read(at: number, length: number): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      const bytes = Buffer.alloc(length);
      for (let done = 0; done < length; ) {
        const count = await this.#disk.read(await this.#opened(), bytes.subarray(done), at + done);
        if (count === 0) break;
        done += count;
      }
      return bytes;
    });
  }

  /** Forgets everything from `size` on. */
  cut(size: number): void {
    this.#ranges.keep(0, size);
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#last.catch(() => undefined);
    const fd = await this.#fd?.catch(() => undefined);
    // Nothing of it is wanted any more.
    if (fd !== undefined) await this.#disk.close(fd).catch(() => undefined);
  }

  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new ExchangeError("failure", "The upload is closed"));
    const done = this.#last.then(job);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #opened(): Promise<number> {
    this.#fd ??= this.#create();
    return this.#fd;
  }

  async #create(): Promise<number> {
    const path = this.#folder.child(`\\${randomBytes(6).toString("hex")}`);
    const fd = await this.#disk.open(path, openFlags, 0o640);
    try {
      // A sweep of what was left by a crash may be quicker.
      await this.#disk.unlink(path).catch(unlessMissing);
      return fd;
    } catch (error) {
      await this.#disk.close(fd);
      throw error;
    }
  }
}
