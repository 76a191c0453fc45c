/**
 * One client, from the accepted socket to its end.
 *
 * States
 *   greeting   implicit TLS: the handshake → signing in, closed
 *   signing in the login deadline runs; nothing but TLS, sign-in and questions → signed in, leaving, closed
 *   signed in  commands; the idle time-out runs while none is at work → leaving, closed
 *   leaving    the last reply is sent, no more commands are taken, then the link ends → closed
 *   closed     the socket is gone; commands received whole are still done, then the session of the exchange ends
 *
 * Order
 *   Commands run one after the other, in the order in which they came. ABOR alone takes effect at once: it aborts the
 *   transfer under way, whose reply comes before that of ABOR.
 *
 * The socket is always read, so that the end of the connection is seen at any moment: an upload completes only while the
 * connection stands. The cost is bounded: the length of a line, the lines that wait, and the replies left unread.
 */
import { ClientLog } from "../../exchange/connections/client-log.ts";
import { ConnectionDeadline } from "../../exchange/connections/connection-deadline.ts";
import { normaliseAddress } from "../../lib/address-range.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { lossSince } from "../../operations/users/exchange-companies.ts";
import type { Admitted, ClientConnection } from "../../sign-in/client-connections.ts";
import type { CurrentUser } from "../../sign-in/sign-in.ts";
import { CommandQueue } from "./command-queue.ts";
import { runCommand, verbOf } from "./commands.ts";
import { ControlStream } from "./control-stream.ts";
import type { FtpOptions } from "./ftp-options.ts";
import { clientGone, type Control, FtpSession, type FtpSessionDeps } from "./ftp-session.ts";
import { DataFault, type Reply, reply } from "./replies.ts";

export interface ControlConnectionDeps extends Admitted, Omit<FtpSessionDeps, "control" | "clientLog"> {
  /** TLS begins with the first byte. */
  readonly isImplicit: boolean;
  readonly log: Logger;
}

/** An upload that stands still for so long does not delay a stop. */
const stalledMs = 2_000;

interface TransferDrainDeps {
  readonly session: Pick<FtpSession, "transfer" | "abortTransfer">;
  readonly isRunning: () => boolean;
  /** Called when nothing is under way any more. */
  readonly done: () => void;
}

