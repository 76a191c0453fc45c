/**
 * One upload, from OPEN to its end.
 *
 *   open ──close──▶ closing ──▶ closed   durable, placed under its final name (or kept as unfinished), then answered
 *     └──abandon──▶ ended                the link broke: the bytes stay as an unfinished part
 *
 * A fault while closing leaves the unfinished part too. What survives a crash: in `open` whatever the system had written
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
import type { UploadFile } from "./upload-file.ts";

export interface UploadOptions {
  readonly file: UploadFile;
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
  #state: "open" | "closing" | "closed" | "ended" = "open";
  #mayStartOver: boolean;
  #modifiedSeconds: number;
  #accessedSeconds: number;
  #done: Promise<void> | undefined;
  #settled: () => void = () => undefined;

  constructor(options: UploadOptions) {
    this.#options = options;
    this.#file = options.file;
    this.#mayStartOver = options.mayStartOver;
    this.#modifiedSeconds = options.openedSeconds;
    this.#accessedSeconds = options.openedSeconds;
  }

  currentAttributes(): ExchangeAttributes {
    return {
      isDirectory: false,
      size: this.#file.size,
      mode: 0o640,
      modifiedSeconds: this.#modifiedSeconds,
      accessedSeconds: this.#accessedSeconds,
    };
  }

  async attributes(): Promise<ExchangeAttributes> {
    return this.currentAttributes();
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#assertOpen();
    this.#file.throwFault();
    const at = this.#options.isAppend ? this.#file.size : offset;
    // A resuming client begins where the part ends; one that begins at 0 sends the file anew, and the old tail must go.
    if (this.#mayStartOver && at === 0) this.#file.truncate(0);
    this.#mayStartOver = false;
    this.#assertFits(at, bytes.byteLength);
    this.#file.put(at, bytes);
    await this.#file.room();
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#assertOpen();
    return await this.#file.read(offset, length).catch(rethrown);
  }

  async change(change: AttributeChange): Promise<void> {
    this.#assertOpen();
    if (change.size !== undefined && change.size !== this.#file.size) {
      this.#assertFits(change.size, 0);
      this.#file.truncate(change.size);
    }
    this.#modifiedSeconds = change.modifiedSeconds ?? this.#modifiedSeconds;
    this.#accessedSeconds = change.accessedSeconds ?? this.#accessedSeconds;
  }

  async sync(): Promise<void> {
    this.#assertOpen();
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
      this.#done = this.#file.leave().finally(() => this.#settle());
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
      await this.#options.finish(this.currentAttributes());
      killPoint("upload.finished");
      this.#state = "closed";
    } catch (error) {
      throw exchangeErrorOf(error);
    } finally {
      await this.#file.close();
      this.#settle();
    }
  }

  #settle(): void {
    this.#options.settled();
    this.#settled();
  }

  #assertOpen(): void {
    if (this.#state !== "open") throw new ExchangeError("failure", "The upload is closed");
  }

  #assertFits(at: number, byteLength: number): void {
    const size = this.#file.size;
    if (at > size) {
      throw new ExchangeError(
        "failure",
        `Writing at ${at} would leave a hole after ${size} bytes; send in order`,
      );
    }
    if (at + byteLength > this.#options.maxBytes) {
      throw new ExchangeError(
        "tooLarge",
        `The file is larger than the ${this.#options.maxBytes} bytes allowed`,
      );
    }
  }
}

function rethrown(error: unknown): never {
  throw exchangeErrorOf(error);
}
