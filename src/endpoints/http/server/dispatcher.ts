/**
 * Takes every request through the same steps:
 *
 *   head -> target -> route -> load limit -> ban -> sign in -> authorise -> media type, body -> run -> answer -> log
 *
 * The first step that throws ends it; the error is turned into an answer in the shape that the route's clients read.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressSet, createAddressSet } from "../../../lib/address-range.ts";
import { isDiskFault } from "../../../lib/files/disk-fault.ts";
import { DropgateError, messageOf } from "../../../lib/errors.ts";
import type { Logger } from "../../../lib/logs/log.ts";
import { isStoreFault } from "../../../lib/store-error.ts";
import type { SignedInUser, SignIn } from "../../../sign-in/sign-in.ts";
import type { AccessLog } from "./access-log.ts";
import { type Answer, type RefusalDocument, refusalAnswer, textType } from "./answer.ts";
import { authorise, checkBan, checkTransport, signInUser } from "./authentication.ts";
import type { BodyBudget } from "./body-budget.ts";
import { clientAddress, isForwarded } from "./client-address.ts";
import { type Exchange, noteExchange, openExchange, sendAnswer } from "./exchange.ts";
import type { HttpOptions } from "./http-options.ts";
import type { HttpConnections } from "./http-connections.ts";
import { ClientGone, HttpRefusal } from "./http-refusal.ts";
import { contentOf, type JsonReaders, noContent, signalFor } from "./request-content.ts";
import type { CallOperation } from "./operation-context.ts";
import type { RecentRequests } from "./recent-requests.ts";
import type { RequestFigures } from "./request-figures.ts";
import { isInArea, noteSignedIn, pageRequestOf } from "./page-request.ts";
import { packedPage } from "./answers/packed-page.ts";
import { checkHead } from "./request-head.ts";
import { type QueryParameter, type RequestTarget, readQuery, readRequestTarget } from "./request-target.ts";
import type { CompanyRoute, Monitoring, PageArea, PublicRoute, Route } from "./route.ts";
import type { PathMatch, RouteTable } from "./route-table.ts";
import type { SendingStream } from "./answers/stream-answer.ts";

/** The state of the dispatcher; the endpoint owns it and changes it at a reload and at the stop. */
export interface DispatcherState {
  readonly table: RouteTable;
  readonly signIn: Pick<SignIn, "withPassword" | "bannedForMs">;
  readonly call: CallOperation;
  readonly monitoring: Monitoring;
  readonly refusalDocument: RefusalDocument;
  readonly log: Logger;
  readonly accessLog: AccessLog;
  readonly figures: RequestFigures;
  readonly requests: RecentRequests | undefined;
  readonly options: () => HttpOptions;
  readonly inHand: Set<Exchange>;
  /** Answers that last as long as their clients stay; a stop ends them. */
  readonly streams: Set<SendingStream>;
  /** The pages, where there are any. */
  readonly pages: PageArea | undefined;
  readonly connections: Pick<HttpConnections, "signIn" | "addressOf">;
  readonly bodies: BodyBudget;
  readonly readers: JsonReaders | undefined;
  trustedProxies: AddressSet;
  isStopping: boolean;
}

function routeOf(exchange: Exchange, match: PathMatch): Route {
  const method = exchange.request.method ?? "";
  const route = match.find(method);
  if (route !== undefined) {
    exchange.route = route.name;
    return route;
  }
  const { allow } = match;
  throw new HttpRefusal("methodNotAllowed", `${method} is not allowed here. Use ${allow}.`, {
    headers: { allow },
  });
}

function checkLoad(state: DispatcherState): void {
  if (state.isStopping)
    throw new HttpRefusal("overloaded", "dropgate is stopping. Try again in a few seconds.");
  if (state.inHand.size <= state.options().maxRequestsInFlight) return;
  throw new HttpRefusal(
    "overloaded",
    "too many requests are worked on at the moment. Try again in a few seconds.",
  );
}

function identify(state: DispatcherState, exchange: Exchange, companyCode: string): Promise<SignedInUser> {
  const { request } = exchange;
  const peer = exchange.address;
  exchange.address = clientAddress(peer, request.headers, state.trustedProxies);
  checkBan(state.signIn, exchange.address);
  checkTransport(request.socket, peer, state.options().allowPlain);
  const { address } = exchange;
  return signInUser(state.signIn, request.headers.authorization, { address, companyCode });
}

