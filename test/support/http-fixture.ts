/** The HTTP endpoint on a free port of loopback, with a scripted sign-in and scripted operations. */
import { type IncomingHttpHeaders, type RequestOptions, request } from "node:http";
import { request as tlsRequest } from "node:https";
import { connect } from "node:net";
import type { HttpOptions } from "../../src/endpoints/http/server/http-options.ts";
import type { Monitoring, Route } from "../../src/endpoints/http/server/route.ts";
import type { CallOperation, OperationContext } from "../../src/endpoints/http/server/operation-context.ts";
import type { JsonReaders } from "../../src/endpoints/http/server/request-content.ts";
import { createHttpEndpoint, type HttpEndpoint } from "../../src/endpoints/http/http-endpoint.ts";
import { submitStopDocument } from "../../src/inbound/submit-stop-document.ts";
import { DropgateError, type Fault, reasonCodeOf } from "../../src/lib/errors.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { findLegacyDocument } from "../../src/operations/legacy/legacy-document.ts";
import { findLegacyLoads } from "../../src/operations/legacy/legacy-loads.ts";
import { findLegacyStops } from "../../src/operations/legacy/legacy-stops.ts";
import { readStopDetail } from "../../src/operations/stops/stop-detail.ts";
import type { PasswordAttempt, SignedInUser, SignInOutcome } from "../../src/sign-in/sign-in.ts";

export const defaultOptions: HttpOptions = {
  host: "127.0.0.1",
  port: 0,
  basePath: "",
  allowPlain: false,
  trustedProxies: [],
  proxyProtocolFrom: [],
  legacyStatus: "ok",
  metricsFrom: ["127.0.0.0/8"],
  maxLoads: 500,
  maxEntries: 5_000,
  maxJsonDepth: 32,
  maxJsonValues: 500_000,
  unknownFields: "keep",
  maxBodyBytes: 100_000,
  maxBodyBytesInWork: 300_000,
  maxConnections: 500,
  maxConnectionsPerAddress: 400,
  maxUnauthenticatedConnections: 400,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 5_000,
  maxRequestsInFlight: 200,
};

const users: Readonly<Record<string, SignedInUser>> = {
  host: {
    userId: 1,
    userName: "host",
    memberships: [{ companyId: 7, companyCode: "ACME", roles: ["DI_Integration"] }],
    proof: { passwordVersion: "first" },
  },
  viewer: {
    userId: 2,
    userName: "viewer",
    memberships: [{ companyId: 7, companyCode: "ACME", roles: ["DI_Inquiry", "MemberAdmin"] }],
    proof: { passwordVersion: "first" },
  },
};

export interface HttpFixture {
  readonly endpoint: HttpEndpoint;
  readonly port: number;
  readonly log: string[];
  readonly attempts: PasswordAttempt[];
  readonly brokenLimits: string[];
  /** Addresses of connections that were open too long without a request. */
  readonly silences: string[];
  /** Addresses from which somebody has signed in lately. */
  readonly knownAddresses: Set<string>;
  readonly bannedForMs: Map<string, number>;
  close(): Promise<void>;
}

function scriptedSignIn(
  fixture: Pick<HttpFixture, "attempts" | "brokenLimits" | "silences" | "knownAddresses" | "bannedForMs">,
) {
  return {
    async withPassword(attempt: PasswordAttempt): Promise<SignInOutcome> {
      fixture.attempts.push(attempt);
      if (attempt.userName === "throttled") {
        return { kind: "refused", code: "tooManyAttempts", message: "too many", retryAfterMs: 12_000 };
      }
      const user = users[attempt.userName];
      if (user !== undefined && attempt.password === "pä:ss") return { kind: "signedIn", user };
      return { kind: "refused", code: "badCredentials", message: "wrong user or password" };
    },
    bannedForMs: (address: string) => fixture.bannedForMs.get(address) ?? 0,
    hasSignedInLately: (address: string) => fixture.knownAddresses.has(address),
    reportSilence: (address: string) => void fixture.silences.push(address),
    reportBrokenLimit: (address: string) => void fixture.brokenLimits.push(address),
  };
}

export const stopDocument = '{"Stop":{"stop":{"stopNbr":"A1"}}}';

/** What stands for an operation, which then gets its input alone. */
export interface Scripted {
  readonly operation: unknown;
  readonly answer: (...given: never) => unknown;
}

