/**
 * The HTTP server: listens, limits connections, hands requests to the dispatcher, reloads, and stops in order.
 *
 *   created -> listening -> stopping (nothing new; what is in hand is finished) -> stopped
 *
 * Nothing here survives a crash: an operation makes its work durable before its answer.
 */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { boundTo, listen } from "../../lib/listen.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { createAddressSet } from "../../lib/address-range.ts";
import { type Client, ClientFinder } from "../../lib/proxy-protocol/client-finder.ts";
import type { Service } from "../../lib/service.ts";
import { tlsSettings } from "../../lib/tls-settings.ts";
import { ConnectionGate, type ConnectionStatistics } from "../../sign-in/connection-gate.ts";
import type { AddressStanding, SignIn } from "../../sign-in/sign-in.ts";
import { AccessLog } from "./server/access-log.ts";
import type { RefusalDocument } from "./server/answer.ts";
import { BodyBudget } from "./server/body-budget.ts";
import { answerBrokenRequest, turnAway } from "./server/broken-request.ts";
import { type DispatcherState, takeRequest } from "./server/dispatcher.ts";
import { HttpConnections } from "./server/http-connections.ts";
import type { HttpOptions } from "./server/http-options.ts";
import type { CallOperation } from "./server/operation-context.ts";
import type { JsonReaders } from "./server/request-content.ts";
import type { RecentRequests } from "./server/recent-requests.ts";
import { RequestFigures, type RouteStatistics } from "./server/request-figures.ts";
import type { Monitoring, PageArea, Route } from "./server/route.ts";
import { createRouteTable } from "./server/route-table.ts";
import { routes as allRoutes } from "./routes.ts";

export interface HttpEndpointDeps {
  /** In the log and in messages; `http` unless given. */
  readonly name?: string;
  /** What it serves; the interface unless given. */
  readonly routes?: readonly Route[];
  /** The pages among the routes, where there are any. */
  readonly pages?: PageArea;
  /** Where requests are counted; figures of its own unless given. */
  readonly figures?: RequestFigures;
  /** Where the last requests are kept, when they are. */
  readonly requests?: RecentRequests;
  readonly options: HttpOptions;
  readonly signIn: Pick<SignIn, "withPassword"> & AddressStanding;
  readonly call: CallOperation;
  readonly monitoring: Monitoring;
  /** Where large JSON is checked; without them it is parsed at once. */
  readonly readers?: JsonReaders;
  /** The `StopResponse` document for what was refused before it was processed. */
  readonly refusalDocument: RefusalDocument;
  readonly log: Logger;
}

export interface HttpStatistics {
  readonly connections: ConnectionStatistics;
  /** Of bodies. */
  readonly bytes: { readonly bytesIn: number; readonly bytesOut: number };
  readonly routes: readonly RouteStatistics[];
}

export interface HttpEndpoint extends Service {
  /** The port that is listened on; the configured one until `start` has resolved. */
  readonly port: number;
  /** For monitoring; counts are since the start. */
  readonly figures: HttpStatistics;
  /**
   * Takes new options for requests and connections to come: limits, time-outs, proxies, certificate. Host, port, base
   * path and whether there is TLS at all stay as they are. Throws, changing nothing, when the certificate is unusable.
   */
  reconfigure(options: HttpOptions): void;
}

const maxHeadBytes = 16_384;
/** How often node:http checks for heads and bodies that are over their time. */
const longestCheckMs = 1_000;

interface Running {
  readonly server: Server | TlsServer;
  readonly finder: ClientFinder;
  readonly gate: ConnectionGate;
  readonly connections: HttpConnections;
  readonly state: DispatcherState;
  readonly deps: HttpEndpointDeps;
  /** How many requests have come over each connection. */
  readonly requests: WeakMap<Duplex, number>;
  options: HttpOptions;
}

function serverOptions(options: HttpOptions): ServerOptions {
  return {
    maxHeaderSize: maxHeadBytes,
    // The dispatcher checks the Host header itself, so that its refusal is one of ours.
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
    connectionsCheckingInterval: Math.max(50, Math.min(longestCheckMs, options.headersTimeoutMs / 4)),
  };
}

