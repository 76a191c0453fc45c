/**
 * Posts each file to one address (docs/webhook.md). The other side knows a delivery by `X-Dropgate-Delivery`, which is the
 * same at every attempt, so a file that is sent twice is taken once.
 */
import { createHmac } from "node:crypto";
import * as http from "node:http";
import * as https from "node:https";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Delivery, DeliveryFile, DeliveryOutcome, Target } from "../../outbound/target.ts";
import { readBytes } from "../delivery-bytes.ts";
import { checkNames } from "../delivery-names.ts";
import { outcomeOfAnswer, type HttpAnswer } from "./https-answer.ts";
import { type PlainRequest, type RequestTimes, sendRequest } from "./https-request.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import { type DeadlineOptions, withinDeadline } from "./within-deadline.ts";

export interface HttpsTargetOptions {
  /** `https:`, or `http:` with `allowPlain`. */
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  /** Instead of user and password. */
  readonly bearerToken?: string;
  /** For `X-Dropgate-Signature`. */
  readonly signatureSecret?: string;
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
  /** Default 4. */
  readonly connections?: number;
  readonly clock?: Clock;
}

/** Keeps connections, and trusts whom the options say. */
export function agentOf(options: HttpsTargetOptions, url: URL): http.Agent {
  const shared = {
    keepAlive: true,
    maxSockets: options.connections ?? 4,
    maxFreeSockets: 4,
    timeout: 15_000,
  };
  if (url.protocol !== "https:") return new http.Agent(shared);
  const { ca, certificate, privateKey, passphrase, serverName } = options;
  return new https.Agent({
    ...shared,
    minVersion: "TLSv1.2",
    // Said here, because NODE_TLS_REJECT_UNAUTHORIZED in the environment would let everybody in otherwise.
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined ? {} : { cert: certificate }),
    ...(privateKey === undefined ? {} : { key: privateKey }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  });
}

