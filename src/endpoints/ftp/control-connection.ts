/**
 * One client, from the accepted socket to its end.
 *
 * States
 *   greeting   implicit TLS: the handshake → signing in, closed
 *   signing in the login deadline runs; nothing but TLS, sign-in and questions → signed in, leaving, closed
 *   signed in  commands; the idle time-out runs while none is at work → leaving, closed
 *   leaving    the last reply is sent, nothing more is taken, then the link is taken down → closed
 *   closed     the socket is gone; what was received whole is still done, then the session of the exchange ends
 *
 * Order
 *   Commands are done one after the other, in the order in which they came. ABOR alone is seen at once: it breaks off the
 *   transfer under way, whose reply comes before that of ABOR.
 *
 * The socket is always being read, so that the end of the connection is seen at any moment: an upload is taken only while it
 * stands. What that could cost is bounded: lines, lines that wait, and replies that the client does not read.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { normaliseAddress } from "../../lib/address-range.ts";
import { messageOf } from "../../lib/errors.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { lossSince } from "../../operations/users/exchange-companies.ts";
import type { Place } from "../../sign-in/connection-gate.ts";
import type { CurrentUser, SignIn } from "../../sign-in/sign-in.ts";
import { runCommand, verbOf } from "./commands.ts";
import { DataFault } from "./data-fault.ts";
import type { FtpOptions } from "./ftp-options.ts";
import { clientGone, type Control, FtpSession } from "./ftp-session.ts";
import { LineReader } from "./line-reader.ts";
import { type Reply, renderReply, reply } from "./replies.ts";
import { handshake, type TlsSession } from "./tls-session.ts";

/** A path of the exchange has 1,024 bytes at most. */
const maxLineBytes = 4_096;
const maxWaitingLines = 500;
/** Replies that a client has not read. */
const maxUnreadBytes = 256 * 1024;
/** How long a client may take to let go after it has been told that the connection ends. */
const farewellMs = 2_000;
/** The same for a user that was changed: with the time that it takes to see the change, all is over within 2 s. */
const promptFarewellMs = 500;
/** An upload that stands still for so long does not hold up a stop. */
const stalledMs = 2_000;

export interface ControlConnectionDeps {
  readonly id: string;
  readonly socket: Socket;
  /** The client's address, normalised. */
  readonly address: string;
  /** Among the connections of the server. */
  readonly place: Place;
  /** TLS begins with the first byte. */
  readonly isImplicit: boolean;
  readonly tls: TlsSession | undefined;
  readonly signIn: SignIn;
  readonly exchange: FileExchange;
  readonly options: FtpOptions;
  readonly log: Logger;
  readonly outsiderLog: LimitedLog;
  readonly received: ((bytes: number) => void) | undefined;
}

export class ControlConnection implements Control {
  /** Resolves when the socket is gone and what had been received is done. */
  readonly finished: Promise<void>;
  readonly id: string;
  readonly address: string;
  readonly localAddress: string;

  readonly #deps: ControlConnectionDeps;
  readonly #session: FtpSession;
  readonly #reader = new LineReader(maxLineBytes);
  readonly #gone = new AbortController();
  #stream: Socket | TLSSocket;
  #isSecure = false;
  #lines: string[] = [];
  #isRunning = false;
  #isDraining = false;
  #isLeaving = false;
  #isClosed = false;
  #lastActivityAtMs = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  #resolveFinished: () => void = () => undefined;
  readonly #onData = (chunk: Buffer): void => this.#receive(chunk);
  readonly #onEnd = (): void => this.#endInput();

  constructor(deps: ControlConnectionDeps) {
    const { id, socket, address, signIn, exchange, options, tls, received, outsiderLog } = deps;
    this.#deps = deps;
    this.id = id;
    this.address = address;
    this.localAddress = normaliseAddress(socket.localAddress ?? "");
    const log = deps.log.child({ connectionId: id, address });
    this.#session = new FtpSession(
      { control: this, signIn, exchange, options, tls, log, outsiderLog, received },
      deps.isImplicit,
    );
    this.finished = new Promise((resolve) => {
      this.#resolveFinished = resolve;
    });
    this.#stream = socket;
    socket.on("close", () => this.#close());
    this.#timer = setTimeout(() => this.#missDeadline(), options.loginTimeoutMs);
    void this.#greet();
  }