function createNodeServer(options: HttpOptions): Server | TlsServer {
  if (options.tls === undefined) return createServer(serverOptions(options));
  const handshakeTimeout = options.headersTimeoutMs;
  return createTlsServer({ ...serverOptions(options), ...tlsSettings(options.tls), handshakeTimeout });
}

function applyTimeouts(server: Server | TlsServer, options: HttpOptions): void {
  server.headersTimeout = options.headersTimeoutMs;
  // The body has a time-out of its own, which is answered in the shape of the route; this is the net below it.
  server.requestTimeout = options.headersTimeoutMs + options.requestTimeoutMs + longestCheckMs;
  server.keepAliveTimeout = options.keepAliveTimeoutMs;
  // Ends the connection of a client that stops reading its answer.
  server.timeout = 2 * (options.headersTimeoutMs + options.requestTimeoutMs);
}

function onConnection(running: Running, socket: Socket, client: Client): void {
  const { connections, options, deps } = running;
  socket.on("error", (error) => deps.log.debug({ err: error }, "http connection failed"));
  if (connections.admit(socket, client)) return;
  if (options.tls === undefined) turnAway(socket, "overloaded");
  else socket.destroy();
}

const lateCode = "ERR_HTTP_REQUEST_TIMEOUT";
/** The codes by which node:http reports a client that was silent for too long. */
const silenceCodes: ReadonlySet<string> = new Set([lateCode, "ERR_TLS_HANDSHAKE_TIMEOUT"]);

/**
 * The time of a request is over by the clock: also when it was this process that stood still, on a disk that hung or in a
 * machine that was stopped. What has come meanwhile lies in the socket unread, and is read first.
 */
function onLate(running: Running, error: Error, socket: Duplex): void {
  const before = running.requests.get(socket) ?? 0;
  const graceMs = Math.min(longestCheckMs, running.options.headersTimeoutMs);
  setTimeout(() => {
    const hasCome = (running.requests.get(socket) ?? 0) > before;
    if (!hasCome && !socket.destroyed) onClientError(running, error, socket);
  }, graceMs).unref();
}

function onClientError(running: Running, error: Error, socket: Duplex): void {
  if (silenceCodes.has(systemCodeOf(error) ?? "") && socket instanceof Socket)
    running.connections.reportSilence(socket);
  const answersAlready = [...running.state.inHand].some(
    ({ request, response }) => request.socket === socket && response.headersSent,
  );
  if (answersAlready) {
    socket.destroy();
    return;
  }
  const answer = answerBrokenRequest(error, socket);
  if (answer === undefined) return;
  running.state.accessLog.broken({ ...answer, reason: messageOf(error) });
}

function listenToEvents(running: Running): void {
  const { server, finder, state, connections } = running;
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // A request that came with a connection that was turned away must not run behind that answer.
    if (running.options.tls === undefined && !connections.open.has(request.socket)) request.socket.destroy();
    else {
      running.requests.set(request.socket, (running.requests.get(request.socket) ?? 0) + 1);
      takeRequest(state, request, response);
    }
  };
  server.on("connection", (socket: Socket, client: Client) => onConnection(running, socket, client));
  // Before the listener of node:http too, and of TLS.
  finder.standBefore(server);
  server.on("request", handle);
  // 100 Continue is sent only when the body is wanted.
  server.on("checkContinue", handle);
  server.on("checkExpectation", handle);
  server.on("clientError", (error: Error, socket: Duplex) => {
    const handle = systemCodeOf(error) === lateCode ? onLate : onClientError;
    handle(running, error, socket);
  });
  server.on("connect", (_request: IncomingMessage, socket: Duplex) => turnAway(socket, "connect"));
  // `clientError` follows.
  server.on("tlsClientError", (error: Error) =>
    running.deps.log.debug({ err: error }, "tls handshake failed"),
  );
}