export function scripted<Given extends readonly unknown[], Result>(
  operation: (context: OperationContext, ...given: Given) => Result,
  answer: (...given: Given) => Result,
): Scripted {
  return { operation, answer };
}

const usual: readonly Scripted[] = [
  scripted(readStopDetail, async ({ stopNbr }) => {
    if (stopNbr === "boom") throw new Error("select * from /secret/path");
    if (stopNbr !== "A1") throw new DropgateError("stopNotFound", `there is no stop ${stopNbr}`);
    return stopDocument;
  }),
  scripted(findLegacyDocument, async ({ guid }) => {
    throw new DropgateError("documentNotFound", `there is no document ${guid}`);
  }),
  scripted(findLegacyStops, async () => ({ json: "[]", total: 0 })),
  scripted(findLegacyLoads, async () => ({ json: "[]", total: 0 })),
  scripted(submitStopDocument, async ({ bytes }) => ({
    ...{ status: 10, xml: `<StopResponse bytes="${bytes.length}"/>` },
  })),
];

/** Calls what stands for the operations; one for which nothing does is a write that works. */
function callScripted(scripts: readonly Scripted[]): CallOperation {
  const answers = new Map(scripts.map(({ operation, answer }) => [operation, answer]));
  const call = async (operation: unknown, ...given: never) => answers.get(operation)?.(...given);
  return call as CallOperation;
}

const monitoring: Monitoring = {
  health: () => ({ isReady: true, checks: { store: true }, messages: [] }),
  metrics: async () => "dropgate_ready 1\n",
};

export interface HttpParts extends Partial<Monitoring> {
  readonly scripts?: readonly Scripted[];
  /** Instead of scripted operations. */
  readonly call?: CallOperation;
  readonly readers?: JsonReaders;
  /** Instead of the interface. */
  readonly routes?: readonly Route[];
}

export function refusalDocument(faults: readonly Fault[]): string {
  const errors = faults.map(
    ({ code, message }) => `<Error ErrorMsgID="${reasonCodeOf(code)}">${message}</Error>`,
  );
  return `<StopResponse><Status>99</Status>${errors.join("")}</StopResponse>`;
}

export async function startHttp(
  options: Partial<HttpOptions> = {},
  { scripts = [], call = callScripted([...usual, ...scripts]), readers, routes, ...told }: HttpParts = {},
): Promise<HttpFixture> {
  const log: string[] = [];
  const recorded = {
    ...{ attempts: [], brokenLimits: [], silences: [] },
    knownAddresses: new Set<string>(),
    bannedForMs: new Map<string, number>(),
  };
  const endpoint = createHttpEndpoint({
    options: { ...defaultOptions, ...options },
    signIn: scriptedSignIn(recorded),
    call,
    monitoring: { ...monitoring, ...told },
    ...(readers === undefined ? {} : { readers }),
    ...(routes === undefined ? {} : { routes }),
    refusalDocument,
    log: createLogger({ level: "debug", destination: { write: (line) => void log.push(line) } }),
  });
  await endpoint.start(new AbortController().signal);
  const close = () => endpoint.stop(AbortSignal.timeout(200));
  return { ...recorded, endpoint, port: endpoint.port, log, close };
}

export const basic = (user: string, password = "pä:ss") =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Ask extends RequestOptions {
  readonly user?: string;
  readonly content?: string | Uint8Array;
  readonly type?: string;
  readonly ca?: string;
  readonly isTls?: boolean;
}

/** Sends one request on a connection of its own unless an agent is given. */
export function ask(port: number, method: string, path: string, options: Ask = {}): Promise<HttpReply> {
  const { user, content, type, isTls, headers, ...rest } = options;
  const all: Record<string, string> = { connection: "close" };
  if (user !== undefined) all["authorization"] = basic(user);
  if (type !== undefined) all["content-type"] = type;
  return new Promise((resolve, reject) => {
    const send = isTls === true ? tlsRequest : request;
    const target = { host: "127.0.0.1", port, method, path, agent: false as const, ...rest };
    const outgoing = send({ ...target, headers: { ...all, ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(content);
  });
}

/** Sends bytes as they are and gives everything that comes back until the server closes. */
export function sendRaw(port: number, text: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  });
}

export function reasonsOf(reply: HttpReply): number[] {
  const document: unknown = JSON.parse(reply.body);
  if (typeof document !== "object" || document === null || !("Reasons" in document)) return [];
  return (document.Reasons as { reasonCode: number }[]).map(({ reasonCode }) => reasonCode);
}
