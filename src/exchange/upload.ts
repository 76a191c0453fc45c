/**
 * One upload, from OPEN to its end.
 *
 *   open ──close──▶ closing ──▶ closed   durable, placed under its final name (or kept as unfinished), then answered
 *     └──abandon──▶ ended                the link broke: the bytes stay as an unfinished part
 *
 * An upload of which one write failed is not what its client meant to send: every further write and the close fail with the
 * same reason. So does the close of one that has a hole. Both leave the unfinished part, as a fault while closing does. What survives a crash: in `open` whatever the system had written
 * of the part; from `closed` on the whole file, in its place.
 */
import { killPoint } from "../lib/kill-point.ts";
import { exchangeErrorOf } from "./disk-fault.ts";
import {
  type AttributeChange,
  type ExchangeAttributes,
  ExchangeError,
  type WriteHandle,
} from "./exchange-session.ts";
import type { AheadBytes } from "./ahead-bytes.ts";
import type { UploadFile } from "./upload-file.ts";

export interface UploadOptions {
  readonly file: UploadFile;
  readonly ahead: AheadBytes;
  readonly isAppend: boolean;
  /** Continues a part without APPEND: a first write at the very beginning then means a new start. */
  readonly mayStartOver: boolean;
  readonly maxBytes: number;
  readonly openedSeconds: number;
  /** Makes the file durable and gives it its place. Called once, at the close. */
  readonly finish: (attributes: ExchangeAttributes) => Promise<void>;
  /** Called once, when nothing touches the unfinished file any more. */
  readonly settled: () => void;
}

export class Upload implements WriteHandle {
  readonly kind = "write";
  readonly #options: UploadOptions;
  readonly #file: UploadFile;
  readonly #ahead: AheadBytes;
  /** Why the upload cannot become a file any more. */
  #fault: ExchangeError | undefined;
  /** What the client has said that the size will be. */
  #declaredSize = 0;
  #state: "open" | "closing" | "closed" | "ended" = "open";
  #mayStartOver: boolean;
  #modifiedSeconds: number;
  #accessedSeconds: number;
  #done: Promise<void> | undefined;
  #settled: () => void = () => undefined;

  constructor(options: UploadOptions) {
    this.#options = options;
    this.#file = options.file;
    this.#ahead = options.ahead;
    this.#mayStartOver = options.mayStartOver;
    this.#modifiedSeconds = options.openedSeconds;
    this.#accessedSeconds = options.openedSeconds;
  }

  currentAttributes(): ExchangeAttributes {
    return {
      isDirectory: false,
      size: this.#size,
      mode: 0o640,
      modifiedSeconds: this.#modifiedSeconds,
      accessedSeconds: this.#accessedSeconds,
    };
  }

  async attributes(): Promise<ExchangeAttributes> {
    return this.currentAttributes();
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    await this.#orFail(() => this.#put(this.#options.isAppend ? this.#size : offset, bytes));
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#assertOpen();
    return await this.#read(offset, length).catch(rethrown);
  }

