/**
 * The port on which one session waits for one data connection.
 *
 *   open    listening; refuses connections from other addresses than that of the control connection → taken, closed
 *   taken   the client's connection is here, paused until a transfer asks for it → handed over, closed
 *
 * The port closes with the first connection that is taken, and when no transfer asks for it in time: a session never holds
 * more than one port, and not for long.
 */
import { randomInt } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { systemCodeOf } from "../../lib/errors.ts";
import { boundTo, listen } from "../../lib/listen.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { ClientFinder } from "../../lib/proxy-protocol/client-finder.ts";
import { DataFault } from "./replies.ts";

export interface PassivePortOptions {
  /** Address of the control connection on this machine. */
  readonly localAddress: string;
  /** The client's address, normalised. */
  readonly peerAddress: string;
  /** Left out: any free port. */
  readonly ports: { readonly from: number; readonly to: number } | undefined;
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Balancers pass on data connections too. */
  readonly finder: Pick<ClientFinder, "find">;
}

const backlog = 8;

export class PassivePort {
  readonly port: number;
  readonly #options: PassivePortOptions;
  readonly #server: Server;
  #socket: Socket | undefined;
  /** Why it hands over no connection any more. Not an error yet: most ports close without one. */
  #whyClosed: string | undefined;
  #wake: () => void = () => undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(server: Server, port: number, options: PassivePortOptions) {
    this.#server = server;
    this.port = port;
    this.#options = options;
    server.on("connection", (socket) => this.#accept(socket));
    // Only a single accept can still fail here; the client retries or gives up.
    server.on("error", (error) => options.log.debug({ err: error }, "ftp data listener failed"));
    this.#timer = setTimeout(() => this.#end("No data connection was opened in time"), options.timeoutMs);
  }

  /** Resolves with the client's data connection, paused. Rejects with a `DataFault`. */
  async connection(): Promise<Socket> {
    while (this.#socket === undefined) {
      if (this.#whyClosed !== undefined) throw new DataFault(425, this.#whyClosed);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const socket = this.#socket;
    clearTimeout(this.#timer);
    this.#socket = undefined;
    this.#whyClosed = "The data connection was used already";
    return socket;
  }

  /** Closes the port and a connection that nobody has asked for. */
  close(): void {
    this.#end("The data connection was given up");
  }

  #end(why: string): void {
    clearTimeout(this.#timer);
    this.#whyClosed ??= why;
    this.#server.close();
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#wake();
  }

  #accept(socket: Socket): void {
    // A socket can fail before anybody has asked for it.
    socket.on("error", () => undefined);
    const { finder, log } = this.#options;
    if (socket.remoteAddress === undefined) {
      // Reset already, so that its sender is unknown: the transfer of the client goes on waiting.
      log.debug({ port: this.port }, "ftp data connection closed before its transfer began");
      socket.destroy();
      return;
    }
    finder.find(socket, ({ address }) => this.#take(socket, address));
  }

  #take(socket: Socket, address: string): void {
    const { peerAddress, log } = this.#options;
    if (address !== peerAddress) {
      log.warn({ from: address, port: this.port }, "ftp data connection from another address refused");
      socket.destroy();
      return;
    }
    if (this.#socket !== undefined || this.#whyClosed !== undefined) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.#server.close();
    this.#wake();
  }
}

/** Every port of the range once, from a random one on, so that the next port cannot be guessed. */
function* candidates(ports: PassivePortOptions["ports"]): Generator<number> {
  if (ports === undefined) {
    yield 0;
    return;
  }
  const count = ports.to - ports.from + 1;
  const first = randomInt(count);
  for (let step = 0; step < count; step += 1) yield ports.from + ((first + step) % count);
}

/** Begins to listen for one data connection. Rejects with a `DataFault` when no port is free. */
export async function openPassivePort(options: PassivePortOptions): Promise<PassivePort> {
  for (const candidate of candidates(options.ports)) {
    // Half open, because the end of what a client sends is not the end of what it takes.
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    try {
      await listen(server, { host: options.localAddress, port: candidate, backlog, exclusive: true });
      return new PassivePort(server, boundTo(server).port, options);
    } catch (error) {
      if (systemCodeOf(error) === "EADDRINUSE") continue;
      options.log.error({ err: error }, "ftp cannot listen for a data connection");
      throw new DataFault(425, "No port can be opened for a data connection", error);
    }
  }
  options.log.warn(
    { ports: options.ports },
    "ftp has no free port for a data connection: widen ftp.passivePorts",
  );
  throw new DataFault(425, "No port is free for a data connection; try again in a moment");
}
