/** What the targets over HTTP share: kept connections, the total time of an attempt, and messages without secrets. */
import * as http from "node:http";
import * as https from "node:https";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import type { DeliveryOutcome } from "../../outbound/target.ts";
import { anyFault } from "../../remote/network-faults.ts";
import { failedBy, outcomeOf } from "../../remote/transfer-fault.ts";
import { type HttpAnswer, outcomeOfAnswer } from "./https-answer.ts";
import { type PlainRequest, type RequestTimes, sendRequest } from "./https-request.ts";

export interface WebOptions {
  readonly user?: string;
  readonly password?: string;
  /** Instead of user and password. */
  readonly bearerToken?: string;
  /** PEM of the authorities that are trusted, instead of the public ones that Node brings (not the system's). */
  readonly ca?: string;
  /** PEM of our certificate with its chain, and of its key, for servers that ask for one. */
  readonly certificate?: string;
  readonly privateKey?: string;
  readonly passphrase?: string;
  /** The name that the certificate must have, when it is not the host of the address. */
  readonly serverName?: string;
  readonly allowPlain?: boolean;
  /** Of a whole attempt. Default 60,000. */
  readonly timeoutMs?: number;
  /** Default 10,000, but never more than `timeoutMs`. */
  readonly connectMs?: number;
  /** How long nothing may come or go. Default 30,000, but never more than `timeoutMs`. */
  readonly silenceMs?: number;
  readonly connections?: number;
  readonly clock?: Clock;
}

/** Keeps connections, and trusts whom the options say. */
function agentOf(options: WebOptions, url: URL): http.Agent {
  const { ca, certificate, privateKey, passphrase, serverName, connections = 4 } = options;
  const shared = { keepAlive: true, maxSockets: connections, maxFreeSockets: 4, timeout: 15_000 };
  if (url.protocol !== "https:") return new http.Agent(shared);
  return new https.Agent({
    ...shared,
    minVersion: "TLSv1.2",
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED in the environment would let everybody in otherwise.
    rejectUnauthorized: true,
    ...given({ ca, cert: certificate, key: privateKey, passphrase, servername: serverName }),
  });
}

function authorizationOf({ user, password = "", bearerToken }: WebOptions): string | undefined {
  if (bearerToken !== undefined) return `Bearer ${bearerToken}`;
  return user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

export class WebClient {
  /** The address, as messages have it. */
  readonly where: string;
  readonly clock: Clock;
  /** The header `Authorization`, if any. */
  readonly signIn: http.OutgoingHttpHeaders;
  readonly #options: WebOptions;
  readonly #secrets: readonly (string | undefined)[];
  readonly #timeoutMs: number;
  readonly #times: RequestTimes;
  #agent: http.Agent | undefined;

  /** `where` has nothing secret; `secrets` besides those of the sign-in are kept out of messages. */
  constructor(
    options: WebOptions,
    { where, secrets }: { readonly where: string; readonly secrets: readonly (string | undefined)[] },
  ) {
    const { timeoutMs = 60_000, connectMs = 10_000, silenceMs = 30_000, clock = systemClock } = options;
    const authorization = authorizationOf(options);
    this.where = where;
    this.clock = clock;
    this.signIn = authorization === undefined ? {} : { Authorization: authorization };
    this.#options = options;
    this.#secrets = [options.password, options.bearerToken, authorization?.split(" ")[1], ...secrets];
    this.#timeoutMs = timeoutMs;
    this.#times = {
      connectMs: Math.min(connectMs, timeoutMs),
      silenceMs: Math.min(silenceMs, timeoutMs),
    };
  }

  /** Work under the total deadline; faults become outcomes. Rejects with the signal's reason when that is aborted. */
  async attempt(
    work: (bounded: AbortSignal) => Promise<DeliveryOutcome>,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await work(AbortSignal.any([signal, deadline]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (deadline.aborted)
        return failedBy("timeout", `${this.where}: not done within ${this.#timeoutMs} ms.`);
      return outcomeOf(anyFault(error, this.where, this.#secrets));
    }
  }

  async send(
    request: Pick<PlainRequest, "url" | "method" | "headers" | "body">,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    this.#agent ??= agentOf(this.#options, request.url);
    const what = `${request.method} ${this.where}`;
    return await sendRequest({ ...request, agent: this.#agent, times: this.#times, what }, signal);
  }

  /** What the answer means; `secrets` of this request are kept out of the message as well. */
  judge(answer: HttpAnswer, method: string, secrets: readonly string[] = []): DeliveryOutcome {
    const context = { what: `${method} ${this.where}`, nowMs: this.clock.now() };
    return outcomeOfAnswer(answer, { ...context, secrets: [...this.#secrets, ...secrets] });
  }

  async close(): Promise<void> {
    this.#agent?.destroy();
    this.#agent = undefined;
  }
}
