/**
 * Takes every request through the same steps:
 *
 *   head -> target -> route -> load limit -> ban -> sign in -> authorise -> media type, body -> run -> answer -> log
 *
 * The first step that throws ends it; the error is turned into an answer in the shape that the route's clients read.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressSet, createAddressSet } from "../../lib/address-range.ts";
import { DropgateError, messageOf } from "../../lib/errors.ts";
import { parseJsonBytes } from "../../lib/json-text.ts";
import type { Logger } from "../../lib/log.ts";
import { isPassingStoreError } from "../../lib/store-error.ts";
import type { Membership, SignedInUser, SignIn } from "../../operations/sign-in.ts";
import { type Answer, type RefusalDocument, refusalAnswer, textType } from "./answer.ts";
import { authorise, checkBan, checkTransport, signInUser } from "./authentication.ts";
import type { BodyBudget } from "./body-budget.ts";
import { clientAddress } from "./client-address.ts";
import { type Exchange, logExchange, openExchange, sendAnswer } from "./exchange.ts";
import type { HttpOperations } from "./http-operations.ts";
import type { HttpOptions } from "./http-options.ts";
import { ClientGone, HttpRefusal } from "./http-refusal.ts";
import { checkMediaType } from "./media-type.ts";
import { readBody } from "./request-body.ts";
import { checkHead } from "./request-head.ts";
import { type QueryParameter, type RequestTarget, readQuery, readRequestTarget } from "./request-target.ts";
import type { CompanyRoute, OperationRequest, Route } from "./route.ts";
import type { PathMatch, RouteTable } from "./route-table.ts";

const noBytes = new Uint8Array(0);

/** What the dispatcher works with; the endpoint owns it and changes it at a reload and at the stop. */
export interface DispatcherState {
  readonly table: RouteTable;
  readonly signIn: Pick<SignIn, "withPassword" | "bannedForMs">;
  readonly operations: HttpOperations;
  readonly refusalDocument: RefusalDocument;
  readonly log: Logger;
  /** For the one line of each request. */
  readonly accessLog: Logger;
  readonly options: () => HttpOptions;
  readonly inHand: Set<Exchange>;
  readonly bodies: BodyBudget;
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

function forwardedFor(request: IncomingMessage): string | undefined {
  const header = request.headers["x-forwarded-for"];
  return Array.isArray(header) ? header.join(",") : header;
}

async function identify(
  state: DispatcherState,
  exchange: Exchange,
  companyCode: string,
): Promise<SignedInUser> {
  const { request } = exchange;
  const peer = exchange.address;
  exchange.address = clientAddress(peer, forwardedFor(request), state.trustedProxies);
  checkBan(state.signIn, exchange.address);
  checkTransport(request.socket, peer, state.options().allowPlain);
  const user = await signInUser(state.signIn, request.headers.authorization, {
    address: exchange.address,
    companyCode,
  });
  exchange.userName = user.userName;
  return user;
}

function queryOf(route: CompanyRoute, target: RequestTarget): readonly QueryParameter[] {
  if (target.query === "" || route.query === "ignored") return [];
  const query = readQuery(target.query);
  const [first] = query;
  if (route.query === "own" || first === undefined) return query;
  const message = `${first.name.slice(0, 60)} is not a parameter of this operation. Leave the query out.`;
  throw new HttpRefusal("unknownFilter", message);
}

async function bodyOf(
  state: DispatcherState,
  exchange: Exchange,
  kind: "json" | "xml",
  media: readonly string[],
): Promise<Buffer> {
  const { request, response } = exchange;
  checkMediaType(request.headers, media, kind);
  const reserve = async (bytes: number, timeoutMs: number) => {
    exchange.share = await state.bodies.reserve(bytes, timeoutMs, signalFor(response));
    return exchange.share;
  };
  const bytes = await readBody(request, response, { limits: state.options(), reserve });
  exchange.bytesIn = bytes.length;
  return bytes;
}

/** What the operation gets of the body. Once JSON is parsed, its bytes must not be kept from being freed. */
async function contentOf(
  state: DispatcherState,
  exchange: Exchange,
  { body, media }: CompanyRoute,
): Promise<Pick<OperationRequest, "json" | "bytes">> {
  if (body === "none") return { json: undefined, bytes: noBytes };
  const bytes = await bodyOf(state, exchange, body, media);
  if (body === "xml") return { json: undefined, bytes };
  return { json: parseJsonBytes(bytes, { maxDepth: state.options().maxJsonDepth }), bytes: noBytes };
}

function signalFor(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => controller.abort(new ClientGone()));
  return controller.signal;
}

