/** The gateway over HTTP, as hosts and devices use it: connections that are kept, Basic at once, a time limit for each request. */
import http from "node:http";
import https from "node:https";
import { messageOf } from "../../src/lib/errors.ts";

export interface GatewayRequest {
  readonly method: "GET" | "POST";
  /** Behind the address: `/v5/event/gps/DEMO`. */
  readonly path: string;
  /** JSON; of POST. */
  readonly body?: string;
  /** User name of the driver who asks; undefined for the host. */
  readonly sender: string | undefined;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly body: string;
  /** From the first byte sent to the last byte read. */
  readonly tookMs: number;
  /** What `Retry-After` asks for. */
  readonly retryAfterMs: number | undefined;
}

export interface GatewayClient {
  /** Rejects with an `UnreachableError` when no answer comes. */
  send(request: GatewayRequest): Promise<GatewayAnswer>;
  close(): void;
}

export interface GatewayClientOptions {
  /** Address with the base path, without a version: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly userName: string;
  readonly password: string;
  /** Of all drivers, when they sign in themselves. */
  readonly driverPassword?: string;
  /** How long the gateway may be silent; 30 seconds when not given. */
  readonly timeoutMs?: number;
}

/** No answer came: nobody listens there, the connection broke, or no data came for too long. */
export class UnreachableError extends Error {
  constructor(url: string, cause: unknown) {
    super(`${url} does not answer: ${messageOf(cause)}`, { cause });
    this.name = "UnreachableError";
  }
}

function basic(userName: string, password: string): string {
  return `Basic ${Buffer.from(`${userName}:${password}`).toString("base64")}`;
}

/** Of a header with seconds; a date is not what the gateway sends. */
function retryAfterOf({ headers }: http.IncomingMessage): number | undefined {
  const seconds = Number(headers["retry-after"] ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1_000 : undefined;
}

function readAnswer(response: http.IncomingMessage, sentAt: number): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => {
      resolve({
        status: response.statusCode ?? 0,
        body: Buffer.concat(chunks).toString("utf8"),
        tookMs: performance.now() - sentAt,
        retryAfterMs: retryAfterOf(response),
      });
    });
  });
}

function headersOf(body: string | undefined, authorization: string): http.OutgoingHttpHeaders {
  if (body === undefined) return { authorization };
  const length = Buffer.byteLength(body);
  return { authorization, "content-type": "application/json", "content-length": length };
}

interface Ask extends GatewayRequest {
  readonly url: string;
  readonly authorization: string;
  readonly agent: http.Agent;
  readonly timeoutMs: number;
}

function ask({ url, path, method, body, authorization, agent, timeoutMs }: Ask): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    const { request } = url.startsWith("https:") ? https : http;
    const sentAt = performance.now();
    const options = { method, agent, timeout: timeoutMs, headers: headersOf(body, authorization) };
    const asked = request(`${url}${path}`, options, (response) => {
      readAnswer(response, sentAt).then(resolve, reject);
    });
    asked.on("error", reject);
    asked.on("timeout", () => asked.destroy(new Error(`no data for ${timeoutMs} ms`)));
    asked.end(body);
  });
}

/** A client of one gateway; `close` ends its connections. */
export function createGatewayClient(options: GatewayClientOptions): GatewayClient {
  const { userName, password, driverPassword = password, timeoutMs = 30_000 } = options;
  const url = options.url.replace(/\/+$/, "");
  const agent = new (url.startsWith("https:") ? https : http).Agent({ keepAlive: true });
  const signIns = new Map<string | undefined, string>([[undefined, basic(userName, password)]]);
  const signInOf = (sender: string | undefined) => {
    const known = signIns.get(sender) ?? basic(sender ?? userName, driverPassword);
    signIns.set(sender, known);
    return known;
  };
  return {
    async send(request) {
      try {
        return await ask({ ...request, url, agent, timeoutMs, authorization: signInOf(request.sender) });
      } catch (error) {
        throw new UnreachableError(url, error);
      }
    },
    close: () => agent.destroy(),
  };
}
