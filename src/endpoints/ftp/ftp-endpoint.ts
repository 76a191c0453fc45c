/**
 * The FTP endpoint: listens, where it is configured also on a second port for implicit TLS, and hands each connection to a
 * `ControlConnection`.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { boundTo, listen } from "../../lib/listen.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { type Client, ClientFinder } from "../../lib/proxy-protocol/client-finder.ts";
import type { Service } from "../../lib/service.ts";
import { ClientConnections } from "../../sign-in/client-connections.ts";
import type { ConnectionStatistics } from "../../sign-in/connection-gate.ts";
import type { SignIn, SignInReview } from "../../sign-in/sign-in.ts";
import { ControlConnection } from "./control-connection.ts";
import type { FtpOptions } from "./ftp-options.ts";
import { TlsSession } from "./tls-session.ts";

export interface FtpEndpointDeps {
  readonly exchange: FileExchange;
  readonly signIn: SignIn & SignInReview;
  readonly options: FtpOptions;
  readonly log: Logger;
  /** Called with the number of bytes at each read. */
  readonly received?: ((bytes: number) => void) | undefined;
}

export class FtpEndpoint implements Service {
  readonly name = "ftp";
  readonly #deps: FtpEndpointDeps;
  readonly #explicit: Server;
  readonly #implicit: Server | undefined;
  readonly #finder: ClientFinder;
  readonly #clients: ClientConnections;
  #options: FtpOptions;

  constructor(deps: FtpEndpointDeps) {
    this.#deps = deps;
    this.#options = deps.options;
    const { implicitPort, proxyProtocolFrom } = deps.options;
    this.#finder = new ClientFinder({ name: this.name, from: proxyProtocolFrom, log: deps.log });
    this.#clients = new ClientConnections({ ...deps, name: this.name, limits: () => this.#options });
    const serve = (isImplicit: boolean) =>
      createServer({ noDelay: true, pauseOnConnect: true }, (socket) =>
        this.#finder.find(socket, (client) => this.#accept(socket, client, isImplicit)),
      );
    this.#explicit = serve(false);
    this.#implicit = implicitPort === undefined ? undefined : serve(true);
  }

  /** The port listened on; 0 before the start. */
  get port(): number {
    return boundTo(this.#explicit).port;
  }

  /** The port of implicit TLS; undefined when there is none. */
  get implicitPort(): number | undefined {
    return this.#implicit === undefined ? undefined : boundTo(this.#implicit).port;
  }

  /** The address listened on; empty before the start. */
  get address(): string {
    return boundTo(this.#explicit).address;
  }

  get connectionCount(): number {
    return this.#clients.count;
  }

  /** For monitoring. */
  get connections(): ConnectionStatistics {
    return this.#clients.statistics();
  }

  /** Limits, time-outs and certificate for connections from now on; host, ports and banner stay as they were. */
  reload(options: FtpOptions): void {
    const { host, port, implicitPort, banner } = this.#options;
    this.#options = { ...options, host, port, implicitPort, banner };
    this.#finder.configure(options.proxyProtocolFrom);
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { host, port, implicitPort = 0 } = this.#options;
    const { log } = this.#deps;
    await listen(this.#explicit, { host, port });
    try {
      if (this.#implicit !== undefined) await listen(this.#implicit, { host, port: implicitPort });
    } catch (error) {
      this.#explicit.close();
      throw error;
    }
    for (const server of [this.#explicit, this.#implicit])
      server?.on("error", (error) => log.error({ err: error }, "ftp listener failed"));
    const { address, implicitPort: secured } = this;
    log.info({ host: address, port: this.port, implicitPort: secured }, "ftp listening");
    this.#clients.start();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    for (const server of [this.#explicit, this.#implicit]) if (server?.listening === true) server.close();
    this.#finder.close();
    await this.#clients.stop(deadline);
  }

  #accept(socket: Socket, client: Client, isImplicit: boolean): void {
    const options = this.#options;
    const finder = this.#finder;
    this.#clients.admit(socket, client, (admitted) => {
      // Not for who is refused: keys are read, and perhaps decrypted.
      const tls = options.tls === undefined ? undefined : new TlsSession(options.tls);
      return new ControlConnection({ ...this.#deps, ...admitted, options, isImplicit, tls, finder });
    });
  }
}
