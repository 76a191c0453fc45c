/**
 * The SFTP endpoint: accepts connections, keeps the limits that concern several of them, and hands each to a
 * `Connection`.
 *
 * The listening socket is ours and not the SSH library's: the library notices a client only after its identification
 * line, so that silent sockets would be invisible and without limit.
 */
import { createServer, type Server as NetServer, type Socket } from "node:net";
import ssh2 from "ssh2";
import type { FileExchange } from "../../exchange/exchange-session.ts";
import { withSharedReads } from "../../exchange/arrivals/shared-reads.ts";
import { type Admitted, endConnections, letIn } from "../../exchange/connections/client-connections.ts";
import { newRequestId } from "../../lib/ids.ts";
import { boundTo, listen } from "../../lib/listen.ts";
import { createLimitedLog, type LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Service } from "../../lib/service.ts";
import { ConnectionGate, type Place } from "../../sign-in/connection-gate.ts";
import type { SignIn, SignInReview } from "../../sign-in/sign-in.ts";
import { SignInWatch } from "../../sign-in/sign-in-watch.ts";
import { algorithmsFor } from "./algorithms.ts";
import { Connection } from "./connection.ts";
import type { SftpOptions } from "./sftp-options.ts";

export interface SftpEndpointDeps {
  readonly exchange: FileExchange;
  readonly signIn: SignIn & SignInReview;
  readonly hostKeys: readonly { readonly pem: string }[];
  readonly options: SftpOptions;
  readonly log: Logger;
  /** Told how many bytes came, at each read. */
  readonly received?: (bytes: number) => void;
}

export interface SftpEndpoint extends Service {
  /** The port listened on; 0 before the start. */
  readonly port: number;
  /** The address listened on; empty before the start. */
  readonly address: string;
  readonly connectionCount: number;
  /** Limits and time-outs for connections from now on; host, port, algorithms and banner stay as they were. */
  reload(options: SftpOptions): void;
}

/** Said to clients in the identification line; tells no version. */
const identification = "dropgate";

export function createSftpEndpoint(deps: SftpEndpointDeps): SftpEndpoint {
  return new Endpoint(deps);
}

/** A socket's two ends in one text, by which the SSH library's client finds its connection. */
function keyOf(ip: string | undefined, port: number | undefined): string {
  return `${ip} ${port}`;
}

class Endpoint implements SftpEndpoint {
  readonly name = "sftp";
  readonly #deps: SftpEndpointDeps;
  readonly #ssh: ssh2.Server;
  readonly #server: NetServer;
  readonly #connections = new Map<string, Connection>();
  readonly #gate: ConnectionGate;
  readonly #watch: SignInWatch;
  readonly #outsiderLog: LimitedLog;
  #options: SftpOptions;

  constructor(deps: SftpEndpointDeps) {
    this.#deps = deps;
    this.#options = deps.options;
    const { signIn, log } = deps;
    this.#gate = new ConnectionGate({ name: this.name, standing: signIn, limits: () => this.#options, log });
    this.#outsiderLog = createLimitedLog(log);
    this.#watch = new SignInWatch({ signIn, connections: () => this.#connections.values(), log });
    const { banner, legacyAlgorithms } = deps.options;
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
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => {
      const mayShare = (own: Socket) => this.#isSignedIn(own);
      this.#accept(withSharedReads(socket, { mayShare, received: deps.received }));
    });
  }

  get port(): number {
    return boundTo(this.#server).port;
  }

  get address(): string {
    return boundTo(this.#server).address;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  reload(options: SftpOptions): void {
    const { host, port, legacyAlgorithms, banner } = this.#options;
    this.#options = { ...options, host, port, legacyAlgorithms, banner };
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { host, port } = this.#options;
    await listen(this.#server, { host, port });
    this.#server.on("error", (error) => this.#deps.log.error({ err: error }, "sftp listener failed"));
    this.#deps.log.info({ host: this.address, port: this.port }, "sftp listening");
    this.#watch.start();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#gate.close();
    this.#watch.stop();
    if (this.#server.listening) this.#server.close();
    await endConnections([...this.#connections.values()], deadline);
    this.#outsiderLog.flush();
  }

  #isSignedIn({ remoteAddress, remotePort }: Socket): boolean {
    return this.#connections.get(keyOf(remoteAddress, remotePort))?.userId !== undefined;
  }

  #accept(socket: Socket): void {
    const admitted = letIn(socket, this.#gate);
    if (admitted !== undefined) this.#take(socket, admitted);
  }

  #take(socket: Socket, { address, place }: Admitted<Place>): void {
    const key = keyOf(socket.remoteAddress, socket.remotePort);
    const { signIn, exchange, log } = this.#deps;
    const connection = new Connection({
      id: newRequestId(),
      socket,
      address,
      place,
      signIn,
      exchange,
      options: this.#options,
      log,
      outsiderLog: this.#outsiderLog,
    });
    this.#connections.set(key, connection);
    void connection.finished.then(() => {
      if (this.#connections.get(key) === connection) this.#connections.delete(key);
    });
    this.#ssh.injectSocket(socket);
  }
}
