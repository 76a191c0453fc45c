/**
 * Hands text messages to a web service by a request that the configuration describes (docs/messages.md). The service knows a
 * message by its id, which is the same at every attempt: `{{id}}` in the request, `Idempotency-Key` and `X-Dropgate-Delivery`.
 */
import type { Agent, OutgoingHttpHeaders } from "node:http";
import { escapeJson, escapeUrl, fillTemplate } from "../../domain/messages/message-template.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { CustomerMessage, Delivery, DeliveryOutcome, Target } from "../../outbound/target.ts";
import { outcomeOfAnswer } from "./https-answer.ts";
import { type RequestTimes, sendRequest } from "./https-request.ts";
import { agentOf, authorizationOf, type HttpsTargetOptions } from "./https-target.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import { type DeadlineOptions, withinDeadline } from "./within-deadline.ts";

export interface SmsTargetOptions
  extends Pick<
    HttpsTargetOptions,
    "user" | "password" | "bearerToken" | "ca" | "allowPlain" | "timeoutMs" | "connections" | "clock"
  > {
  /** Template. */
  readonly url: string;
  readonly method: "POST" | "GET";
  readonly format: "json" | "form";
  /** Template. */
  readonly body?: string;
  /** Templates, by name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Values as they are. */
  readonly secretHeaders: Readonly<Record<string, string>>;
}

const contentTypes = {
  json: "application/json; charset=utf-8",
  form: "application/x-www-form-urlencoded; charset=utf-8",
} as const;
const asItIs = (value: string) => value;

class SmsTarget implements Target {
  readonly concurrency: number;
  readonly #options: SmsTargetOptions;
  readonly #times: RequestTimes;
  readonly #clock: Clock;
  readonly #bounds: DeadlineOptions;
  #agent: Agent | undefined;

  constructor(options: SmsTargetOptions) {
    this.concurrency = options.connections ?? 2;
    this.#options = options;
    const timeoutMs = options.timeoutMs ?? 60_000;
    this.#times = { connectMs: Math.min(10_000, timeoutMs), silenceMs: Math.min(30_000, timeoutMs) };
    this.#clock = options.clock ?? systemClock;
    const basic = authorizationOf({ ...options, url: "" })?.split(" ")[1];
    // Without what is filled in, which may be somebody's number.
    const where = options.url.replace(/[?{].*$/s, "");
    const secrets = [options.password, options.bearerToken, basic, ...Object.values(options.secretHeaders)];
    this.#bounds = { timeoutMs, where, secrets };
  }

  async deliver({ id, message }: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    if (message?.channel !== "sms")
      return failedBy("content", `${this.#bounds.where}: only text messages can be sent there.`);
    return await withinDeadline(this.#bounds, (bounded) => this.#send(id, message, bounded), signal);
  }

  /** Sends nothing: a service of this kind has no request that does nothing. Connects, so that TLS is tried. */
  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    const work = async (bounded: AbortSignal): Promise<DeliveryOutcome> => {
      const what = `HEAD ${this.#bounds.where}`;
      const url = new URL(this.#bounds.where);
      const request = { url, method: "HEAD", headers: {}, body: Buffer.alloc(0), what } as const;
      await sendRequest({ ...request, agent: this.#useAgent(url), times: this.#times }, bounded);
      return { kind: "delivered" };
    };
    return await withinDeadline(this.#bounds, work, signal);
  }

  async close(): Promise<void> {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #useAgent(url: URL): Agent {
    this.#agent ??= agentOf({ ...this.#options, url: url.href }, url);
    return this.#agent;
  }

  async #send(id: string, { to, text }: CustomerMessage, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { url: template, method, format, body } = this.#options;
    const values = new Map(Object.entries({ to, text, id }));
    const escapeValue = format === "json" ? escapeJson : escapeUrl;
    const bytes = Buffer.from(body === undefined ? "" : fillTemplate(body, values, escapeValue));
    const url = new URL(fillTemplate(template, values, escapeUrl));
    const what = `${method} ${this.#bounds.where}`;
    const content =
      method === "POST" ? { "Content-Type": contentTypes[format], "Content-Length": bytes.length } : {};
    const answer = await sendRequest(
      {
        ...{ url, method, what, body: bytes, agent: this.#useAgent(url), times: this.#times },
        headers: { ...this.#headers(id), ...content },
      },
      signal,
    );
    const ofCustomer = [to, to.replace("+", ""), text, escapeUrl(text), escapeJson(text)];
    const secrets = [...this.#bounds.secrets, ...ofCustomer];
    return outcomeOfAnswer(answer, { what, secrets, nowMs: this.#clock.now() });
  }

  #headers(id: string): OutgoingHttpHeaders {
    const { headers, secretHeaders } = this.#options;
    const values = new Map([["id", id]]);
    const filled = Object.entries(headers).map(([name, value]) => [
      name,
      fillTemplate(value, values, asItIs),
    ]);
    const authorization = authorizationOf({ ...this.#options, url: "" });
    return {
      ...Object.fromEntries(filled),
      ...secretHeaders,
      ...(authorization === undefined ? {} : { Authorization: authorization }),
      "Idempotency-Key": id,
      "X-Dropgate-Delivery": id,
    };
  }
}

/** Makes a target that hands text messages to a web service. 2xx is delivered; the rest is as for files over HTTPS. */
export function createSmsTarget(options: SmsTargetOptions): Target {
  return new SmsTarget(options);
}