function queryOf(route: CompanyRoute, target: RequestTarget): readonly QueryParameter[] {
  if (target.query === "" || route.query === "ignored") return [];
  const query = readQuery(target.query);
  const [first] = query;
  if (route.query === "own" || first === undefined) return query;
  const message = `${first.name.slice(0, 60)} is not a parameter of this operation. Leave the query out.`;
  throw new HttpRefusal("unknownFilter", message);
}

interface Asked {
  readonly route: CompanyRoute;
  readonly target: RequestTarget;
  readonly params: Readonly<Record<string, string>>;
  readonly user: SignedInUser;
}

async function runOperation(state: DispatcherState, exchange: Exchange, asked: Asked): Promise<Answer> {
  const { route, target, params, user } = asked;
  const { id: requestId, response } = exchange;
  const { userName } = user;
  noteSignedIn(state, exchange);
  exchange.userName = userName;
  const { roles, companyId, companyCode } = authorise(route, user, params["companyCode"] ?? "");
  exchange.companyCode = companyCode;
  const query = queryOf(route, target);
  const signal = () => signalFor(response);
  const known = { requestId, userName, roles, companyId, companyCode, params, query, signal };
  const { body } = route;
  const content =
    body === "none" ? noContent : await contentOf(state, exchange, { route, body, params, companyCode });
  // Not awaited here: while it waits for the commit, nothing is to hold the body.
  return route.run(state, { ...known, ...content });
}

function allowAnswer(allow: string): Answer {
  return { status: 204, headers: { allow }, contentType: textType, body: "" };
}

function matchOf(state: DispatcherState, target: RequestTarget): PathMatch {
  const match = state.table.match(target.segments);
  if (match !== undefined) return match;
  throw noSuchOperation();
}

function noSuchOperation(): HttpRefusal {
  return new HttpRefusal(
    "noSuchOperation",
    "there is no such operation. Check the path: the gateway's have a version, v5 or v6, the legacy web services none.",
  );
}

/**
 * Whether the request comes from an address that may read the metrics. A request through an untrusted proxy may come
 * from anywhere, though the proxy runs on this machine.
 */
function isMonitor(state: DispatcherState, exchange: Exchange): boolean {
  const { headers } = exchange.request;
  if (isForwarded(headers) && !state.trustedProxies.has(exchange.address)) return false;
  const address = clientAddress(exchange.address, headers, state.trustedProxies);
  return createAddressSet(state.options().metricsFrom).has(address);
}

interface AskedByAnybody {
  readonly route: PublicRoute;
  readonly params: Readonly<Record<string, string>>;
}

async function answerAnybody(
  state: DispatcherState,
  exchange: Exchange,
  { route, params }: AskedByAnybody,
): Promise<Answer> {
  const asked = { isMonitor: () => isMonitor(state, exchange), params };
  // Who may not look is told no more than that there is nothing.
  if (route.isForMonitoring === true && !asked.isMonitor()) throw noSuchOperation();
  return await route.run(state, asked);
}

/** Before it is known whether there is such a page: one that is not there is refused by a page as well. */
function noteArea({ pages, options }: DispatcherState, exchange: Exchange, target: RequestTarget): void {
  if (pages === undefined || !isInArea(pages, target.segments, options().basePath)) return;
  exchange.errorShape = "page";
  exchange.headers = pages.headers;
}

async function respond(state: DispatcherState, exchange: Exchange): Promise<Answer> {
  const { request } = exchange;
  const isOptions = request.method === "OPTIONS";
  if (isOptions && request.url === "*") return allowAnswer("GET, HEAD, POST, OPTIONS");
  const target = readRequestTarget(request.url ?? "");
  noteArea(state, exchange, target);
  const match = matchOf(state, target);
  // A refusal has the shape of its path's answers, also when the head is faulty.
  exchange.errorShape = (match.find(request.method ?? "") ?? match.any).errorShape;
  checkHead(request);
  if (isOptions) return allowAnswer(match.allow);
  const route = routeOf(exchange, match);
  const params = match.paramsOf(route);
  if (route.access === "public") return await answerAnybody(state, exchange, { route, params });
  checkLoad(state);
  if (route.access === "console")
    return await packedPage(
      await route.respond(pageRequestOf(state, exchange, { target, params })),
      request.headers,
    );
  const user = await identify(state, exchange, params["companyCode"] ?? "");
  return runOperation(state, exchange, { route, target, params, user });
}

