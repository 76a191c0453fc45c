/**
 * One SFTP session: the packets of one channel, in order, with bounded memory.
 *
 * States
 *   opening   nothing but INIT is taken; it is answered with VERSION and the extensions → serving
 *   serving   packets become requests, requests become replies
 *   draining  the daemon stops while uploads are under way: nothing new is opened; when the last upload is closed, or no
 *             request came for `stalledMs` → ending
 *   ending    no more input: the client sent EOF or closed the channel, the link broke, the stream could not be
 *             understood, or the daemon stops. What was received whole is still done; then → ended
 *   ended     EOF, exit status and CLOSE are sent (while there is a link), the exchange session is ended
 *
 * Order
 *   Requests take effect strictly first in, first out, and are answered in that order. Three things run faster than one
 *   by one without being seen: consecutive READs run side by side (their answers wait for each other), consecutive WRITEs
 *   to adjoining places of one file that wait at the same time go to the exchange as one, and replies that become ready in
 *   one turn of the event loop leave as one channel write.
 *
 * Back-pressure
 *   Out: no request is started while more than `maxUnsentBytes` wait in the batch, the channel or the socket, or while
 *   a key exchange holds the output back. A READ counts with its length from its start.
 *   In: the channel is paused while more than `maxQueuedBytes` of writes or `maxQueuedRequests` wait. The channel's
 *   window (2 MiB, kept by the library) then stops the client. A client that ignores its window is cut off.
 *
 * When the link breaks, requests that were received whole still take effect (a CLOSE that is here is a CLOSE), only reads
 * are dropped. A handle without a CLOSE stays an incomplete upload.
 */
import type { Socket } from "node:net";
import type { ServerChannel } from "ssh2";
import { ExchangeError, type ExchangeSession } from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/log.ts";
import { HandleTable } from "./handle-table.ts";
import { abandonHandles, type OperationContext, runRequest, runWrites } from "./operations.ts";
import { BrokenStream, PacketReader } from "./packet-reader.ts";
import { type Reply, versionReply } from "./reply.ts";
import { readRequest, type SftpRequest, type WriteRequest } from "./request.ts";
import { maxReadBytes } from "./wire.ts";

const maxUnsentBytes = 4 * 1024 * 1024;
const maxQueuedBytes = 4 * 1024 * 1024;
const maxQueuedRequests = 1024;
/** The library's window is 2 MiB; more than this unread in the channel means that the client does not keep to it. */
const maxUnreadBytes = 4 * 1024 * 1024;
const maxConcurrentReads = 8;
/** An upload that stands still for so long does not hold up a stop. */
const stalledMs = 2_000;
const stopping = new ExchangeError("failure", "The server is stopping; connect again in a moment");
/** WRITEs that run in a row are answered together, so a row must not be long. */
const maxRunBytes = 1024 * 1024;

/** Requests that change nothing; without a link nobody waits for their answers. */
const readingKinds: ReadonlySet<SftpRequest["kind"]> = new Set([
  "read",
  "readdir",
  "stat",
  "fstat",
  "realpath",
  "statvfs",
  "fstatvfs",
  "limits",
  "opendir",
  "refused",
]);

/** A request under way, or done and waiting for the replies before it. */
interface Slot {
  readonly isRead: boolean;
  readonly reservedBytes: number;
  reply: Reply | undefined;
}

export interface SftpSessionDeps {
  readonly channel: ServerChannel;
  readonly socket: Socket;
  readonly exchange: ExchangeSession;
  readonly maxOpenHandles: number;
  readonly log: Logger;
}

export class SftpSession {
  /** Resolves when everything received is done and the exchange session is ended. Never rejects. */
  readonly ended: Promise<void>;
  lastRequestAtMs = Date.now();

  readonly #channel: ServerChannel;
  readonly #socket: Socket;
  readonly #log: Logger;
  readonly #context: OperationContext;
  readonly #reader = new PacketReader();
  #resolveEnded: () => void = () => undefined;
  #queue: SftpRequest[] = [];
  #queuedBytes = 0;
  #slots: Slot[] = [];
  #reservedBytes = 0;
  #batch: Uint8Array[] = [];
  #batchBytes = 0;
  #isFlushScheduled = false;
  #isPumping = false;
  #isHeldByKeyExchange = false;
  #isOpened = false;
  #isInputOver = false;
  #isLinkLost = false;
  #isEnded = false;
  #drainTimer: NodeJS.Timeout | undefined;
  #exitStatus = 0;
  #farewell: string | undefined;

