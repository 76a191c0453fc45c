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
import type { AuthContext, Connection as SshClient, ServerChannel, Session } from "ssh2";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { exchangeCompaniesOf, lossSince } from "../../operations/users/exchange-companies.ts";
import type { Place } from "../../sign-in/connection-gate.ts";
import type { CurrentUser, SignedInUser, SignIn } from "../../sign-in/sign-in.ts";
import { type Mismatch, mismatchOf } from "./algorithms.ts";
import { judge, signInMethods, type Verdict } from "./authentication.ts";
import { type ClientOffer, isForOneHostKeyType, OfferWatch } from "./client-offer.ts";
import { NotedSignIn } from "./noted-sign-in.ts";
import type { SftpOptions } from "./sftp-options.ts";
import { SftpSession } from "./sftp-session.ts";

/** Below this a client's channel makes the SSH library cut data into ever smaller pieces; 0 hangs it for ever. */
const minPacketSize = 1024;
/** Answers waiting in the socket beyond which nothing more is read from a client that does not read them. */
const maxSocketBacklogBytes = 16 * 1024 * 1024;
/** How long a client may take to let go after it has been told that the connection ends. */
const farewellMs = 2_000;
/** The same for a user that was changed: with the time that it takes to see the change, all is over within 2 s. */
const promptFarewellMs = 500;

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
  /** Resolves when the socket is gone and all sessions have finished. */
  readonly finished: Promise<void>;

  readonly #deps: ConnectionDeps;
  readonly #socket: Socket;
  readonly #offer = new OfferWatch();
  readonly #sessions = new Set<SftpSession>();
  #log: Logger;
  #client: SshClient | undefined;
  #user: SignedInUser | undefined;
  #channels = 0;
  #failedAttempts = 0;
  #attempt: NotedSignIn | undefined;
  #isSocketPaused = false;
  #isLeaving = false;
  #isClosed = false;
  #lastActivityAtMs = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #resolveFinished: () => void = () => undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    this.#socket = deps.socket;
    this.#log = deps.log.child({ connectionId: deps.id, address: deps.address });
    this.finished = new Promise((resolve) => {
      this.#resolveFinished = resolve;
    });
    this.#listenToSocket();
    this.#timer = setTimeout(() => this.#missDeadline(), deps.options.loginTimeoutMs);
  }

  #listenToSocket(): void {
    const socket = this.#socket;
    socket.on("error", (error) => this.#log.debug({ err: error }, "sftp socket failed"));
    socket.on("close", () => this.#close());
    socket.on("data", (chunk: Buffer) => this.#watch(chunk));
    socket.on("drain", () => this.#drained());
  }

  /** Sees each chunk just before the SSH library does. */
  #watch(chunk: Buffer): void {
    this.#offer.push(chunk);
    // Whatever the library writes because of this chunk leaves together.
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
    if (this.#socket.writableLength > maxSocketBacklogBytes) {
      this.#isSocketPaused = true;
      this.#socket.pause();
    }
    for (const session of this.#sessions) {
      if (session.isOverrun()) this.#cutOff("the client ignores the channel's window");
    }
  }

  #drained(): void {
    if (this.#isSocketPaused) {
      this.#isSocketPaused = false;
      this.#socket.resume();
    }
    for (const session of this.#sessions) session.socketDrained();
  }

  #cutOff(reason: string): void {
    this.#log.warn({ reason }, "sftp connection cut off");
    this.#socket.destroy();
  }

  #missDeadline(): void {
    const { options, signIn, address } = this.#deps;
    this.#tell("info", { afterMs: options.loginTimeoutMs }, "sftp sign-in not completed in time");
    if (this.#attempt?.isAtWork !== true) signIn.reportSilence(address);
    this.#leave();
  }

  /** The client sent its identification line: the SSH library has an object for it now. */
  attach(client: SshClient): void {
    this.#client = client;
    client.on("error", (error: Error) => this.#fail(error));
    client.on("authentication", (context) => void this.#authenticate(context));
    client.on("ready", () => this.#signedIn());
    client.on("session", (accept, reject) => this.#openSession(accept, reject));
    client.on("rekey", () => {
      for (const session of this.#sessions) session.keysExchanged();
    });
  }

  /** What can happen before the sign-in can happen to anybody at any rate. */
  #tell(level: "info" | "warn", facts: object, message: string): void {
    const { id: connectionId, address, outsiderLog } = this.#deps;
    if (this.#user !== undefined) this.#log[level](facts, message);
    else outsiderLog[level]({ connectionId, address, ...facts }, message);
  }

  #fail(error: Error): void {
    const offer = this.#user === undefined ? this.#offer.offer : undefined;
    const mismatch = offer && mismatchOf(offer);
    if (offer && mismatch && "level" in error && error.level === "handshake") {
      this.#tellMismatch(offer, mismatch);
    } else if (!this.#isClosed) {
      this.#tell("info", { reason: messageOf(error) }, "sftp connection failed");
    }
    this.#leave();
  }

  #tellMismatch(offer: ClientOffer, { offered, wouldLegacyDo }: Mismatch): void {
    const { identification } = offer;
    const remedy = wouldLegacyDo
      ? "sftp.legacyAlgorithms: true would accept it"
      : "not even sftp.legacyAlgorithms would accept it";
    const lacksHostKeyAlone = Object.keys(offered).join() === "host key";
    if (lacksHostKeyAlone && isForOneHostKeyType(offer)) {
      // So does ssh-keyscan, with a connection for each type there may be: most of them have to fail.
      const line = { identification, offered, ...(wouldLegacyDo ? { remedy } : {}) };
      this.#tell("info", line, "sftp client accepts a single type of host key, not in use here");
      return;
    }
    this.#tell(
      "warn",
      { identification, offered, remedy },
      `sftp client offers no algorithm that this server accepts; ${remedy}`,
    );
  }

  async #authenticate(context: AuthContext): Promise<void> {
    // A client told to go may have sent more guesses already; they are not even looked at.
    if (this.#isLeaving) return;
    // An agent's many keys and a guesser's many passwords count alike; "none" only asks for the methods.
    if (context.method !== "none" || this.#failedAttempts > 0) this.#failedAttempts += 1;
    const { address, options } = this.#deps;
    const signIn = new NotedSignIn(this.#deps.signIn);
    this.#attempt = signIn;
    try {
      const verdict = await judge({ signIn, address, isSha1Allowed: options.legacyAlgorithms }, context);
      if (!this.#isLeaving && !this.#isClosed) this.#apply(context, verdict, signIn.hasRefused);
    } catch (error) {
      this.#log.error({ err: error }, "sftp sign-in failed");
      if (!this.#isClosed) context.reject(signInMethods);
    }
  }

  #apply(context: AuthContext, verdict: Verdict, isLogged: boolean): void {
    if (verdict.kind === "granted") {
      this.#grant(context, verdict.user);
      return;
    }
    if (verdict.kind === "keyWouldDo") {
      this.#failedAttempts -= 1;
      context.accept();
      return;
    }
    context.reject(signInMethods);
    if (context.method !== "none") {
      const user = context.username.slice(0, 64);
      const line = { user, method: context.method, reason: verdict.reason };
      // At the level debug, the line of the sign-in can be traced to its connection.
      if (isLogged) this.#log.debug(line, "sftp sign-in refused");
      else this.#tell("warn", line, "sftp sign-in refused");
    }
    const isOverLimit = this.#failedAttempts >= this.#deps.options.maxAuthAttempts;
    if (isOverLimit)
      this.#tell("warn", { attempts: this.#failedAttempts }, "sftp: too many attempts to sign in");
    if (isOverLimit || verdict.isBanned) this.#leave();
  }

  #grant(context: AuthContext, user: SignedInUser): void {
    if (!this.#deps.place.signIn()) {
      const { userName } = user;
      this.#tell("warn", { user: userName }, "sftp sign-in refused: as many as may be are signed in");
      // Not rejected: "permission denied" would send people to look for a fault in their password.
      this.#leave();
      return;
    }
    this.#user = user;
    this.#log = this.#log.child({ user: user.userName });
    context.accept();
    this.#log.info({ method: context.method }, "sftp signed in");
  }

  #signedIn(): void {
    clearTimeout(this.#timer);
    this.#touch();
    this.#watchIdleness(this.#deps.options.idleTimeoutMs);
  }

  #touch(): void {
    this.#lastActivityAtMs = Date.now();
  }

  #watchIdleness(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const requestsAt = [...this.#sessions].map((session) => session.lastRequestAtMs);
      const idleMs = Date.now() - Math.max(this.#lastActivityAtMs, ...requestsAt);
      const leftMs = this.#deps.options.idleTimeoutMs - idleMs;
      if (leftMs > 0) {
        this.#watchIdleness(leftMs);
        return;
      }
      this.#log.info({ idleMs }, "sftp connection idle for too long");
      this.#leave();
    }, delayMs);
  }

  #openSession(accept: () => Session, reject: () => void): void {
    if (this.#isLeaving || this.#channels >= this.#deps.options.maxSessionsPerConnection) {
      this.#log.warn({ sessions: this.#channels }, "sftp: session refused, too many on this connection");
      reject();
      return;
    }
    this.#channels += 1;
    const session = accept();
    let hasChannel = false;
    session.on("error", (error: Error) => this.#log.debug({ err: error }, "ssh session failed"));
    session.on("close", () => {
      // The library never lets go of a session that was closed without having become anything: it goes on counting.
      if (hasChannel) this.#channels -= 1;
    });
    session.on("subsystem", (acceptChannel, rejectChannel, { name }) => {
      if (name !== "sftp") {
        rejectChannel?.();
        return;
      }
      hasChannel = true;
      this.#serve(acceptChannel());
    });
    const refuse = (acceptChannel: () => ServerChannel): void => {
      hasChannel = true;
      this.#refuseCommand(acceptChannel());
    };
    session.on("exec", refuse);
    session.on("shell", refuse);
  }

  /** There are no commands here: says so where a person sees it. */
  #refuseCommand(channel: ServerChannel | undefined): void {
    if (channel === undefined || !this.#isUsable(channel)) return;
    channel.resume();
    channel.stderr.write("only SFTP is served here\n");
    channel.exit(1);
    channel.end();
  }

  /** Guards every channel that is about to be written to. */
  #isUsable(channel: ServerChannel): boolean {
    channel.on("error", (error: Error) => this.#log.debug({ err: error }, "ssh channel failed"));
    channel.stderr.on("error", (error: Error) => this.#log.debug({ err: error }, "ssh channel failed"));
    const packetSize = outgoingPacketSize(channel);
    if (packetSize >= minPacketSize) return true;
    this.#cutOff(`the client takes packets of at most ${packetSize} bytes`);
    return false;
  }

  #serve(channel: ServerChannel | undefined): void {
    const user = this.#user;
    if (channel === undefined || user === undefined || !this.#isUsable(channel)) return;
    const exchange = this.#deps.exchange.openSession({
      userId: user.userId,
      userName: user.userName,
      companies: exchangeCompaniesOf(user),
      channel: "sftp",
      address: this.#deps.address,
      connectionId: this.#deps.id,
    });
    const { maxOpenHandles } = this.#deps.options;
    const session = new SftpSession({
      channel,
      socket: this.#socket,
      exchange,
      maxOpenHandles,
      log: this.#log,
    });
    this.#sessions.add(session);
    void session.ended.then(() => this.#endSession(session));
  }

  #endSession(session: SftpSession): void {
    this.#sessions.delete(session);
    this.#touch();
    if (this.#sessions.size > 0) return;
    if (this.#isClosed) this.#resolveFinished();
    else if (this.#isLeaving) this.#leave();
  }

  /** Finishes the requests in hand, then takes the link down. */
  drain(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    if (this.#sessions.size === 0) this.#leave();
    for (const session of this.#sessions) session.drain();
  }

  /** Who is signed in and has not been told to go. */
  get userId(): number | undefined {
    return this.#isLeaving || this.#isClosed ? undefined : this.#user?.userId;
  }

  /**
   * Ends the connection when its user, as it is now, has lost what the connection stands on. What
   * was received before is finished; an upload that was not closed is not completed.
   */
  review(now: CurrentUser | undefined): void {
    if (this.userId === undefined || this.#user === undefined) return;
    const reason = lossSince(this.#user, now);
    if (reason === undefined) return;
    this.#log.warn({ reason }, "sftp connection ended: the user was changed");
    this.#leave(promptFarewellMs);
    // Nothing that a client still sends counts; one that does not hang up is cut off after the farewell.
    this.#socket.pause();
  }

  /** Takes the link down now, whatever is in hand. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Says good-bye and makes sure that the socket really goes. */
  #leave(withinMs = farewellMs): void {
    if (this.#isClosed) return;
    this.#isLeaving = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.destroy(), withinMs);
    if (this.#client === undefined) {
      this.#socket.destroy();
      return;
    }
    try {
      this.#client.end();
    } catch (error) {
      // The library has given the connection up already: there is nobody to say good-bye to.
      this.#log.debug({ err: error }, "sftp good-bye failed");
      this.#socket.destroy();
    }
  }

  #close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const session of this.#sessions) session.linkLost();
    if (this.#user !== undefined) this.#log.info("sftp connection closed");
    if (this.#sessions.size === 0) this.#resolveFinished();
  }
}

/** How much the client takes in one packet. The library has it, its type definitions do not. */
function outgoingPacketSize(channel: object): number {
  if (!("outgoing" in channel)) return 0;
  const { outgoing } = channel;
  if (typeof outgoing !== "object" || outgoing === null || !("packetSize" in outgoing)) return 0;
  return typeof outgoing.packetSize === "number" ? outgoing.packetSize : 0;
}
