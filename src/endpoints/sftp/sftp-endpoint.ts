/**
 * The SFTP endpoint: accepts connections and hands each to a `Connection`.
 *
 * The listening socket is ours and not the SSH library's: the library notices a client only after its identification
 * line, so that silent sockets would be invisible and without limit.
 */
import { createServer, type Server as NetServer, type Socket } from "node:net";
import ssh2 from "ssh2";
import { withSharedReads } from "../../exchange/arrivals/shared-reads.ts";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { boundTo, listen } from "../../lib/listen.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { type Client, ClientFinder } from "../../lib/proxy-protocol/client-finder.ts";
import type { Service } from "../../lib/service.ts";
import { ClientConnections } from "../../sign-in/client-connections.ts";
import type { ConnectionStatistics } from "../../sign-in/connection-gate.ts";
import type { SignIn, SignInReview } from "../../sign-in/sign-in.ts";
import { algorithmsFor } from "./algorithms.ts";
import { Connection } from "./connection.ts";
import type { SftpOptions } from "./sftp-options.ts";

export interface SftpEndpointDeps {
  readonly exchange: FileExchange;
  readonly signIn: SignIn & SignInReview;
  readonly hostKeys: readonly { readonly pem: string }[];
  readonly options: SftpOptions;
  readonly log: Logger;
  /** Called with the number of bytes at each read. */
  readonly received?: (bytes: number) => void;
}

/** Sent to clients in the identification line; it names no version. */
const identification = "dropgate";

/** A socket's two ends in one text, by which the SSH library's client finds its connection. */
function keyOf(ip: string | undefined, port: number | undefined): string {
  return `${ip} ${port}`;
}

export class SftpEndpoint implements Service {
  readonly name = "sftp";
  readonly #deps: SftpEndpointDeps;
  readonly #ssh: ssh2.Server;
  readonly #server: NetServer;
  readonly #finder: ClientFinder;
  readonly #clients: ClientConnections;
  readonly #connections = new Map<string, Connection>();
  #options: SftpOptions;

  constructor(deps: SftpEndpointDeps) {
    this.#deps = deps;
    this.#options = deps.options;
    const { banner, legacyAlgorithms, proxyProtocolFrom } = deps.options;
    this.#finder = new ClientFinder({ name: this.name, from: proxyProtocolFrom, log: deps.log });
    this.#clients = new ClientConnections({ ...deps, name: this.name, limits: () => this.#options });
    this.#ssh = new ssh2.Server({
      hostKeys: deps.hostKeys.map((key) => key.pem),
      algorithms: algorithmsFor(legacyAlgorithms),
      ident: identification,
      ...(banner === undefined || banner === "" ? {} : { banner }),
    });
    this.#ssh.on("error", (error: Error) => deps.log.error({ err: error }, "sftp server failed"));
    this.#ssh.on("connection", (client, info) => {
      // Listeners have to be there before anything else can happen to the client.
      client.on("error", () => undefined);
      const connection = this.#connections.get(keyOf(info.ip, info.port));
      if (connection === undefined) client.end();
      else connection.attach(client);
    });
    const mayShare = (own: Socket) => this.#isSignedIn(own);
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) =>
      this.#finder.find(socket, (client) =>
        this.#accept(withSharedReads(socket, { mayShare, received: deps.received }), client),
      ),
    );
  }

  /** The port listened on; 0 before the start. */
  get port(): number {
    return boundTo(this.#server).port;
  }

  /** The address listened on; empty before the start. */
  get address(): string {
    return boundTo(this.#server).address;
  }

  get connectionCount(): number {
    return this.#clients.count;
  }

  /** For monitoring. */
  get connections(): ConnectionStatistics {
    return this.#clients.statistics();
  }

  /** Limits and time-outs for connections from now on; host, port, algorithms and banner stay as they were. */
  reload(options: SftpOptions): void {
    const { host, port, legacyAlgorithms, banner } = this.#options;
    this.#options = { ...options, host, port, legacyAlgorithms, banner };
    this.#finder.configure(options.proxyProtocolFrom);
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { host, port } = this.#options;
    await listen(this.#server, { host, port });
    this.#server.on("error", (error) => this.#deps.log.error({ err: error }, "sftp listener failed"));
    this.#deps.log.info({ host: this.address, port: this.port }, "sftp listening");
    this.#clients.start();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    if (this.#server.listening) this.#server.close();
    this.#finder.close();
    await this.#clients.stop(deadline);
  }

  #isSignedIn({ remoteAddress, remotePort }: Socket): boolean {
    return this.#connections.get(keyOf(remoteAddress, remotePort))?.userId !== undefined;
  }

  #accept(socket: Socket, client: Client): void {
    const key = keyOf(socket.remoteAddress, socket.remotePort);
    const isAdmitted = this.#clients.admit(socket, client, (admitted) => {
      const connection = new Connection({ ...this.#deps, ...admitted, options: this.#options });
      this.#connections.set(key, connection);
      void connection.finished.then(() => {
        if (this.#connections.get(key) === connection) this.#connections.delete(key);
      });
      return connection;
    });
    if (isAdmitted) this.#ssh.injectSocket(socket);
  }
}