  constructor(deps: SftpSessionDeps) {
    this.#channel = deps.channel;
    this.#socket = deps.socket;
    this.#log = deps.log;
    const handles = new HandleTable(deps.maxOpenHandles);
    this.#context = { exchange: deps.exchange, handles, log: deps.log };
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#listen();
  }

  #listen(): void {
    const channel = this.#channel;
    channel.on("error", (error: Error) => this.#log.debug({ err: error }, "sftp channel failed"));
    channel.on("data", (chunk: Buffer) => this.#receive(chunk));
    channel.on("end", () => this.#endInput());
    channel.on("close", () => this.linkLost());
    channel.on("drain", () => this.#pump());
  }

  get isBusy(): boolean {
    return this.#slots.length > 0 || this.#queue.length > 0;
  }

  /** The socket took what waited in it. */
  socketDrained(): void {
    this.#pump();
  }

  /** A key exchange is over: what it held back is on its way. */
  keysExchanged(): void {
    this.#isHeldByKeyExchange = false;
    this.#pump();
  }

  /** Whether the client sent more than its window allows. */
  isOverrun(): boolean {
    return this.#channel.readableLength > maxUnreadBytes;
  }

  /** No answer can be sent any more. What was received is still done. */
  linkLost(): void {
    if (this.#isLinkLost) return;
    this.#isLinkLost = true;
    this.#batch = [];
    this.#batchBytes = 0;
    this.#isHeldByKeyExchange = false;
    // What the channel still holds is finite now, so it is taken whatever the limits say.
    this.#channel.resume();
    if (this.#channel.readableEnded || this.#channel.destroyed) this.#endInput();
    this.#pump();
  }

  /** Lets uploads under way come to their end, then takes no more requests, finishes those received, says good-bye. */
  drain(): void {
    this.lastRequestAtMs = Date.now();
    this.#drainTimer ??= setInterval(() => this.#drainIfDone(), stalledMs / 4);
    this.#drainIfDone();
  }

  #drainIfDone(): void {
    const isMoving = Date.now() - this.lastRequestAtMs < stalledMs;
    if (!this.#isInputOver && isMoving && this.#context.handles.isWriting) return;
    clearInterval(this.#drainTimer);
    this.#channel.pause();
    this.#endInput();
  }

  #endInput(): void {
    this.#isInputOver = true;
    this.#pump();
  }

  #receive(chunk: Buffer): void {
    if (this.#isInputOver) return;
    try {
      this.#reader.push(chunk, (packet) => this.#take(packet));
    } catch (error) {
      this.#refuseStream(messageOf(error), error);
    }
    this.#pump();
  }

  #take(packet: Buffer): void {
    const request = readRequest(packet);
    if (this.#isOpened && request.kind !== "init") {
      const isOpening = request.kind === "open" || request.kind === "opendir";
      if (isOpening && this.#drainTimer !== undefined) {
        this.#queue.push({ kind: "refused", id: request.id, reason: stopping });
        return;
      }
      if (request.kind === "write") this.#queuedBytes += request.bytes.length;
      this.#queue.push(request);
      return;
    }
    if (this.#isOpened || request.kind !== "init") {
      throw new BrokenStream(this.#isOpened ? "INIT came twice" : "the first packet is not INIT");
    }
    this.#isOpened = true;
    this.#send(versionReply());
  }

  #refuseStream(message: string, error: unknown): void {
    if (!(error instanceof BrokenStream)) this.#log.error({ err: error }, "reading an sftp packet failed");
    this.#log.warn({ reason: message }, "sftp session ended: its packets cannot be understood");
    this.#exitStatus = 1;
    this.#farewell = `sftp: ${message}\n`;
    this.#isInputOver = true;
  }

  /** Starts every request whose turn it is; pauses or resumes the input; ends when all is done. */
  #pump(): void {
    if (this.#isPumping || this.#isEnded) return;
    this.#isPumping = true;
    for (let next = this.#queue[0]; next !== undefined && this.#mayStart(next); next = this.#queue[0]) {
      this.#queue.shift();
      if (!(this.#isLinkLost && readingKinds.has(next.kind))) this.#start(next);
    }
    this.#isPumping = false;
    this.#steerInput();
    if (this.#isInputOver && !this.isBusy) this.#end();
  }

  #mayStart(request: SftpRequest): boolean {
    if (this.#isHeldByKeyExchange || this.#unsentBytes() > maxUnsentBytes) return false;
    if (this.#slots.length === 0) return true;
    return (
      request.kind === "read" &&
      this.#slots.length < maxConcurrentReads &&
      this.#slots.every((slot) => slot.isRead)
    );
  }

  #unsentBytes(): number {
    if (this.#isLinkLost) return 0;
    const waiting = this.#channel.writableLength + this.#socket.writableLength;
    return this.#batchBytes + this.#reservedBytes + waiting;
  }

  #steerInput(): void {
    if (this.#isInputOver || this.#isLinkLost) return;
    const isFull = this.#queuedBytes > maxQueuedBytes || this.#queue.length > maxQueuedRequests;
    if (isFull === this.#channel.isPaused()) return;
    if (isFull) this.#channel.pause();
    else this.#channel.resume();
  }

  #start(request: SftpRequest): void {
    this.lastRequestAtMs = Date.now();
    if (request.kind === "write") {
      this.#startWrites(request);
      return;
    }
    if (request.kind === "close") this.#reader.dropSpare();
    const reservedBytes = request.kind === "read" ? Math.min(request.length, maxReadBytes) : 0;
    const slot = { isRead: request.kind === "read", reservedBytes, reply: undefined };
    this.#finishInTurn(slot, runRequest(this.#context, request));
  }

  /** Runs the first WRITE and those to the same handle behind it; their memory is used again for the next packets. */
  #startWrites(first: WriteRequest): void {
    const run = [first];
    let bytes = first.bytes.length;
    for (let next = this.#queue[0]; next?.kind === "write"; next = this.#queue[0]) {
      if (next.handle !== first.handle || bytes + next.bytes.length > maxRunBytes) break;
      this.#queue.shift();
      run.push(next);
      bytes += next.bytes.length;
    }
    const work = runWrites(this.#context, run).finally(() => {
      this.#queuedBytes -= bytes;
      for (const request of run) this.#reader.giveBack(request.bytes);
    });
    this.#finishInTurn({ isRead: false, reservedBytes: 0, reply: undefined }, work);
  }

  #finishInTurn(slot: Slot, work: Promise<Reply>): void {
    this.#slots.push(slot);
    this.#reservedBytes += slot.reservedBytes;
    void work.then((reply) => {
      slot.reply = reply;
      this.#sendReady();
      this.#pump();
      if (this.#drainTimer !== undefined && !this.isBusy) this.#drainIfDone();
    });
  }

  #sendReady(): void {
    for (let slot = this.#slots[0]; slot?.reply !== undefined; slot = this.#slots[0]) {
      this.#slots.shift();
      this.#reservedBytes -= slot.reservedBytes;
      this.#send(slot.reply);
    }
  }

  #send(reply: Reply): void {
    if (this.#isLinkLost) return;
    for (const piece of reply) {
      this.#batch.push(piece);
      this.#batchBytes += piece.length;
    }
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    if (this.#batchBytes === 0 || this.#isEnded) return;
    const [first] = this.#batch;
    const isSingle = this.#batch.length === 1 && first !== undefined;
    const bytes = isSingle ? first : Buffer.concat(this.#batch, this.#batchBytes);
    this.#batch = [];
    this.#batchBytes = 0;
    const waitingBefore = this.#socket.writableLength;
    // Corked, because the library writes each encrypted packet in three pieces.
    this.#socket.cork();
    try {
      this.#channel.write(bytes);
      const isBlockedByWindow = this.#channel.writableLength > 0;
      this.#isHeldByKeyExchange ||= !isBlockedByWindow && this.#socket.writableLength === waitingBefore;
    } finally {
      this.#socket.uncork();
    }
  }

  /** OpenSSH's client hangs at its end unless EOF is answered with an exit status and CLOSE. */
  #end(): void {
    if (!this.#isLinkLost) this.#flush();
    this.#isEnded = true;
    clearInterval(this.#drainTimer);
    if (!this.#isLinkLost) {
      if (this.#farewell !== undefined) this.#channel.stderr.write(this.#farewell);
      this.#channel.exit(this.#exitStatus);
      this.#channel.end();
    }
    void this.#endExchange();
  }

  async #endExchange(): Promise<void> {
    try {
      await abandonHandles(this.#context);
      await this.#context.exchange.end();
    } catch (error) {
      this.#log.error({ err: error }, "ending the exchange session failed");
    } finally {
      this.#resolveEnded();
    }
  }
}
