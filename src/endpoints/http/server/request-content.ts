/**
 * What an operation gets of a request's body: parsed JSON, or bytes where something else reads them. Large JSON is never parsed
 * here: bodies of imports and route events are read in the reader threads by their operation, others are checked there, so that a plain parse is
 * all that is left.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { parseJsonBytes } from "../../../lib/json-text.ts";
import { largeBodyBytes } from "../../../operations/imports/import-preparation.ts";
import type { BodyToCheck } from "../../../operations/imports/import-threads.ts";
import { defaultService, type SentBody } from "../../../operations/imports/service-import.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { Exchange } from "./exchange.ts";
import { type HttpOptions, jsonLimitsOf } from "./http-options.ts";
import { ClientGone } from "./http-refusal.ts";
import { checkMediaType, isXmlBody, xmlMedia } from "./media-type.ts";
import { announcedLength, bodyAtHand, readBody } from "./body-bytes.ts";
import type { CompanyRoute, OperationRequest } from "./route.ts";

/** The reader threads, as far as bodies need them. */
export interface JsonReaders {
  check(body: BodyToCheck): Promise<Uint8Array>;
}

export interface BodyServices {
  readonly options: () => HttpOptions;
  readonly bodies: BodyBudget;
  /** Without them all JSON is parsed at once. */
  readonly readers: JsonReaders | undefined;
}

export interface AskedOperation {
  readonly route: CompanyRoute;
  readonly body: "json" | "xml";
  readonly params: Readonly<Record<string, string>>;
  readonly companyCode: string;
}

export type Content = Pick<OperationRequest, "json" | "large" | "bytes" | "charset" | "sent">;

/** That of a request whose route takes no body. */
export const noContent: Content = {
  json: undefined,
  large: undefined,
  bytes: new Uint8Array(0),
  charset: undefined,
  sent: undefined,
};

/** Aborts when the client is gone. */
export function signalFor(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => controller.abort(new ClientGone()));
  return controller.signal;
}

type Limits = Pick<HttpOptions, "maxBodyBytes" | "requestTimeoutMs">;

async function receiveBody(services: BodyServices, exchange: Exchange, limits: Limits): Promise<Buffer> {
  const { request, response } = exchange;
  const reserve = async (bytes: number, timeoutMs: number) => {
    exchange.share = await services.bodies.reserve(bytes, timeoutMs, signalFor(response));
    return exchange.share;
  };
  return await readBody(request, response, { limits, reserve });
}

async function bodyOf(services: BodyServices, exchange: Exchange, limits: Limits): Promise<Buffer> {
  const bytes = bodyAtHand(exchange.request, limits) ?? (await receiveBody(services, exchange, limits));
  exchange.bytesIn = bytes.length;
  return bytes;
}

/** The fields of a form, as browsers send it. Rejects with 942 (415) for another type, 909 (413) for more bytes. */
export async function formOf(
  services: BodyServices,
  exchange: Exchange,
  maxBytes: number,
): Promise<URLSearchParams> {
  checkMediaType(exchange.request.headers, ["application/x-www-form-urlencoded"], "form");
  const { requestTimeoutMs, maxBodyBytes } = services.options();
  const limits = { requestTimeoutMs, maxBodyBytes: Math.min(maxBytes, maxBodyBytes) };
  return new URLSearchParams((await bodyOf(services, exchange, limits)).toString("utf8"));
}

/** The form of a body that is for a custom integration, which reads it itself; undefined for all others. */
function formToMap(
  { isMappable }: CompanyRoute,
  { headers }: IncomingMessage,
  params: AskedOperation["params"],
): SentBody["form"] | undefined {
  if (isMappable !== true || params["serviceName"] === defaultService) return undefined;
  return isXmlBody(headers) ? "xml" : "json";
}

/** Parses a body that has been checked in a thread. */
async function checkedContent(checking: Promise<Uint8Array>): Promise<Content> {
  const text = new TextDecoder().decode(await checking);
  await setImmediate();
  return { ...noContent, json: JSON.parse(text) };
}

async function jsonContent(
  { options, readers }: BodyServices,
  { route, companyCode }: AskedOperation,
  bytes: Buffer,
): Promise<Content> {
  const limits = jsonLimitsOf(options());
  if (bytes.length <= largeBodyBytes) return { ...noContent, json: parseJsonBytes(bytes, limits) };
  if (route.takesLarge === true) return { ...noContent, large: bytes };
  if (readers === undefined) return { ...noContent, json: parseJsonBytes(bytes, limits) };
  return checkedContent(readers.check({ bytes, limits, companyCode }));
}

/** The content for the operation. Once JSON is parsed, nothing must keep its bytes in memory. */
export async function contentOf(
  services: BodyServices,
  exchange: Exchange,
  asked: AskedOperation,
): Promise<Content> {
  const { route, body, params } = asked;
  const { media } = route;
  const { request } = exchange;
  if (route.isBodyOptional === true && announcedLength(request) === 0) return { ...noContent, json: {} };
  const form = formToMap(route, request, params);
  const charset = checkMediaType(
    request.headers,
    form === undefined ? media : [...media, ...xmlMedia],
    form ?? body,
  );
  const bytes = await bodyOf(services, exchange, services.options());
  if (form !== undefined) return { ...noContent, sent: { form, bytes, charset } };
  if (body === "xml") return { ...noContent, bytes, charset };
  return jsonContent(services, asked, bytes);
}
