/** The channels of one SSH connection, and the SFTP sessions in them. */
import type { Socket } from "node:net";
import type { ServerChannel, Session } from "ssh2";
import type { ClientLog } from "../../exchange/connections/client-log.ts";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { exchangeCompaniesOf } from "../../operations/users/exchange-companies.ts";
import type { SignedInUser } from "../../sign-in/sign-in.ts";
import type { SftpOptions } from "./sftp-options.ts";
import { SftpSession } from "./sftp-session.ts";

/** With less than this the SSH library cuts data into ever smaller pieces; with 0 it hangs for ever. */
const minPacketSize = 1024;

export interface SftpChannelsDeps {
  readonly connectionId: string;
  readonly address: string;
  readonly socket: Socket;
  readonly exchange: FileExchange;
  readonly options: SftpOptions;
  readonly log: ClientLog;
  readonly user: () => SignedInUser | undefined;
  /** False when no more sessions may be opened. */
  readonly isOpen: () => boolean;
  /** Ends the connection of a client that breaks the protocol. */
  readonly cutOff: (reason: string) => void;
  readonly sessionEnded: () => void;
}

export class SftpChannels {
  readonly #deps: SftpChannelsDeps;
  readonly #sessions = new Set<SftpSession>();
  #count = 0;

  constructor(deps: SftpChannelsDeps) {
    this.#deps = deps;
  }

  /** Whether no session has anything left to do. */
  get isEmpty(): boolean {
    return this.#sessions.size === 0;
  }

  /** When the last request began; 0 without sessions. */
  get lastRequestAtMs(): number {
    return Math.max(0, ...[...this.#sessions].map((session) => session.lastRequestAtMs));
  }

  open(accept: () => Session, reject: () => void): void {
    const { options, log, isOpen } = this.#deps;
    if (!isOpen() || this.#count >= options.maxSessionsPerConnection) {
      log.log.warn({ sessions: this.#count }, "sftp: session refused, too many on this connection");
      reject();
      return;
    }
    this.#count += 1;
    this.#listen(accept());
  }

  /** A chunk has come: cuts off a client that ignores the windows of its channels. */
  checkWindows(): void {
    for (const session of this.#sessions) {
      if (session.isOverrun()) this.#deps.cutOff("the client ignores the channel's window");
    }
  }

  socketDrained(): void {
    for (const session of this.#sessions) session.socketDrained();
  }

  keysExchanged(): void {
    for (const session of this.#sessions) session.keysExchanged();
  }

  /** Lets the sessions finish the requests in hand. */
  drain(): void {
    for (const session of this.#sessions) session.drain();
  }

  linkLost(): void {
    for (const session of this.#sessions) session.linkLost();
  }

  #listen(session: Session): void {
    const { log } = this.#deps;
    let hasChannel = false;
    session.on("error", (error: Error) => log.log.debug({ err: error }, "ssh session failed"));
    session.on("close", () => {
      // The library never frees a session that closes before it has a channel: that one goes on counting.
      if (hasChannel) this.#count -= 1;
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

  /** Answers where a person sees it that there are no commands here. */
  #refuseCommand(channel: ServerChannel | undefined): void {
    if (channel === undefined || !this.#isUsable(channel)) return;
    channel.resume();
    channel.stderr.write("only SFTP is served here\n");
    channel.exit(1);
    channel.end();
  }

  /** Guards every channel that is about to be written to. */
  #isUsable(channel: ServerChannel): boolean {
    const { log, cutOff } = this.#deps;
    const failed = (error: Error) => log.log.debug({ err: error }, "ssh channel failed");
    channel.on("error", failed);
    channel.stderr.on("error", failed);
    const packetSize = outgoingPacketSize(channel);
    if (packetSize >= minPacketSize) return true;
    cutOff(`the client takes packets of at most ${packetSize} bytes`);
    return false;
  }

  #serve(channel: ServerChannel | undefined): void {
    const { connectionId, address, socket, options, log, sessionEnded } = this.#deps;
    const user = this.#deps.user();
    if (channel === undefined || user === undefined || !this.#isUsable(channel)) return;
    const exchange = this.#deps.exchange.openSession({
      userId: user.userId,
      userName: user.userName,
      companies: exchangeCompaniesOf(user),
      channel: "sftp",
      address,
      connectionId,
    });
    const { maxOpenHandles } = options;
    const session = new SftpSession({ channel, socket, exchange, maxOpenHandles, log: log.log });
    this.#sessions.add(session);
    void session.ended.then(() => {
      this.#sessions.delete(session);
      sessionEnded();
    });
  }
}

/** How much the client takes in one packet; missing in the type definitions of the library. */
function outgoingPacketSize(channel: object): number {
  if (!("outgoing" in channel)) return 0;
  const { outgoing } = channel;
  if (typeof outgoing !== "object" || outgoing === null || !("packetSize" in outgoing)) return 0;
  return typeof outgoing.packetSize === "number" ? outgoing.packetSize : 0;
}
