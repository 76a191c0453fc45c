/**
 * Whose connection it is: the peer's, or, from a balancer that the setting names, the one in its PROXY header.
 *
 *   accepted ──from elsewhere──────────────> served as the peer's, nothing is read
 *      │ from a balancer
 *   waiting  the header may take `timeoutMs` ─> served as the client's, or as the balancer's own
 *      └─ other bytes, a faulty header, none in time ─> closed, with a line in the log
 *
 * What comes behind the header stays in the socket unread, for the protocol to read.
 */
import type { Server, Socket } from "node:net";
import { type AddressSet, createAddressSet, normaliseAddress } from "../address-range.ts";
import { createLimitedLog, type LimitedLog } from "../logs/limited-log.ts";
import type { Logger } from "../logs/log.ts";
import { readProxyHeader } from "./proxy-header.ts";

export interface Client {
  /** Normalised. */
  readonly address: string;
  /** A balancer for itself, as it does to see whether the server is well, or for a client that it cannot name. */
  readonly isBalancer: boolean;
}

export type Serve = (client: Client) => void;

export interface ClientFinderDeps {
  /** The server and section of the configuration, such as `sftp`. */
  readonly name: string;
  /** The balancers: addresses and CIDR ranges of the setting. */
  readonly from: readonly string[];
  readonly log: Pick<Logger, "info" | "warn" | "debug">;
  /** Balancers send the header before anything else, so that only one that is not set up to do so takes longer. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 5_000;
const thisMachine = createAddressSet(["127.0.0.0/8", "::1/128"]);

export class ClientFinder {
  readonly #deps: ClientFinderDeps;
  readonly #log: LimitedLog;
  readonly #waiting = new Set<Socket>();
  #balancers: AddressSet;

  /** Throws on a text that is no address or range. */
  constructor(deps: ClientFinderDeps) {
    this.#deps = deps;
    this.#log = createLimitedLog(deps.log);
    this.#balancers = createAddressSet(deps.from);
  }

  /** For connections from now on. */
  configure(from: readonly string[]): void {
    this.#balancers = createAddressSet(from);
  }

  /** Calls `serve` at once or when the header is there; never when the socket is closed before, or for a faulty header. */
  find(socket: Socket, serve: Serve): void {
    const peer = normaliseAddress(socket.remoteAddress ?? "");
    if (this.#balancers.has(peer)) this.#await(socket, peer, serve);
    else serve({ address: peer, isBalancer: false });
  }

  /** Puts itself before all that listens for connections of the server at this moment, and gives them the client too. */
  standBefore(server: Server): void {
    const listeners = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) =>
      this.find(socket, (client) => {
        for (const listener of listeners) listener.call(server, socket, client);
      }),
    );
  }

  /** Closes the connections that have no header yet. */
  close(): void {
    for (const socket of this.#waiting) socket.destroy();
    this.#log.flush();
  }

  #await(socket: Socket, peer: string, serve: Serve): void {
    const { timeoutMs = defaultTimeoutMs } = this.#deps;
    let received = Buffer.alloc(0);
    const settle = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(socket);
      socket.off("readable", read).off("end", cutShort).off("close", cutShort);
    };
    const refuse = (reason: string): void => {
      settle();
      socket.destroy();
      this.#report(peer, reason, received.length);
    };
    const read = (): void => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read())
        received = Buffer.concat([received, chunk]);
      if (received.length === 0) return;
      const reading = readProxyHeader(received);
      if (reading.kind === "faulty") refuse(`the PROXY header ${reading.fault}`);
      if (reading.kind !== "read") return;
      settle();
      if (received.length > reading.length) socket.unshift(received.subarray(reading.length));
      serve(clientOf(peer, reading.source));
    };
    const cutShort = (): void => refuse("the connection ended before its PROXY header was whole");
    const timer = setTimeout(() => refuse(`no whole PROXY header came within ${timeoutMs} ms`), timeoutMs);
    this.#waiting.add(socket);
    socket.on("error", () => undefined);
    socket.on("readable", read).on("end", cutShort).on("close", cutShort);
  }

  #report(address: string, reason: string, bytes: number): void {
    const { name, log } = this.#deps;
    const fields = { address, reason, setting: `${name}.proxyProtocolFrom` };
    const message = `${name} connection from a balancer closed`;
    // Whoever only looks whether the port is open, as the daemon does itself, has done nothing wrong.
    if (bytes === 0 && reason.startsWith("the connection ended")) log.debug(fields, message);
    else this.#log.warn(fields, message);
  }
}

/** Loopback is a different machine's there, and gives no rights on this one. */
function clientOf(peer: string, source: string | undefined): Client {
  if (source === undefined) return { address: peer, isBalancer: true };
  const isElsewhere = thisMachine.has(source) && !thisMachine.has(peer);
  return { address: isElsewhere ? peer : source, isBalancer: false };
}