/** Translates what was thrown, once; what is our own fault is logged here, with its cause, and nowhere else. */
function knownError(state: DispatcherState, exchange: Exchange, failure: unknown): DropgateError {
  const message = "the store cannot be used at this moment; send the same request again later.";
  const isOfStore = isStoreFault(failure) || isDiskFault(failure);
  const thrown = isOfStore ? new DropgateError("overloaded", message, { cause: failure }) : failure;
  if (thrown instanceof DropgateError && thrown.code !== "internal") {
    const { cause } = thrown;
    if (thrown.code === "overloaded" && cause !== undefined) {
      state.log.warn(
        { err: cause, requestId: exchange.id, route: exchange.route },
        "http request turned away",
      );
    }
    return thrown;
  }
  state.log.error({ err: thrown, requestId: exchange.id, route: exchange.route }, "http request failed");
  return new DropgateError(
    "internal",
    `internal error; the operator finds its cause under the request id ${exchange.id}.`,
  );
}

/** What is answered to somebody whose request failed; nobody is there any more when it is undefined. */
function answerOfFailure(state: DispatcherState, exchange: Exchange, thrown: unknown): Answer | undefined {
  if (thrown instanceof ClientGone) return undefined;
  const error = knownError(state, exchange, thrown);
  const answer = refusalAnswer(error, exchange.errorShape, state.refusalDocument);
  if (exchange.errorShape !== "page" || state.pages === undefined) return answer;
  const page = state.pages.refusal(error.faults, { status: answer.status, requestId: exchange.id });
  return { ...page, status: answer.status, headers: { ...page.headers, ...answer.headers } };
}

/** A place among those who listen is given when the answer goes out, not when it was made. */
function placedAnswer(answer: Answer | undefined): Answer | undefined {
  if (typeof answer?.body !== "object" || !("turnAway" in answer.body)) return answer;
  return answer.body.turnAway() ?? answer;
}

function finish(state: DispatcherState, exchange: Exchange, made: Answer | undefined): void {
  const { response } = exchange;
  const answer = placedAnswer(made);
  const isGone = answer === undefined || response.destroyed || response.headersSent;
  if (isGone) {
    response.destroy();
    noteExchange(state, exchange, 0, 0);
    return;
  }
  const mustClose = state.isStopping || state.options().keepAliveTimeoutMs === 0;
  const refusalOf = (thrown: unknown) => answerOfFailure(state, exchange, thrown);
  const length = sendAnswer(exchange, answer, { mustClose, refusalOf });
  noteExchange(state, exchange, answer.status, exchange.request.method === "HEAD" ? 0 : length);
}

function keepStream({ streams, isStopping }: DispatcherState, events: SendingStream): void {
  streams.add(events);
  void events.ended.then(() => streams.delete(events));
  // The stop has ended the others already.
  if (isStopping) events.end();
}

/** Answers. Until all of it has gone out the request is in hand: a stop waits for it. Never throws. */
function conclude(state: DispatcherState, exchange: Exchange, answerOf: () => Answer | undefined): void {
  try {
    exchange.share?.release();
    finish(state, exchange, answerOf());
  } catch (error) {
    // Nothing but a fault of our own gets here; the connection is all that can still be given up.
    state.log.error({ err: error, requestId: exchange.id }, `http answer failed: ${messageOf(error)}`);
    exchange.response.destroy();
  }
  const { streaming, events } = exchange;
  if (events !== undefined) keepStream(state, events);
  if (streaming === undefined || events !== undefined) state.inHand.delete(exchange);
  else void streaming.then(() => state.inHand.delete(exchange));
}

function dispatch(state: DispatcherState, request: IncomingMessage, response: ServerResponse): void {
  const exchange = openExchange(request, response, state.connections.addressOf(request.socket));
  state.inHand.add(exchange);
  const succeed = (answer: Answer) => conclude(state, exchange, () => answer);
  const fail = (thrown: unknown) => conclude(state, exchange, () => answerOfFailure(state, exchange, thrown));
  void respond(state, exchange).then(succeed, fail);
}

/**
 * Works a request off. Those that a client sends without waiting for answers run one after the other: each sees what the
 * one before it has written.
 */
export function takeRequest(
  state: DispatcherState,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  // An answer gets its socket when the answer before it is out. Node.js is not done with that within the event.
  if (response.socket === null)
    response.once("socket", () => setImmediate(dispatch, state, request, response));
  else dispatch(state, request, response);
}
