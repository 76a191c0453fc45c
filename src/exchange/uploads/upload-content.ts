/**
 * The bytes of an upload as its client sees them: the beginning, which goes to the unfinished file, and what came behind
 * holes, which waits until they are filled.
 */
import type { AheadBytes } from "./ahead-bytes.ts";
import { ExchangeError } from "../exchange-session.ts";
import type { UploadFile } from "./upload-file.ts";

export interface UploadContentOptions {
  readonly file: UploadFile;
  readonly ahead: AheadBytes;
  readonly isAppend: boolean;
  /** Continues a part without APPEND: a first write at the very beginning then means a new start. */
  readonly mayStartOver: boolean;
  readonly maxBytes: number;
}

export class UploadContent {
  readonly #options: UploadContentOptions;
  readonly #file: UploadFile;
  readonly #ahead: AheadBytes;
  #mayStartOver: boolean;
  /** What the client has said that the size will be. */
  #declaredSize = 0;
  #isSealed = false;

  constructor(options: UploadContentOptions) {
    this.#options = options;
    this.#file = options.file;
    this.#ahead = options.ahead;
    this.#mayStartOver = options.mayStartOver;
  }

  /** With what lies behind holes. */
  get size(): number {
    return Math.max(this.#file.size, this.#ahead.end, this.#declaredSize);
  }

  throwFault(): void {
    this.#file.throwFault();
  }

  /** Resolves when there is room for more. To be called one after the other. */
  async put(offset: number, bytes: Uint8Array): Promise<void> {
    const at = this.#options.isAppend ? this.size : offset;
    // A resuming client begins where the part ends; one that begins at 0 sends the whole file again, and the old tail must go.
    if (this.#mayStartOver && at === 0) this.#file.truncate(0);
    this.#mayStartOver = false;
    this.#assertFits(at + bytes.byteLength);
    if (at > this.#file.size) await this.#ahead.put(at, bytes, this.#file.size);
    else this.#file.put(at, bytes);
    if (!this.#ahead.isEmpty) await this.#join();
    await this.#file.room();
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const here = offset < this.#file.size ? await this.#file.read(offset, length) : new Uint8Array();
    const at = offset + here.byteLength;
    const left = Math.min(length - here.byteLength, this.size - at);
    if (left <= 0 || at < this.#file.size || this.#ahead.isEmpty) return here;
    return Buffer.concat([here, await this.#ahead.read(at, left)]);
  }

  resize(size: number): void {
    this.#assertFits(size);
    this.#declaredSize = size;
    this.#ahead.cut(size);
    if (size < this.#file.size) this.#file.truncate(size);
  }

  /** Throws when bytes never came. */
  assertWhole(): void {
    const [from, to] = [this.#file.size, this.size];
    if (from === to) return;
    throw new ExchangeError(
      "failure",
      `The file has a hole: bytes ${from} to ${(this.#ahead.start ?? to) - 1} never came; send it again`,
    );
  }

  /** What lies behind a hole is in a file without a name, which a crash removes: it cannot be called durable. */
  async syncUnlessHole(): Promise<void> {
    const from = this.#file.size;
    if (from !== this.size)
      throw new ExchangeError(
        "failure",
        `The file has a hole at byte ${from}: only what is in front of it can be made durable; fill it first`,
      );
    await this.#file.sync();
  }

  /** Resolves when everything taken so far is durable in the unfinished file. */
  sync(): Promise<void> {
    return this.#file.sync();
  }

  /** From now on nothing is taken over from behind holes. */
  seal(): void {
    this.#isSealed = true;
  }

  /** The upload became a file. */
  async close(): Promise<void> {
    await this.#ahead.close();
    await this.#file.close();
  }

  /** The upload stays a part: writes what of it is in memory. */
  async leave(): Promise<void> {
    this.seal();
    await this.#ahead.close();
    await this.#file.leave();
  }

  /** Takes over what was waiting for the hole in front of it. */
  async #join(): Promise<void> {
    for (;;) {
      const at = this.#file.size;
      const bytes = await this.#ahead.take(at);
      if (bytes.byteLength === 0) return;
      if (this.#isSealed) throw new ExchangeError("failure", "The upload is closed");
      this.#file.put(at, bytes);
      await this.#file.room();
    }
  }

  #assertFits(size: number): void {
    const { maxBytes } = this.#options;
    if (size <= maxBytes) return;
    throw new ExchangeError("tooLarge", `The file is larger than the ${maxBytes} bytes allowed`);
  }
}