  get isSecure(): boolean {
    return this.#isSecure;
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Who is signed in and has not been told to go. */
  get userId(): number | undefined {
    return this.#isLeaving || this.#isClosed ? undefined : this.#session.user?.userId;
  }

  send(answer: Reply): void {
    if (this.#isClosed || !this.#stream.writable) return;
    this.#stream.write(renderReply(answer));
    if (this.#stream.writableLength <= maxUnreadBytes) return;
    this.#session.tell("warn", {}, "ftp connection cut off: the client does not read its replies");
    this.#deps.socket.destroy();
  }

  async startTls(answer: Reply): Promise<void> {
    const { socket } = this.#deps;
    // Nothing that came in clear behind AUTH may count as said over TLS.
    const hadMore = this.#reader.clear() || this.#lines.length > 0;
    this.#lines = [];
    if (hadMore) this.#session.tell("warn", {}, "ftp: what came in clear behind AUTH TLS was dropped");
    this.#unlisten(socket);
    socket.pause();
    socket.write(renderReply(answer));
    await this.#secure();
  }

  signIn(): boolean {
    if (!this.#deps.place.signIn()) return false;
    clearTimeout(this.#timer);
    this.#lastActivityAtMs = Date.now();
    this.#watchIdleness(this.#deps.options.idleTimeoutMs);
    return true;
  }

  leave(answer: Reply, withinMs = farewellMs): void {
    if (this.#isLeaving || this.#isClosed) return;
    this.send(answer);
    this.#isLeaving = true;
    this.#lines = [];
    clearTimeout(this.#timer);
    clearInterval(this.#drainTimer);
    this.#stream.end();
    this.#timer = setTimeout(() => this.#deps.socket.destroy(), withinMs);
  }

  /**
   * Ends the connection when its user, as it is now, has lost what the connection stands on. An upload
   * under way is not completed.
   */
  review(now: CurrentUser | undefined): void {
    const { user } = this.#session;
    if (this.userId === undefined || user === undefined) return;
    const reason = lossSince(user, now);
    if (reason === undefined) return;
    this.#session.log.warn({ reason }, "ftp connection ended: the user was changed");
    this.#session.abortTransfer(new DataFault(426, "The user was changed"));
    this.leave(reply(421, "The user was changed; sign in again"), promptFarewellMs);
  }

  /** Lets a transfer come to its end as long as it moves, then ends the connection. */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    this.#drainTimer = setInterval(() => this.#drainIfDone(), stalledMs / 4);
    this.#drainIfDone();
  }

  /** Takes the link down now, whatever is in hand. */
  destroy(): void {
    this.#deps.socket.destroy();
  }

  async #greet(): Promise<void> {
    const { isImplicit, options } = this.#deps;
    if (isImplicit) await this.#secure();
    else this.#listen(this.#stream);
    const banner = options.banner?.split("\n") ?? [];
    this.send({
      code: 220,
      lines: banner.length === 0 ? ["dropgate FTP"] : [banner[0] ?? "", ...banner.slice(1), "dropgate FTP"],
    });
  }

  /** Puts TLS over the socket, which nobody reads from. Resolves when it is there, or the connection is gone. */
  async #secure(): Promise<void> {
    const { tls, socket } = this.#deps;
    if (tls === undefined) throw new Error("TLS was asked for and is not set up");
    const stream = tls.wrap(socket);
    this.#stream = stream;
    try {
      await handshake(stream);
    } catch (error) {
      this.#session.tell("info", { reason: messageOf(error) }, "ftp: no TLS with the client");
      socket.destroy();
      return;
    }
    this.#isSecure = true;
    this.#listen(stream);
  }

  #listen(stream: Socket | TLSSocket): void {
    stream.on("data", this.#onData);
    stream.on("end", this.#onEnd);
    stream.resume();
  }

  #unlisten(stream: Socket): void {
    stream.off("data", this.#onData);
    stream.off("end", this.#onEnd);
  }

  #receive(chunk: Buffer): void {
    if (this.#isLeaving) return;
    try {
      for (const line of this.#reader.push(chunk)) this.#take(line);
    } catch (error) {
      this.#session.tell(
        "warn",
        { reason: messageOf(error) },
        "ftp connection ended: its commands cannot be understood",
      );
      this.#session.abortTransfer(clientGone());
      this.leave(reply(500, `The connection ends: ${messageOf(error)}`));
      return;
    }
    void this.#pump();
  }

  #take(line: string): void {
    this.#lastActivityAtMs = Date.now();
    if (verbOf(line) === "ABOR") this.#session.abortTransfer(new DataFault(426, "The transfer was aborted"));
    this.#lines.push(line);
    if (this.#lines.length > maxWaitingLines)
      throw new Error("too many commands in a row without waiting for replies");
  }

  /** Does the lines that wait, one after the other. */
  async #pump(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      const answer = await runCommand(this.#session, line);
      if (answer !== undefined && !this.#isLeaving) this.send(answer);
      this.#lastActivityAtMs = Date.now();
      if (this.#isDraining || this.#isLeaving) break;
    }
    this.#isRunning = false;
    if (this.#isDraining) this.#drainIfDone();
    if (this.#isClosed) await this.#endSession();
  }

  #drainIfDone(): void {
    const { transfer } = this.#session;
    if (this.#isRunning && transfer === undefined) return;
    const movedAtMs = transfer?.data?.lastMovedAtMs ?? transfer?.startedAtMs ?? 0;
    if (transfer !== undefined && Date.now() - movedAtMs < stalledMs) return;
    if (transfer === undefined) this.leave(reply(421, "The server is stopping; connect again in a moment"));
    else this.#session.abortTransfer(new DataFault(426, "The server is stopping"));
  }

  #missDeadline(): void {
    const { options, signIn } = this.#deps;
    this.#session.tell("info", { afterMs: options.loginTimeoutMs }, "ftp sign-in not completed in time");
    if (!this.#session.isBeingChecked) signIn.reportSilence(this.address);
    this.leave(reply(421, "The sign-in took too long"));
  }

  #watchIdleness(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const idleMs = this.#isRunning ? 0 : Date.now() - this.#lastActivityAtMs;
      const leftMs = this.#deps.options.idleTimeoutMs - idleMs;
      if (leftMs > 0) {
        this.#watchIdleness(leftMs);
        return;
      }
      this.#session.log.info({ idleMs }, "ftp connection idle for too long");
      this.leave(reply(421, "The connection was idle for too long"));
    }, delayMs);
  }

  /** The client is gone, or says that it sends no more: nobody can tell the two apart, and an upload is not taken. */
  #endInput(): void {
    this.#gone.abort();
    this.#session.abortTransfer(clientGone());
    this.#stream.end();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#drainTimer);
    this.#gone.abort();
    this.#session.abortTransfer(clientGone());
    this.#stream.destroy();
    if (this.#session.user !== undefined) this.#session.log.info("ftp connection closed");
    if (!this.#isRunning) void this.#endSession();
  }

  async #endSession(): Promise<void> {
    try {
      await this.#session.end();
    } catch (error) {
      this.#session.log.error({ err: error }, "ending the exchange session failed");
    } finally {
      this.#resolveFinished();
    }
  }
}
