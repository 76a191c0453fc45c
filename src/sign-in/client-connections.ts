/**
 * The connections of an SFTP or FTP server: who is let in, for how long a sign-in stands, and how they end.
 */
import type { Socket } from "node:net";
import { aborted } from "../lib/aborted.ts";
import { newRequestId } from "../lib/ids.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Client } from "../lib/proxy-protocol/client-finder.ts";
import {
  ConnectionGate,
  type ConnectionLimits,
  type ConnectionStatistics,
  type Place,
} from "./connection-gate.ts";
import type { CurrentUser, SignIn, SignInReview } from "./sign-in.ts";

/** How soon the change of a user by an administrator takes effect. */
const reviewEveryMs = 1_000;
/** Clients that vanish without a word would otherwise hold their place until the idle time-out. */
const keepAliveAfterMs = 30_000;
/** How long connections that were destroyed may take to finish what they have received. */
const afterDeadlineMs = 1_000;

/** Settings that SFTP and FTP have in common; names and meaning as in the configuration file. */
export interface ClientServerOptions extends ConnectionLimits {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** From the first byte of the connection to a completed sign-in. */
  readonly loginTimeoutMs: number;
  /** Refused attempts, probes of unknown keys included, after which the connection ends. */
  readonly maxAuthAttempts: number;
  /** A signed-in connection that is idle for so long ends. */
  readonly idleTimeoutMs: number;
  /** Shown before the sign-in; empty or left out for none. */
  readonly banner?: string | undefined;
  /** Addresses and CIDR ranges of balancers, whose connections begin with a PROXY header. */
  readonly proxyProtocolFrom: readonly string[];
}

export interface ClientConnection {
  /** The signed-in user, unless the connection is about to end. */
  readonly userId: number | undefined;
  /** Resolves when the socket is gone and what was received is done. */
  readonly finished: Promise<void>;
  /** Called with the user as it is now; undefined when it may not sign in any more. */
  review(now: CurrentUser | undefined): void;
  /** Finishes the work in hand, then ends the connection. */
  drain(): void;
  destroy(): void;
}

/** A client that was let in. */
export interface Admitted {
  readonly connectionId: string;
  readonly socket: Socket;
  /** The client's address, normalised. */
  readonly address: string;
  /** Among the connections of the server. */
  readonly place: Place;
  /** For lines that anybody can cause, as often as they like: it sums them up. */
  readonly outsiderLog: LimitedLog;
}

export interface ClientConnectionsDeps {
  /** Of the server, for the log. */
  readonly name: string;
  readonly signIn: SignIn & SignInReview;
  /** Those in force: a reload may change them. */
  readonly limits: () => ConnectionLimits;
  readonly log: Logger;
}

export class ClientConnections {
  readonly #deps: ClientConnectionsDeps;
  readonly #gate: ConnectionGate;
  readonly #outsiderLog: LimitedLog;
  readonly #open = new Set<ClientConnection>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: ClientConnectionsDeps) {
    this.#deps = deps;
    this.#gate = new ConnectionGate({ ...deps, standing: deps.signIn });
    this.#outsiderLog = createLimitedLog(deps.log);
  }

  get count(): number {
    return this.#open.size;
  }

  statistics(): ConnectionStatistics {
    return this.#gate.statistics();
  }

  /** Lets a client in: `connect` makes its connection. False when it has no place; its socket is destroyed then. */
  admit(
    socket: Socket,
    { address, isBalancer }: Client,
    connect: (admitted: Admitted) => ClientConnection,
  ): boolean {
    // The listener comes first: a socket can fail before anything else is known of it.
    socket.on("error", () => undefined);
    const displace = () => void socket.destroy();
    const admission =
      socket.remoteAddress === undefined
        ? undefined
        : this.#gate.admit({ address, isProxy: isBalancer, displace });
    if (admission?.kind !== "admitted") {
      socket.destroy();
      return false;
    }
    const { place } = admission;
    socket.once("close", () => place.leave());
    socket.setKeepAlive(true, keepAliveAfterMs);
    const outsiderLog = this.#outsiderLog;
    const connection = connect({ connectionId: newRequestId(), socket, address, place, outsiderLog });
    this.#open.add(connection);
    void connection.finished.then(() => this.#open.delete(connection));
    return true;
  }

  /** Reviews the users from now on, one review after the other: a slow store gets no second query. */
  start(): void {
    if (this.#isStopped) return;
    const review = (): void => void this.#review().finally(() => this.start());
    this.#timer = setTimeout(review, reviewEveryMs).unref();
  }

  /** Lets nobody in any more, lets the connections end by themselves until the deadline, then ends them. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    this.#gate.close();
    clearTimeout(this.#timer);
    const open = [...this.#open];
    for (const connection of open) connection.drain();
    const allFinished = Promise.all(open.map(({ finished }) => finished));
    await Promise.race([allFinished, aborted(deadline)]);
    for (const connection of open) connection.destroy();
    // Without a link only what had been received is finished; a disk that hangs must not block the others.
    await Promise.race([allFinished, aborted(AbortSignal.timeout(afterDeadlineMs))]);
    this.#outsiderLog.flush();
  }

  /** One query for each user. */
  async #review(): Promise<void> {
    const users = new Map<number, CurrentUser | undefined>();
    try {
      for (const connection of [...this.#open]) {
        const { userId } = connection;
        if (userId === undefined) continue;
        if (!users.has(userId)) users.set(userId, await this.#deps.signIn.signedInNow(userId));
        connection.review(users.get(userId));
      }
    } catch (error) {
      // Nobody is disconnected because the store fails; the next review asks again.
      this.#deps.log.error({ err: error }, "signed-in users could not be checked again");
    }
  }
}
