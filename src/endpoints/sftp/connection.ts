/**
 * One client connection, from the accepted socket to its end.
 *
 * States
 *   handshake   the login deadline runs; nothing has been proved → signedIn, closed
 *   signedIn    sessions may be opened; the idle time-out runs → leaving, closed
 *   leaving     no new sessions and no new requests; what is in hand is finished, then the link is taken down → closed
 *   closed      the socket is gone; sessions still finish what they had received
 *
 * Everything a client can make fail has a listener here: without one, an error event would end the process.
 */
import type { Socket } from "node:net";
import type { Connection as SshClient } from "ssh2";
import { ClientLog } from "../../exchange/connections/client-log.ts";
import { ConnectionDeadline } from "../../exchange/connections/connection-deadline.ts";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { lossSince } from "../../operations/users/exchange-companies.ts";
import type { Place } from "../../sign-in/connection-gate.ts";
import type { CurrentUser, SignIn } from "../../sign-in/sign-in.ts";
import { OfferWatch } from "./client-offer.ts";
import { ClientSocket } from "./client-socket.ts";
import { reportMismatch } from "./report-mismatch.ts";
import { SftpChannels } from "./sftp-channels.ts";
import type { SftpOptions } from "./sftp-options.ts";
import { SshSignIn } from "./ssh-sign-in.ts";

export interface ConnectionDeps {
  readonly id: string;
  readonly socket: Socket;
  readonly address: string;
  /** Among the connections of the server. */
  readonly place: Place;
  readonly signIn: SignIn;
  readonly exchange: FileExchange;
  readonly options: SftpOptions;
  readonly log: Logger;
  /** For what anybody can cause, as often as they like: it is summed up. */
  readonly outsiderLog: LimitedLog;
}

export class Connection {
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
    const { id: connectionId, socket, options } = deps;
    this.#options = options;
    this.#log = new ClientLog({ ...deps, connectionId });
    const shared = { ...deps, connectionId, log: this.#log, isOpen: () => this.#state === "open" };
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

  /** Resolves when the socket is gone and all sessions have finished. */
  get finished(): Promise<void> {
    return this.#done.promise;
  }

  /** Who is signed in and has not been told to go. */
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

  /** Finishes the requests in hand, then takes the link down. */
  drain(): void {
    if (this.#state === "leaving") return;
    if (this.#state === "open") this.#state = "leaving";
    if (this.#channels.isEmpty) this.#leave();
    this.#channels.drain();
  }

  /**
   * Ends the connection when its user, as it is now, has lost what the connection stands on. What
   * was received before is finished; an upload that was not closed is not completed.
   */
  review(now: CurrentUser | undefined): void {
    const { user } = this.#signIn;
    if (this.userId === undefined || user === undefined) return;
    const reason = lossSince(user, now);
    if (reason === undefined) return;
    this.#log.log.warn({ reason }, "sftp connection ended: the user was changed");
    this.#leave({ isPrompt: true });
    // Nothing that a client still sends counts; one that does not hang up is cut off after the farewell.
    this.#socket.pause();
  }

  /** Takes the link down now, whatever is in hand. */
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

  /** Says good-bye and makes sure that the socket really goes. */
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
      // The library has given the connection up already: there is nobody to say good-bye to.
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