function createRunning(deps: HttpEndpointDeps): Running {
  const { options, signIn, call, monitoring, refusalDocument, log, name = "http" } = deps;
  const { routes = allRoutes } = deps;
  const gate = new ConnectionGate({
    ...{ name, standing: signIn, limits: () => running.options, log },
    // The dispatcher answers their requests with 429 and Retry-After.
    letsInBanned: true,
  });
  const isProxy = (address: string) => state.trustedProxies.has(address);
  const connections = new HttpConnections({ gate, standing: signIn, isProxy });
  const state: DispatcherState = {
    table: createRouteTable(routes, options.basePath),
    signIn,
    ...{ call, monitoring },
    refusalDocument,
    log,
    accessLog: new AccessLog(log),
    figures: deps.figures ?? new RequestFigures(routes),
    requests: deps.requests,
    options: () => running.options,
    ...{ inHand: new Set(), streams: new Set(), pages: deps.pages },
    connections,
    bodies: new BodyBudget(() => running.options),
    readers: deps.readers,
    trustedProxies: createAddressSet(options.trustedProxies),
    isStopping: false,
  };
  const server = createNodeServer(options);
  const finder = new ClientFinder({ name, from: options.proxyProtocolFrom, log });
  const shared = { server, finder, gate, connections, state, deps };
  const running: Running = { ...shared, requests: new WeakMap(), options };
  applyTimeouts(running.server, options);
  listenToEvents(running);
  return running;
}

/** Closes every connection that has no request in hand. */
function closeIdle({ connections, state, server }: Running): void {
  server.closeIdleConnections();
  connections.closeAllBut([...state.inHand].map(({ request }) => request.socket));
}

async function stopServer(running: Running, deadline: AbortSignal): Promise<void> {
  const { server, finder, gate, connections, state } = running;
  state.isStopping = true;
  gate.close();
  finder.close();
  state.bodies.close();
  for (const stream of state.streams) stream.end();
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const cutOff = () => {
    for (const socket of connections.open) socket.destroy();
    server.closeAllConnections();
  };
  if (deadline.aborted) cutOff();
  else deadline.addEventListener("abort", cutOff, { once: true });
  // After the requests that this turn of the event loop reads: they have come, so they are answered.
  setImmediate(closeIdle, running);
  await closed;
  state.accessLog.flush();
  deadline.removeEventListener("abort", cutOff);
}

function reconfigure(running: Running, options: HttpOptions): void {
  const { server, finder, state } = running;
  const trustedProxies = createAddressSet(options.trustedProxies);
  if ("setSecureContext" in server && options.tls !== undefined)
    server.setSecureContext(tlsSettings(options.tls));
  const { host, port, basePath } = running.options;
  const { tls: _tls, ...rest } = options;
  // Whether there is TLS was settled when the server was made.
  const tls = running.options.tls === undefined ? {} : { tls: options.tls ?? running.options.tls };
  running.options = { ...rest, ...tls, host, port, basePath };
  state.trustedProxies = trustedProxies;
  finder.configure(options.proxyProtocolFrom);
  applyTimeouts(server, running.options);
  state.bodies.refresh();
}

/** Makes the endpoint; nothing is opened before `start`. Throws when certificate and key are unusable. */
export function createHttpEndpoint(deps: HttpEndpointDeps): HttpEndpoint {
  const running = createRunning(deps);
  const { name = "http" } = deps;
  let stopping: Promise<void> | undefined;
  return {
    name,
    get port() {
      return boundTo(running.server).port || running.options.port;
    },
    get figures() {
      const { bytes, routes: byRoute } = running.state.figures;
      return { connections: running.gate.statistics(), bytes, routes: byRoute };
    },
    async start(signal) {
      signal.throwIfAborted();
      await listen(running.server, { host: running.options.host, port: running.options.port });
      running.server.on("error", (error) => deps.log.error({ err: error }, `${name} server failed`));
      const { host, tls } = running.options;
      deps.log.info(
        { host, port: boundTo(running.server).port, tls: tls !== undefined },
        `${name} listening`,
      );
    },
    stop(deadline) {
      stopping ??= stopServer(running, deadline);
      return stopping;
    },
    reconfigure: (options) => reconfigure(running, options),
  };
}
