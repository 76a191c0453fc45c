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
import type { Logger } from "../../lib/logs/log.ts";
import { HandleTable } from "./handle-table.ts";
import { abandonHandles, type OperationContext, runRequest, runWrites } from "./operations.ts";
import { BrokenStream, PacketReader } from "./packet-reader.ts";
import { type Reply, versionReply } from "./reply.ts";
import { ReplyOutput } from "./reply-output.ts";
import { readRequest, type SftpRequest } from "./request.ts";
import { RunningRequests } from "./running-requests.ts";
import { WaitingRequests } from "./waiting-requests.ts";

const maxUnsentBytes = 4 * 1024 * 1024;
/** The library's window is 2 MiB; more than this unread in the channel means that the client does not keep to it. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** An upload that stands still for so long does not hold up a stop. */
const stalledMs = 2_000;
const stopping = new ExchangeError("failure", "The server is stopping; connect again in a moment");

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

export interface SftpSessionDeps {
  readonly channel: ServerChannel;
  readonly socket: Socket;
  readonly exchange: ExchangeSession;
  readonly maxOpenHandles: number;
  readonly log: Logger;
}

/** Why a session ends, as its client is told. */
interface Farewell {
  readonly exitStatus: number;
  readonly text: string | undefined;
}

export class SftpSession {
  /** Resolves when everything received is done and the exchange session is ended. Never rejects. */
  readonly ended: Promise<void>;
  lastRequestAtMs = Date.now();

  readonly #channel: ServerChannel;
  readonly #log: Logger;
  readonly #context: OperationContext;
  readonly #reader = new PacketReader();
  readonly #waiting = new WaitingRequests();
  readonly #running = new RunningRequests();
  readonly #output: ReplyOutput;
  readonly #done = Promise.withResolvers<void>();
  #isPumping = false;
  #isOpened = false;
  #isInputOver = false;
  #isLinkLost = false;
  #isEnded = false;
  #drainTimer: NodeJS.Timeout | undefined;
  #farewell: Farewell = { exitStatus: 0, text: undefined };

  constructor(deps: SftpSessionDeps) {
    this.#channel = deps.channel;
    this.#log = deps.log;
    this.#output = new ReplyOutput(deps.channel, deps.socket);
    const handles = new HandleTable(deps.maxOpenHandles);
    this.#context = { exchange: deps.exchange, handles, log: deps.log };
    this.ended = this.#done.promise;
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
    return !this.#running.isEmpty || !this.#waiting.isEmpty;
  }

  /** The socket took what waited in it. */
  socketDrained(): void {
    this.#pump();
  }

  /** A key exchange is over: what it held back is on its way. */
  keysExchanged(): void {
    this.#output.keysExchanged();
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
    this.#output.drop();
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
      const isTooLate = isOpening && this.#drainTimer !== undefined;
      this.#waiting.add(isTooLate ? { kind: "refused", id: request.id, reason: stopping } : request);
      return;
    }
    if (this.#isOpened || request.kind !== "init") {
      throw new BrokenStream(this.#isOpened ? "INIT came twice" : "the first packet is not INIT");
    }
    this.#isOpened = true;
    this.#output.send(versionReply());
  }

  #refuseStream(message: string, error: unknown): void {
    if (!(error instanceof BrokenStream)) this.#log.error({ err: error }, "reading an sftp packet failed");
    this.#log.warn({ reason: message }, "sftp session ended: its packets cannot be understood");
    this.#farewell = { exitStatus: 1, text: `sftp: ${message}\n` };
    this.#isInputOver = true;
  }

  /** Starts every request whose turn it is; pauses or resumes the input; ends when all is done. */
  #pump(): void {
    if (this.#isPumping || this.#isEnded) return;
    this.#isPumping = true;
    for (
      let next = this.#waiting.first;
      next !== undefined && this.#mayStart(next);
      next = this.#waiting.first
    ) {
      this.#waiting.removeFirst();
      if (!(this.#isLinkLost && readingKinds.has(next.kind))) this.#start(next);
    }
    this.#isPumping = false;
    this.#steerInput();
    if (this.#isInputOver && !this.isBusy) this.#end();
  }

  #mayStart(request: SftpRequest): boolean {
    const unsentBytes = this.#output.unsentBytes + (this.#isLinkLost ? 0 : this.#running.reservedBytes);
    return !this.#output.isHeld && unsentBytes <= maxUnsentBytes && this.#running.mayJoin(request);
  }

  #steerInput(): void {
    if (this.#isInputOver || this.#isLinkLost) return;
    const { isFull } = this.#waiting;
    if (isFull === this.#channel.isPaused()) return;
    if (isFull) this.#channel.pause();
    else this.#channel.resume();
  }

  #start(request: SftpRequest): void {
    this.lastRequestAtMs = Date.now();
    if (request.kind === "close") this.#reader.dropSpare();
    this.#running.add(request, this.#run(request), (replies) => this.#answer(replies));
  }

  /** WRITEs run together; their memory is used again for the next packets. */
  async #run(request: SftpRequest): Promise<Reply> {
    if (request.kind !== "write") return await runRequest(this.#context, request);
    const run = this.#waiting.takeRun(request);
    try {
      return await runWrites(this.#context, run.writes);
    } finally {
      this.#waiting.finished(run);
      for (const { bytes } of run.writes) this.#reader.giveBack(bytes);
    }
  }

  #answer(replies: readonly Reply[]): void {
    for (const reply of replies) this.#output.send(reply);
    this.#pump();
    if (this.#drainTimer !== undefined && !this.isBusy) this.#drainIfDone();
  }

  #end(): void {
    this.#isEnded = true;
    clearInterval(this.#drainTimer);
    this.#output.end(this.#farewell.exitStatus, this.#farewell.text);
    void this.#endExchange();
  }

  async #endExchange(): Promise<void> {
    try {
      await abandonHandles(this.#context);
      await this.#context.exchange.end();
    } catch (error) {
      this.#log.error({ err: error }, "ending the exchange session failed");
    } finally {
      this.#done.resolve();
    }
  }
}
