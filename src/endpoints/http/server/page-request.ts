/** What a page of the console gets of its request; the dispatcher knows nothing else of pages. */
import type { AddressSet } from "../../../lib/address-range.ts";
import { checkTransport } from "./authentication.ts";
import { clientAddress } from "./client-address.ts";
import type { Exchange } from "./exchange.ts";
import type { HttpConnections } from "./http-connections.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { type BodyServices, formOf, signalFor } from "./request-content.ts";
import { originFormOf, type RequestTarget, readQuery } from "./request-target.ts";
import type { PageArea, PageRequest } from "./route.ts";

export interface PageServices extends BodyServices {
  readonly connections: Pick<HttpConnections, "signIn">;
  readonly trustedProxies: AddressSet;
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

/** Whether the path belongs to the pages, with the base path or without. */
export function isInArea({ root }: PageArea, segments: readonly string[], basePath: string): boolean {
  const base = partsOf(basePath);
  const below = base.every((part, index) => segments[index] === part) ? segments.slice(base.length) : [];
  return segments[0] === root || below[0] === root;
}

function targetWithoutBase(url: string, basePath: string): string {
  const target = originFormOf(url);
  return basePath !== "" && target.startsWith(`${basePath}/`) ? target.slice(basePath.length) : target;
}

/** From now on its connection is one that keeps its place, if there is room. */
export function noteSignedIn(state: Pick<PageServices, "connections">, { request }: Exchange): void {
  if (state.connections.signIn(request.socket)) return;
  throw new HttpRefusal(
    "overloaded",
    "too many connections of signed-in users are open at the moment. Try again in a few seconds.",
  );
}

function queryOf(query: string): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const { name, value } of readQuery(query)) parameters.append(name, value);
  return parameters;
}

/** The request as its page sees it. */
export function pageRequestOf(
  state: PageServices,
  exchange: Exchange,
  { target, params }: { readonly target: RequestTarget; readonly params: PageRequest["params"] },
): PageRequest {
  const { request, response } = exchange;
  const peer = exchange.address;
  exchange.address = clientAddress(peer, request.headers, state.trustedProxies);
  const { allowPlain, basePath } = state.options();
  return {
    requestId: exchange.id,
    headers: request.headers,
    params,
    query: queryOf(target.query),
    target: targetWithoutBase(request.url ?? "", basePath),
    address: exchange.address,
    isEncrypted: "encrypted" in request.socket,
    form: (maxBytes) => formOf(state, exchange, maxBytes),
    checkTransport: () => checkTransport(request.socket, peer, allowPlain),
    noteUser(userName) {
      exchange.userName = userName;
      noteSignedIn(state, exchange);
    },
    signal: () => signalFor(response),
  };
}