  async change(change: AttributeChange): Promise<void> {
    const { size } = change;
    if (size !== undefined && size !== this.#size) await this.#orFail(async () => this.#resize(size));
    this.#assertOpen();
    this.#modifiedSeconds = change.modifiedSeconds ?? this.#modifiedSeconds;
    this.#accessedSeconds = change.accessedSeconds ?? this.#accessedSeconds;
  }

  fail(reason: ExchangeError): void {
    this.#fault ??= reason;
  }

  /** What lies behind a hole is in a file without a name, which no crash leaves: nobody is told that it is durable. */
  async sync(): Promise<void> {
    this.#assertOpen();
    if (this.#fault !== undefined) throw this.#fault;
    const from = this.#file.size;
    if (from !== this.#size)
      throw new ExchangeError(
        "failure",
        `The file has a hole at byte ${from}: only what is in front of it can be made durable; fill it first`,
      );
    await this.#file.sync().catch(rethrown);
  }

  async close(): Promise<void> {
    this.#assertOpen();
    this.#state = "closing";
    this.#done = this.#complete();
    await this.#done;
  }

  /** The link ended, or the client broke the upload off. Resolves when the part is written; an upload whose close had begun is finished first. */
  async abandon(): Promise<void> {
    if (this.#state === "open") {
      this.#state = "ended";
      this.#done = this.#leave().finally(() => this.#settle());
    }
    // Whoever closed it was told; nothing else depends on the outcome.
    await this.#done?.catch(() => undefined);
  }

  /** `listener` is called once nothing is left to end. */
  onSettled(listener: () => void): void {
    this.#settled = listener;
  }

  /** Whether the client is gone or has closed it, so that another upload of the name needs only to wait. */
  get isEnding(): boolean {
    return this.#state !== "open";
  }

  async #complete(): Promise<void> {
    killPoint("upload.closing");
    try {
      this.#assertWhole();
      await this.#options.finish(this.currentAttributes());
      killPoint("upload.finished");
      this.#state = "closed";
    } catch (error) {
      throw exchangeErrorOf(error);
    } finally {
      await this.#leave();
      this.#settle();
    }
  }

  /** Of an upload that became a file nothing is left to write. */
  async #leave(): Promise<void> {
    await this.#ahead.close();
    if (this.#state === "closed") await this.#file.close();
    else await this.#file.leave();
  }

  /** With what lies behind holes. */
  get #size(): number {
    return Math.max(this.#file.size, this.#ahead.end, this.#declaredSize);
  }

  /** Does work whose failure is remembered: the upload cannot become a file any more. */
  async #orFail(work: () => Promise<void>): Promise<void> {
    this.#assertOpen();
    try {
      if (this.#fault !== undefined) throw this.#fault;
      this.#file.throwFault();
      await work();
    } catch (error) {
      this.#fault ??= exchangeErrorOf(error);
      throw this.#fault;
    }
  }

  async #put(at: number, bytes: Uint8Array): Promise<void> {
    // A resuming client begins where the part ends; one that begins at 0 sends the file anew, and the old tail must go.
    if (this.#mayStartOver && at === 0) this.#file.truncate(0);
    this.#mayStartOver = false;
    this.#assertFits(at + bytes.byteLength);
    if (at > this.#file.size) await this.#ahead.put(at, bytes, this.#file.size);
    else this.#file.put(at, bytes);
    if (!this.#ahead.isEmpty) await this.#join();
    await this.#file.room();
  }

  /** Takes over what was waiting for the hole in front of it. */
  async #join(): Promise<void> {
    for (;;) {
      const at = this.#file.size;
      const bytes = await this.#ahead.take(at);
      if (bytes.byteLength === 0) return;
      this.#assertOpen();
      this.#file.put(at, bytes);
      await this.#file.room();
    }
  }

  async #read(offset: number, length: number): Promise<Uint8Array> {
    const here = offset < this.#file.size ? await this.#file.read(offset, length) : new Uint8Array();
    const at = offset + here.byteLength;
    const left = Math.min(length - here.byteLength, this.#size - at);
    if (left <= 0 || at < this.#file.size || this.#ahead.isEmpty) return here;
    return Buffer.concat([here, await this.#ahead.read(at, left)]);
  }

  #resize(size: number): void {
    this.#assertFits(size);
    this.#declaredSize = size;
    this.#ahead.cut(size);
    if (size < this.#file.size) this.#file.truncate(size);
  }

  #assertWhole(): void {
    if (this.#fault !== undefined) throw this.#fault;
    const [from, to] = [this.#file.size, this.#size];
    if (from === to) return;
    throw new ExchangeError(
      "failure",
      `The file has a hole: bytes ${from} to ${(this.#ahead.start ?? to) - 1} never came; send it again`,
    );
  }

  #settle(): void {
    this.#options.settled();
    this.#settled();
  }

  #assertOpen(): void {
    if (this.#state !== "open") throw new ExchangeError("failure", "The upload is closed");
  }

  #assertFits(size: number): void {
    if (size <= this.#options.maxBytes) return;
    throw new ExchangeError(
      "tooLarge",
      `The file is larger than the ${this.#options.maxBytes} bytes allowed`,
    );
  }
}

function rethrown(error: unknown): never {
  throw exchangeErrorOf(error);
}
