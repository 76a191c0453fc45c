/**
 * One client connection, from the accepted socket to its end.
 *
 * States
 *   handshake   the login deadline runs; the client has proved nothing → signedIn, closed
 *   signedIn    the client may open sessions; the idle time-out runs → leaving, closed
 *   leaving     no new sessions and no new requests; those in hand are finished, then the link ends → closed
 *   closed      the socket is gone; sessions still finish what they had received
 *
 * Everything that a client can make fail has a listener here: without one, an error event would end the process.
 */
import type { Connection as SshClient } from "ssh2";
import { ClientLog } from "../../exchange/connections/client-log.ts";
import { ConnectionDeadline } from "../../exchange/connections/connection-deadline.ts";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { lossSince } from "../../operations/users/exchange-companies.ts";
import type { Admitted, ClientConnection } from "../../sign-in/client-connections.ts";
import type { CurrentUser, SignIn } from "../../sign-in/sign-in.ts";
import { reportMismatch } from "./algorithms.ts";
import { OfferWatch } from "./client-offer.ts";
import { ClientSocket } from "./client-socket.ts";
import { SftpChannels } from "./sftp-channels.ts";
import type { SftpOptions } from "./sftp-options.ts";
import { SshSignIn } from "./ssh-sign-in.ts";

export interface ConnectionDeps extends Admitted {
  readonly signIn: SignIn;
  readonly exchange: FileExchange;
  readonly options: SftpOptions;
  readonly log: Logger;
}

export class Connection implements ClientConnection {
  readonly #options: SftpOptions;
  readonly #socket: ClientSocket;
  readonly #offer = new OfferWatch();
  readonly #log: ClientLog;
  readonly #deadline = new ConnectionDeadline();
  readonly #signIn: SshSignIn;
  readonly #channels: SftpChannels;
  readonly #done = Promise.withResolvers<void>();
  #client: SshClient | undefined;
  #state: "open" | "leaving" | "closed" = "open";

  constructor(deps: ConnectionDeps) {
    const { socket, options } = deps;
    this.#options = options;
    this.#log = new ClientLog(deps);
    const shared = { ...deps, log: this.#log, isOpen: () => this.#state === "open" };
    this.#signIn = new SshSignIn({ ...shared, leave: () => this.#leave() });
    this.#channels = new SftpChannels({
      ...shared,
      user: () => this.#signIn.user,
      cutOff: (reason) => {
        this.#log.log.warn({ reason }, "sftp connection cut off");
        this.destroy();
      },
      sessionEnded: () => this.#endSession(),
    });
    this.#socket = new ClientSocket(socket, {
      data: (chunk) => {
        this.#offer.push(chunk);
        this.#channels.checkWindows();
      },
      drained: () => this.#channels.socketDrained(),
      failed: (error) => this.#log.log.debug({ err: error }, "sftp socket failed"),
      closed: () => this.#close(),
    });
    this.#deadline.toSignIn(options.loginTimeoutMs, () => this.#signIn.missDeadline());
  }

  get finished(): Promise<void> {
    return this.#done.promise;
  }

  get userId(): number | undefined {
    return this.#state === "open" ? this.#signIn.user?.userId : undefined;
  }

  /** The client sent its identification line: the SSH library has an object for it now. */
  attach(client: SshClient): void {
    this.#client = client;
    client.on("error", (error: Error) => this.#fail(error));
    client.on("authentication", (context) => void this.#signIn.authenticate(context));
    client.on("ready", () => this.#watchIdleness());
    client.on("session", (accept, reject) => this.#channels.open(accept, reject));
    client.on("rekey", () => this.#channels.keysExchanged());
  }

  drain(): void {
    if (this.#state === "leaving") return;
    if (this.#state === "open") this.#state = "leaving";
    if (this.#channels.isEmpty) this.#leave();
    this.#channels.drain();
  }

  /** What was received before is finished; an upload that was not closed is not completed. */
  review(now: CurrentUser | undefined): void {
    const { user } = this.#signIn;
    if (this.userId === undefined || user === undefined) return;
    const reason = lossSince(user, now);
    if (reason === undefined) return;
    this.#log.log.warn({ reason }, "sftp connection ended: the user was changed");
    this.#leave({ isPrompt: true });
    // Nothing that the client still sends counts; the deadline ends the link of one that does not hang up.
    this.#socket.pause();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    const isOfHandshake = "level" in error && error.level === "handshake";
    const offer = isOfHandshake && this.#signIn.user === undefined ? this.#offer.offer : undefined;
    const isReported = offer !== undefined && reportMismatch(this.#log, offer);
    if (!isReported && this.#state !== "closed")
      this.#log.report("info", { reason: messageOf(error) }, "sftp connection failed");
    this.#leave();
  }

  #watchIdleness(): void {
    this.#deadline.toBeActive({
      timeoutMs: this.#options.idleTimeoutMs,
      lastActiveAtMs: () => this.#channels.lastRequestAtMs,
      expired: (idleMs) => {
        this.#log.log.info({ idleMs }, "sftp connection idle for too long");
        this.#leave();
      },
    });
  }

  #endSession(): void {
    this.#deadline.touch();
    if (!this.#channels.isEmpty) return;
    if (this.#state === "closed") this.#done.resolve();
    else if (this.#state === "leaving") this.#leave();
  }

  /** Says good-bye, and makes sure that the socket closes. */
  #leave({ isPrompt } = { isPrompt: false }): void {
    if (this.#state === "closed") return;
    this.#state = "leaving";
    this.#deadline.toLetGo(() => this.#socket.destroy(), { isPrompt });
    if (this.#client === undefined) {
      this.#socket.destroy();
      return;
    }
    try {
      this.#client.end();
    } catch (error) {
      // The library has given up the connection already.
      this.#log.log.debug({ err: error }, "sftp good-bye failed");
      this.#socket.destroy();
    }
  }

  #close(): void {
    this.#state = "closed";
    this.#deadline.end();
    this.#channels.linkLost();
    if (this.#signIn.user !== undefined) this.#log.log.info("sftp connection closed");
    if (this.#channels.isEmpty) this.#done.resolve();
  }
}
