/**
 * The FTP endpoint: listens (and, where it is wanted, on a second port for implicit TLS), keeps the limits that concern
 * several connections, and hands each to a `ControlConnection`.
 */
import { createServer, type Server, type Socket } from "node:net";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { type Admitted, endConnections, letIn } from "../../exchange/connections/client-connections.ts";
import { newRequestId } from "../../lib/ids.ts";
import { boundTo, listen } from "../../lib/listen.ts";
import { createLimitedLog, type LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Service } from "../../lib/service.ts";
import { ConnectionGate, type Place } from "../../sign-in/connection-gate.ts";
import type { SignIn, SignInReview } from "../../sign-in/sign-in.ts";
import { SignInWatch } from "../../sign-in/sign-in-watch.ts";
import { ControlConnection } from "./control-connection.ts";
import type { FtpOptions } from "./ftp-options.ts";
import { TlsSession } from "./tls-session.ts";

export interface FtpEndpointDeps {
  readonly exchange: FileExchange;
  readonly signIn: SignIn & SignInReview;
  readonly options: FtpOptions;
  readonly log: Logger;
  /** Told how many bytes came, at each read. */
  readonly received?: (bytes: number) => void;
}

export interface FtpEndpoint extends Service {
  /** The port listened on; 0 before the start. */
  readonly port: number;
  /** The port of implicit TLS; undefined when there is none. */
  readonly implicitPort: number | undefined;
  /** The address listened on; empty before the start. */
  readonly address: string;
  readonly connectionCount: number;
  /** Limits, time-outs and certificate for connections from now on; host, ports and banner stay as they were. */
  reload(options: FtpOptions): void;
}

export function createFtpEndpoint(deps: FtpEndpointDeps): FtpEndpoint {
  return new Endpoint(deps);
}

class Endpoint implements FtpEndpoint {
  readonly name = "ftp";
  readonly #deps: FtpEndpointDeps;
  readonly #explicit: Server;
  readonly #implicit: Server | undefined;
  readonly #connections = new Set<ControlConnection>();
  readonly #gate: ConnectionGate;
  readonly #watch: SignInWatch;
  readonly #outsiderLog: LimitedLog;
  #options: FtpOptions;

  constructor(deps: FtpEndpointDeps) {
    const { options, signIn, log } = deps;
    this.#deps = deps;
    this.#options = options;
    this.#gate = new ConnectionGate({ name: this.name, standing: signIn, limits: () => this.#options, log });
    this.#outsiderLog = createLimitedLog(log);
    this.#watch = new SignInWatch({ signIn, connections: () => this.#connections, log });
    const settings = { noDelay: true, pauseOnConnect: true };
    this.#explicit = createServer(settings, (socket) => this.#accept(socket, false));
    this.#implicit =
      options.implicitPort === undefined
        ? undefined
        : createServer(settings, (socket) => this.#accept(socket, true));
  }

  get port(): number {
    return boundTo(this.#explicit).port;
  }

  get implicitPort(): number | undefined {
    return this.#implicit === undefined ? undefined : boundTo(this.#implicit).port;
  }

  get address(): string {
    return boundTo(this.#explicit).address;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  reload(options: FtpOptions): void {
    const { host, port, implicitPort, banner } = this.#options;
    this.#options = { ...options, host, port, implicitPort, banner };
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
    this.#watch.start();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#gate.close();
    this.#watch.stop();
    for (const server of [this.#explicit, this.#implicit]) if (server?.listening === true) server.close();
    await endConnections([...this.#connections], deadline);
    this.#outsiderLog.flush();
  }

  #accept(socket: Socket, isImplicit: boolean): void {
    const admitted = letIn(socket, this.#gate);
    if (admitted !== undefined) this.#take(socket, admitted, isImplicit);
  }

  #take(socket: Socket, { address, place }: Admitted<Place>, isImplicit: boolean): void {
    const { signIn, exchange, log, received } = this.#deps;
    const options = this.#options;
    const connection = new ControlConnection({
      id: newRequestId(),
      socket,
      address,
      place,
      isImplicit,
      tls: options.tls === undefined ? undefined : new TlsSession(options.tls),
      signIn,
      exchange,
      options,
      log,
      outsiderLog: this.#outsiderLog,
      received,
    });
    this.#connections.add(connection);
    void connection.finished.then(() => this.#connections.delete(connection));
  }
}
