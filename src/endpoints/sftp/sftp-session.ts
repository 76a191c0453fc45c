/**
 * One SFTP session: the packets of one channel, in order, with bounded memory.
 *
 * States
 *   opening   nothing but INIT is taken; it is answered with VERSION and the extensions → serving
 *   serving   packets become requests (`RequestInput`), requests become replies (`RequestQueue`)
 *   draining  the daemon stops while uploads are under way: opens are refused; when the last upload is closed, or no request
 *             came for `stalledMs` → ending
 *   ending    no more input: the client sent EOF or closed the channel, the link broke, the stream is broken, or the daemon
 *             stops. Requests received whole are still done; then → ended
 *   ended     EOF, exit status and CLOSE are sent (while there is a link), the exchange session is ended
 *
 * Back-pressure
 *   Out: `RequestQueue` starts no request while too many bytes of replies wait to be sent.
 *   In: the channel is paused while too many writes or requests wait. The channel's window (2 MiB, kept by the library) then
 *   stops the client; the connection of one that ignores its window ends.
 *
 * When the link breaks, requests received whole still take effect (a CLOSE that is here is a CLOSE); only reads are dropped.
 * A handle without a CLOSE stays a partial upload.
 */
import type { Socket } from "node:net";
import type { ServerChannel } from "ssh2";
import { ExchangeError, type ExchangeSession } from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { HandleTable } from "./handle-table.ts";
import { abandonHandles, type OperationContext } from "./operations.ts";
import { BrokenStream } from "./packet-reader.ts";
import { versionReply } from "./reply.ts";
import { type Farewell, ReplyOutput } from "./reply-output.ts";
import type { SftpRequest } from "./request.ts";
import { RequestInput } from "./request-input.ts";
import { RequestQueue } from "./request-queue.ts";

/** With more than this unread in the channel, the client ignores the library's window of 2 MiB. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** An upload that stands still for so long does not delay a stop. */
const stalledMs = 2_000;
const stopping = new ExchangeError("failure", "The server is stopping; connect again in a moment");

export interface SftpSessionDeps {
  readonly channel: ServerChannel;
  readonly socket: Socket;
  readonly exchange: ExchangeSession;
  readonly maxOpenHandles: number;
  readonly log: Logger;
}

function isOpening(request: SftpRequest): request is Extract<SftpRequest, { kind: "open" | "opendir" }> {
  return request.kind === "open" || request.kind === "opendir";
}

export class SftpSession {
  readonly #channel: ServerChannel;
  readonly #log: Logger;
  readonly #context: OperationContext;
  readonly #input: RequestInput;
  readonly #requests: RequestQueue;
  readonly #output: ReplyOutput;
  readonly #done = Promise.withResolvers<void>();
  #state: "taking" | "ending" | "ended" = "taking";
  #drainTimer: NodeJS.Timeout | undefined;
  #farewell: Farewell = { exitStatus: 0, text: undefined };

  constructor({ channel, socket, exchange, maxOpenHandles, log }: SftpSessionDeps) {
    this.#channel = channel;
    this.#log = log;
    this.#output = new ReplyOutput(channel, socket);
    this.#context = { exchange, handles: new HandleTable(maxOpenHandles), log };
    this.#input = new RequestInput({
      opened: () => this.#output.send(versionReply()),
      request: (request) => {
        const isTooLate = this.#drainTimer !== undefined && isOpening(request);
        this.#requests.add(isTooLate ? { kind: "refused", id: request.id, reason: stopping } : request);
      },
    });
    this.#requests = new RequestQueue({
      context: this.#context,
      output: this.#output,
      input: this.#input,
      answered: () => {
        this.#advance();
        if (this.#drainTimer !== undefined && !this.#requests.isBusy) this.#drainIfDone();
      },
    });
    channel.on("error", (error: Error) => log.debug({ err: error }, "sftp channel failed"));
    channel.on("data", (chunk: Buffer) => this.#receive(chunk));
    channel.on("end", () => this.#endInput());
    channel.on("close", () => this.linkLost());
    channel.on("drain", () => this.#advance());
  }

  /** Resolves when everything received is done and the exchange session is ended. Never rejects. */
  get ended(): Promise<void> {
    return this.#done.promise;
  }

  get lastRequestAtMs(): number {
    return this.#requests.lastRequestAtMs;
  }

  socketDrained(): void {
    this.#advance();
  }

  keysExchanged(): void {
    this.#output.keysExchanged();
    this.#advance();
  }

  /** Whether the client sent more than its window allows. */
  isOverrun(): boolean {
    return this.#channel.readableLength > maxUnreadBytes;
  }

  /** No reply can be sent any more; requests received whole are still done. */
  linkLost(): void {
    if (this.#requests.isLinkLost) return;
    this.#requests.linkLost();
    this.#output.drop();
    // The rest of the input is finite now, so it is read whatever the limits say.
    this.#channel.resume();
    if (this.#channel.readableEnded || this.#channel.destroyed) this.#endInput();
    this.#advance();
  }

  /** Lets uploads under way end, then takes no more requests, finishes those received, and says good-bye. */
  drain(): void {
    this.#requests.lastRequestAtMs = Date.now();
    this.#drainTimer ??= setInterval(() => this.#drainIfDone(), stalledMs / 4);
    this.#drainIfDone();
  }

  #drainIfDone(): void {
    const isMoving = Date.now() - this.#requests.lastRequestAtMs < stalledMs;
    if (this.#state === "taking" && isMoving && this.#context.handles.isWriting) return;
    clearInterval(this.#drainTimer);
    this.#channel.pause();
    this.#endInput();
  }

  #endInput(): void {
    if (this.#state === "taking") this.#state = "ending";
    this.#advance();
  }

  #receive(chunk: Buffer): void {
    if (this.#state !== "taking") return;
    try {
      this.#input.push(chunk);
    } catch (error) {
      const message = messageOf(error);
      if (!(error instanceof BrokenStream)) this.#log.error({ err: error }, "reading an sftp packet failed");
      this.#log.warn({ reason: message }, "sftp session ended: its packets cannot be understood");
      this.#farewell = { exitStatus: 1, text: `sftp: ${message}\n` };
      this.#state = "ending";
    }
    this.#advance();
  }

  /** Starts every request whose turn it is; pauses or resumes the input; ends when all is done. */
  #advance(): void {
    if (this.#state === "ended" || !this.#requests.startDue()) return;
    if (this.#state === "ending") {
      if (!this.#requests.isBusy) void this.#end();
      return;
    }
    const { isFull, isLinkLost } = this.#requests;
    if (isLinkLost || isFull === this.#channel.isPaused()) return;
    if (isFull) this.#channel.pause();
    else this.#channel.resume();
  }

  async #end(): Promise<void> {
    this.#state = "ended";
    clearInterval(this.#drainTimer);
    this.#output.end(this.#farewell);
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