/** The value of `Authorization`, if any. */
export function authorizationOf({
  user,
  password = "",
  bearerToken,
}: HttpsTargetOptions): string | undefined {
  if (bearerToken !== undefined) return `Bearer ${bearerToken}`;
  return user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** The address without what may be secret in it. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function configurationFault({ url, allowPlain = false }: HttpsTargetOptions): string | undefined {
  if (!URL.canParse(url)) return "`url` is not an address; write https://host/path.";
  const { protocol, username } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return "`url` begins with neither https: nor http:.";
  if (protocol === "http:" && !allowPlain)
    return "`url` is http:, which anybody on the network path can read and change; use https:, or set `allowPlain`.";
  return username === "" ? undefined : "`url` has a user in it; use `user` and `password`.";
}

class HttpsTarget implements Target {
  readonly concurrency: number;
  readonly #options: HttpsTargetOptions;
  readonly #url: URL;
  readonly #times: RequestTimes;
  readonly #clock: Clock;
  readonly #bounds: DeadlineOptions;
  #agent: http.Agent | undefined;

  constructor(options: HttpsTargetOptions) {
    this.concurrency = options.connections ?? 4;
    this.#options = options;
    this.#url = new URL(options.url);
    const timeoutMs = options.timeoutMs ?? 60_000;
    this.#times = {
      connectMs: Math.min(options.connectMs ?? 10_000, timeoutMs),
      silenceMs: Math.min(options.silenceMs ?? 30_000, timeoutMs),
    };
    this.#clock = options.clock ?? systemClock;
    const basic = authorizationOf(options)?.split(" ")[1];
    const secrets = [options.password, options.bearerToken, options.signatureSecret, basic];
    this.#bounds = { timeoutMs, where: shown(this.#url), secrets };
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    const work = async (bounded: AbortSignal): Promise<DeliveryOutcome> => {
      checkNames(delivery);
      for (const [index, file] of delivery.files.entries()) {
        const outcome = await this.#post({ delivery, file, index }, bounded);
        if (outcome.kind !== "delivered") return outcome;
      }
      return { kind: "delivered" };
    };
    return await withinDeadline(this.#bounds, work, signal);
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    const work = async (bounded: AbortSignal): Promise<DeliveryOutcome> => {
      const headers = { ...this.#signIn(), "X-Dropgate-Probe": "1" };
      const answer = await this.#send({ method: "HEAD", headers, body: Buffer.alloc(0) }, bounded);
      const isSignIn = answer.status === 401 || answer.status === 403;
      const isRedirect = answer.status >= 300 && answer.status < 400;
      // Receivers know POST alone as a rule: 404 or 405 for a HEAD says only that somebody is there.
      if (!isSignIn && !isRedirect && answer.status < 500) return { kind: "delivered" };
      return this.#judge(answer, "HEAD");
    };
    return await withinDeadline(this.#bounds, work, signal);
  }

  async close(): Promise<void> {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #signIn(): http.OutgoingHttpHeaders {
    const authorization = authorizationOf(this.#options);
    return {
      "User-Agent": "dropgate",
      Accept: "*/*",
      ...(authorization === undefined ? {} : { Authorization: authorization }),
    };
  }

  async #post(
    { delivery, file, index }: { delivery: Delivery; file: DeliveryFile; index: number },
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    const body = await readBytes(file);
    // Each post has an id of its own, so that the other side can tell repetitions by the id alone.
    const id = delivery.files.length === 1 ? delivery.id : `${delivery.id}-${index + 1}`;
    const headers = {
      ...this.#signIn(),
      "Content-Type": file.contentType,
      "Content-Length": body.byteLength,
      "X-Dropgate-Delivery": id,
      "X-Dropgate-File": file.name,
      "X-Dropgate-Company": delivery.companyCode,
      ...(delivery.directory === undefined ? {} : { "X-Dropgate-Directory": delivery.directory }),
      ...this.#signature(id, body),
    };
    return this.#judge(await this.#send({ method: "POST", headers, body }, signal), "POST");
  }

  #signature(id: string, body: Uint8Array): http.OutgoingHttpHeaders {
    const { signatureSecret } = this.#options;
    if (signatureSecret === undefined) return {};
    const timestamp = String(Math.floor(this.#clock.now() / 1_000));
    const mac = createHmac("sha256", signatureSecret).update(`${id}.${timestamp}.`).update(body);
    return { "X-Dropgate-Timestamp": timestamp, "X-Dropgate-Signature": `sha256=${mac.digest("hex")}` };
  }

  async #send(
    request: Pick<PlainRequest, "method" | "headers" | "body">,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    this.#agent ??= agentOf(this.#options, this.#url);
    const what = `${request.method} ${this.#bounds.where}`;
    return await sendRequest(
      { ...request, url: this.#url, agent: this.#agent, times: this.#times, what },
      signal,
    );
  }

  #judge(answer: HttpAnswer, method: string): DeliveryOutcome {
    const what = `${method} ${this.#bounds.where}`;
    return outcomeOfAnswer(answer, { what, secrets: this.#bounds.secrets, nowMs: this.#clock.now() });
  }
}

/** A target that cannot be used as it is configured: every attempt says why, and the deliveries wait. */
function misconfigured(message: string): Target {
  const outcome = async (): Promise<DeliveryOutcome> => failedBy("configuration", message);
  return { concurrency: 1, deliver: outcome, probe: outcome, close: async () => undefined };
}

/**
 * Makes a target that posts each file (specification/outbound.md#targets). 2xx is delivered. 408, 425, 429 and 5xx are
 * tried again, other 4xx and redirects are not. `close` cuts what is under way.
 */
export function createHttpsTarget(options: HttpsTargetOptions): Target {
  const fault = configurationFault(options);
  return fault === undefined ? new HttpsTarget(options) : misconfigured(fault);
}