/** Lets the transfer of a client come to its end while it moves, when the daemon stops. */
class TransferDrain {
  readonly #deps: TransferDrainDeps;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: TransferDrainDeps) {
    this.#deps = deps;
  }

  get hasBegun(): boolean {
    return this.#timer !== undefined;
  }

  begin(): void {
    if (this.hasBegun) return;
    this.#timer = setInterval(() => this.check(), stalledMs / 4);
    this.check();
  }

  /** To be called when a transfer or a command may have ended. */
  check(): void {
    const { session, isRunning, done } = this.#deps;
    const { transfer } = session;
    if (transfer === undefined) {
      if (!isRunning()) done();
      return;
    }
    const movedAtMs = transfer.data?.lastMovedAtMs ?? transfer.startedAtMs;
    if (Date.now() - movedAtMs >= stalledMs)
      session.abortTransfer(new DataFault(426, "The server is stopping"));
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

function greeting({ banner }: FtpOptions): Reply {
  const [first, ...more] = banner?.split("\n") ?? [];
  return { code: 220, lines: first === undefined ? ["dropgate FTP"] : [first, ...more, "dropgate FTP"] };
}

export class ControlConnection implements Control, ClientConnection {
  readonly connectionId: string;
  readonly address: string;
  readonly localAddress: string;

  readonly #deps: ControlConnectionDeps;
  readonly #log: ClientLog;
  readonly #session: FtpSession;
  readonly #stream: ControlStream;
  readonly #commands: CommandQueue;
  readonly #drain: TransferDrain;
  readonly #deadline = new ConnectionDeadline();
  readonly #gone = new AbortController();
  readonly #done = Promise.withResolvers<void>();
  #state: "open" | "leaving" | "closed" = "open";

  constructor(deps: ControlConnectionDeps) {
    const { connectionId, socket, address, options, isImplicit } = deps;
    this.#deps = deps;
    this.connectionId = connectionId;
    this.address = address;
    this.localAddress = normaliseAddress(socket.localAddress ?? "");
    this.#log = new ClientLog(deps);
    this.#session = new FtpSession({ ...deps, control: this, clientLog: this.#log }, isImplicit);
    this.#commands = new CommandQueue({
      came: (line) => {
        this.#deadline.touch();
        if (verbOf(line) === "ABOR")
          this.#session.abortTransfer(new DataFault(426, "The transfer was aborted"));
      },
      run: (line) => this.#run(line),
      idle: () => {
        if (this.#drain.hasBegun) this.#drain.check();
        if (this.#state === "closed") void this.#endSession();
      },
    });
    this.#drain = new TransferDrain({
      session: this.#session,
      isRunning: () => this.#commands.isRunning,
      done: () => this.leave(reply(421, "The server is stopping; connect again in a moment")),
    });
    this.#stream = new ControlStream({
      ...deps,
      data: (chunk) => this.#receive(chunk),
      ended: () => {
        this.#clientGone();
        this.#stream.end();
      },
      tlsFailed: (error) =>
        this.#log.report("info", { reason: messageOf(error) }, "ftp: no TLS with the client"),
      closed: () => this.#close(),
    });
    this.#deadline.toSignIn(options.loginTimeoutMs, () => this.#session.missDeadline());
    void this.#stream.open({ isImplicit }).then(() => this.send(greeting(options)));
  }

  get finished(): Promise<void> {
    return this.#done.promise;
  }

  get isSecure(): boolean {
    return this.#stream.isSecure;
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get userId(): number | undefined {
    return this.#state === "open" ? this.#session.user?.userId : undefined;
  }

  send(answer: Reply): void {
    if (this.#state === "closed" || this.#stream.send(answer)) return;
    this.#log.report("warn", {}, "ftp connection cut off: the client does not read its replies");
    this.#stream.destroy();
  }

  async startTls(answer: Reply): Promise<void> {
    // Nothing that came in clear behind AUTH may count as said over TLS.
    if (this.#commands.clear()) this.#log.report("warn", {}, "ftp: plain text after AUTH TLS was dropped");
    await this.#stream.startTls(answer);
  }

  signIn(): boolean {
    // The connection may have begun to end while the password was being checked.
    if (this.#state !== "open" || !this.#deps.place.signIn()) return false;
    this.#deadline.toBeActive({
      timeoutMs: this.#deps.options.idleTimeoutMs,
      lastActiveAtMs: () => (this.#commands.isRunning ? Date.now() : 0),
      expired: (idleMs) => {
        this.#log.log.info({ idleMs }, "ftp connection idle for too long");
        this.leave(reply(421, "The connection was idle for too long"));
      },
    });
    return true;
  }

  leave(answer: Reply, { isPrompt } = { isPrompt: false }): void {
    if (this.#state !== "open") return;
    this.send(answer);
    this.#state = "leaving";
    this.#commands.clear();
    this.#drain.end();
    this.#stream.end();
    this.#deadline.toLetGo(() => this.#stream.destroy(), { isPrompt });
  }

  /** An upload under way is not completed. */
  review(now: CurrentUser | undefined): void {
    const { user } = this.#session;
    if (this.userId === undefined || user === undefined) return;
    const reason = lossSince(user, now);
    if (reason === undefined) return;
    this.#log.log.warn({ reason }, "ftp connection ended: the user was changed");
    this.#session.abortTransfer(new DataFault(426, "The user was changed"));
    this.leave(reply(421, "The user was changed; sign in again"), { isPrompt: true });
  }

  drain(): void {
    this.#drain.begin();
  }

  destroy(): void {
    this.#stream.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#state === "leaving") return;
    try {
      this.#commands.push(chunk);
    } catch (error) {
      const reason = messageOf(error);
      this.#log.report("warn", { reason }, "ftp connection ended: its commands cannot be understood");
      this.#session.abortTransfer(clientGone());
      this.leave(reply(500, `The connection ends: ${reason}`));
    }
  }

  async #run(line: string): Promise<boolean> {
    const answer = await runCommand(this.#session, line);
    if (answer !== undefined && this.#state !== "leaving") this.send(answer);
    this.#deadline.touch();
    return !this.#drain.hasBegun && this.#state !== "leaving";
  }

  /** The client is gone, or sends no more, which looks the same: an upload is not completed. */
  #clientGone(): void {
    this.#gone.abort();
    this.#session.abortTransfer(clientGone());
  }

  #close(): void {
    this.#state = "closed";
    this.#deadline.end();
    this.#clientGone();
    if (this.#session.user !== undefined) this.#log.log.info("ftp connection closed");
    if (!this.#commands.isRunning) void this.#endSession();
  }

  async #endSession(): Promise<void> {
    this.#drain.end();
    try {
      await this.#session.end();
    } catch (error) {
      this.#log.log.error({ err: error }, "ending the exchange session failed");
    } finally {
      this.#done.resolve();
    }
  }
}
