/**
 * One upload, from OPEN to its end.
 *
 *   open ──close──▶ closing ──▶ closed   durable, placed under its final name (or kept as unfinished), then answered
 *     └──abandon──▶ ended                the link broke: the bytes stay as an unfinished part
 *
 * An upload of which one write failed is not what its client meant to send: every further write and the close fail with
 * the same reason. So does the close of one that has a hole. Both leave the unfinished part, as a fault while closing
 * does. What survives a crash: in `open` whatever the system had written of the part; from `closed` on the whole file, in
 * its place.
 */
import { killPoint } from "../../lib/kill-point.ts";
import { completeUpload, type Destination } from "./complete-upload.ts";
import {
  type AttributeChange,
  type ExchangeAttributes,
  ExchangeError,
  exchangeErrorOf,
  type WriteHandle,
} from "../exchange-session.ts";
import type { ChannelTransfers } from "../transfer-figures.ts";
import type { CurrentUpload } from "./upload-claims.ts";
import { layDown } from "./node-parts.ts";
import type { UploadContent } from "./upload-content.ts";

export interface UploadOptions {
  readonly content: UploadContent;
  readonly destination: Destination;
  /** Counts what is written, and how it ends. */
  readonly transfers: ChannelTransfers;
  readonly openedSeconds: number;
  /** Called once, when nothing touches the unfinished file any more. */
  readonly releaseClaim: () => void;
}

export class Upload implements WriteHandle, CurrentUpload {
  readonly kind = "write";
  readonly #options: UploadOptions;
  readonly #content: UploadContent;
  /** Why the upload cannot become a file any more. */
  #fault: ExchangeError | undefined;
  #state: "open" | "closing" | "closed" | "ended" = "open";
  #modifiedSeconds: number;
  #accessedSeconds: number;
  #done: Promise<void> | undefined;
  #onEnded: () => void = () => undefined;

  constructor(options: UploadOptions) {
    this.#options = options;
    this.#content = options.content;
    this.#modifiedSeconds = options.openedSeconds;
    this.#accessedSeconds = options.openedSeconds;
  }

  currentAttributes(): ExchangeAttributes {
    return {
      isDirectory: false,
      size: this.#content.size,
      mode: 0o640,
      modifiedSeconds: this.#modifiedSeconds,
      accessedSeconds: this.#accessedSeconds,
    };
  }

  async attributes(): Promise<ExchangeAttributes> {
    return this.currentAttributes();
  }

  async write(offset: number, bytes: Uint8Array): Promise<void> {
    this.#options.transfers.bytesIn += bytes.length;
    await this.#orFail(() => this.#content.put(offset, bytes));
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    this.#assertOpen();
    return await this.#content.read(offset, length).catch(rethrown);
  }

  async change(change: AttributeChange): Promise<void> {
    const { size } = change;
    if (size !== undefined && size !== this.#content.size)
      await this.#orFail(async () => this.#content.resize(size));
    this.#assertOpen();
    this.#modifiedSeconds = change.modifiedSeconds ?? this.#modifiedSeconds;
    this.#accessedSeconds = change.accessedSeconds ?? this.#accessedSeconds;
  }

  fail(reason: ExchangeError): void {
    this.#fault ??= reason;
  }

  async sync(): Promise<void> {
    this.#assertOpen();
    if (this.#fault !== undefined) throw this.#fault;
    await this.#content.syncUnlessHole().catch(rethrown);
  }

  async close(): Promise<void> {
    this.#assertOpen();
    this.#state = "closing";
    this.#done = this.#complete();
    await this.#done;
  }

  /** The upload was interrupted. Resolves when the part is written; an upload whose close had begun is finished first. */
  async abandon(): Promise<void> {
    if (this.#state === "open") {
      this.#state = "ended";
      this.#done = this.#end();
    }
    // The close has answered with the fault; nothing else depends on the outcome.
    await this.#done?.catch(() => undefined);
  }

  /** `listener` is called once nothing is left to end. */
  onEnded(listener: () => void): void {
    this.#onEnded = listener;
  }

  get isEnding(): boolean {
    return this.#state !== "open";
  }

  async #complete(): Promise<void> {
    killPoint("upload.closing");
    this.#content.seal();
    try {
      if (this.#fault !== undefined) throw this.#fault;
      this.#content.assertWhole();
      await completeUpload(this.#options.destination, this.#content, this.currentAttributes());
      killPoint("upload.finished");
      this.#state = "closed";
    } catch (error) {
      throw exchangeErrorOf(error);
    } finally {
      await this.#end();
    }
  }

  /** Of an upload that became a file nothing is left to write. */
  async #end(): Promise<void> {
    const { transfers } = this.#options;
    if (this.#state === "closed") transfers.uploadsComplete += 1;
    else transfers.uploadsBroken += 1;
    try {
      if (this.#state === "closed") await this.#content.close();
      else await this.#leavePart();
    } finally {
      this.#options.releaseClaim();
      this.#onEnded();
    }
  }

  async #leavePart(): Promise<void> {
    await this.#content.leave();
    await layDown(this.#options.destination);
  }

  /** Does work whose failure is remembered: the upload cannot become a file any more. */
  async #orFail(work: () => Promise<void>): Promise<void> {
    this.#assertOpen();
    try {
      if (this.#fault !== undefined) throw this.#fault;
      this.#content.throwFault();
      await work();
    } catch (error) {
      this.#fault ??= exchangeErrorOf(error);
      throw this.#fault;
    }
  }

  #assertOpen(): void {
    if (this.#state !== "open") throw new ExchangeError("failure", "The upload is closed");
  }
}

function rethrown(error: unknown): never {
  throw exchangeErrorOf(error);
}