interface Admitted {
  readonly route: CompanyRoute;
  readonly target: RequestTarget;
  readonly params: Readonly<Record<string, string>>;
  readonly user: SignedInUser;
  readonly membership: Membership;
}

async function runForCompany(
  state: DispatcherState,
  exchange: Exchange,
  admitted: Admitted,
): Promise<Answer> {
  const { route, target, params, user, membership } = admitted;
  const query = queryOf(route, target);
  const content = await contentOf(state, exchange, route);
  const operation: OperationRequest = {
    requestId: exchange.id,
    userName: user.userName,
    roles: membership.roles,
    companyId: membership.companyId,
    companyCode: membership.companyCode,
    params,
    query,
    ...content,
    signal: () => signalFor(exchange.response),
  };
  return await route.run(state, operation);
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

/** Who may not look is told no more than that there is nothing. */
function checkMonitor(state: DispatcherState, exchange: Exchange): void {
  const address = clientAddress(exchange.address, forwardedFor(exchange.request), state.trustedProxies);
  if (!createAddressSet(state.options().metricsFrom).has(address)) {
    throw noSuchOperation();
  }
}

async function respond(state: DispatcherState, exchange: Exchange): Promise<Answer> {
  const { request } = exchange;
  const isOptions = request.method === "OPTIONS";
  if (isOptions && request.url === "*") return allowAnswer("GET, HEAD, POST, OPTIONS");
  const target = readRequestTarget(request.url ?? "");
  const match = matchOf(state, target);
  // The shape of a refusal is that of the path, also when the head is faulty.
  exchange.errors = (match.find(request.method ?? "") ?? match.any).errors;
  checkHead(request);
  if (isOptions) return allowAnswer(match.allow);
  const route = routeOf(exchange, match);
  if (route.access === "public") {
    if (route.isForMonitoring === true) checkMonitor(state, exchange);
    return await route.run(state);
  }
  checkLoad(state);
  const params = match.paramsOf(route);
  const companyCode = params["companyCode"] ?? "";
  const user = await identify(state, exchange, companyCode);
  const membership = authorise(route, user, companyCode);
  exchange.companyCode = membership.companyCode;
  return await runForCompany(state, exchange, { route, target, params, user, membership });
}

/** Translates what was thrown, once; what is our own fault is logged here, with its cause, and nowhere else. */
function knownError(state: DispatcherState, exchange: Exchange, failure: unknown): DropgateError {
  const message = "the store cannot be used at this moment; send the same request again later.";
  const isPassing = isPassingStoreError(failure);
  const thrown = isPassing ? new DropgateError("overloaded", message, { cause: failure }) : failure;
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

async function answerOf(state: DispatcherState, exchange: Exchange): Promise<Answer | undefined> {
  try {
    return await respond(state, exchange);
  } catch (thrown) {
    if (thrown instanceof ClientGone) return undefined;
    return refusalAnswer(knownError(state, exchange, thrown), exchange.errors, state.refusalDocument);
  } finally {
    exchange.share?.release();
  }
}

function finish(state: DispatcherState, exchange: Exchange, answer: Answer | undefined): void {
  const { response } = exchange;
  const isGone = answer === undefined || response.destroyed || response.headersSent;
  if (isGone) {
    response.destroy();
    logExchange(state.accessLog, exchange, 0, 0);
    return;
  }
  const mustClose = state.isStopping || state.options().keepAliveTimeoutMs === 0;
  const length = sendAnswer(exchange, answer, mustClose);
  logExchange(state.accessLog, exchange, answer.status, exchange.request.method === "HEAD" ? 0 : length);
}

/** Works one request off. Never rejects. */
export async function dispatch(
  state: DispatcherState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = openExchange(request, response);
  state.inHand.add(exchange);
  try {
    finish(state, exchange, await answerOf(state, exchange));
    // Until all of it has gone out the request is in hand: a stop waits for it.
    await exchange.streaming;
  } catch (error) {
    // Nothing but a fault of our own gets here; the connection is all that can still be given up.
    state.log.error({ err: error, requestId: exchange.id }, `http answer failed: ${messageOf(error)}`);
    response.destroy();
  } finally {
    state.inHand.delete(exchange);
  }
}
