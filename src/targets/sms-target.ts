/**
 * Hands text messages to a web service by a request that the configuration describes (docs/messages.md). The service knows a
 * message by its id, which is the same at every attempt: `{{id}}` in the request, `Idempotency-Key` and `X-Dropgate-Delivery`.
 */
import type { Agent, OutgoingHttpHeaders } from "node:http";
import { escapeJson, escapeUrl, fillTemplate } from "../domain/message-template.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import type { CustomerMessage, Delivery, DeliveryOutcome, Target } from "../outbound/target.ts";
import { outcomeOfAnswer } from "./https-answer.ts";
import { type RequestTimes, sendRequest } from "./https-request.ts";
import { agentOf, authorizationOf, type HttpsTargetOptions } from "./https-target.ts";
import { anyFault } from "../remote/network-faults.ts";
import { failedBy, outcomeOf, TransferFault } from "../remote/transfer-fault.ts";

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
  readonly #where: string;
  readonly #times: RequestTimes;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #secrets: readonly (string | undefined)[];
  #agent: Agent | undefined;

  constructor(options: SmsTargetOptions) {
    this.concurrency = options.connections ?? 2;
    this.#options = options;
    // Without what is filled in, which may be somebody's number.
    this.#where = options.url.replace(/[?{].*$/s, "");
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#times = {
      connectMs: Math.min(10_000, this.#timeoutMs),
      silenceMs: Math.min(30_000, this.#timeoutMs),
    };
    this.#clock = options.clock ?? systemClock;
    const basic = authorizationOf({ ...options, url: "" })?.split(" ")[1];
    this.#secrets = [options.password, options.bearerToken, basic, ...Object.values(options.secretHeaders)];
  }

  async deliver({ id, message }: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    if (message?.channel !== "sms")
      return failedBy("content", `${this.#where}: only text messages can be sent there.`);
    return await this.#within(signal, (bounded) => this.#send(id, message, bounded));
  }

  /** Sends nothing: a service of this kind has no request that does nothing. Connects, so that TLS is tried. */
  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#within(signal, async (bounded) => {
      const what = `HEAD ${this.#where}`;
      const url = new URL(this.#where);
      const request = { url, method: "HEAD", headers: {}, body: Buffer.alloc(0), what } as const;
      await sendRequest({ ...request, agent: this.#useAgent(url), times: this.#times }, bounded);
      return { kind: "delivered" };
    });
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
    const what = `${method} ${this.#where}`;
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
    const secrets = [...this.#secrets, ...ofCustomer];
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

  /** Under the total deadline; faults become outcomes. */
  async #within(
    signal: AbortSignal,
    work: (bounded: AbortSignal) => Promise<DeliveryOutcome>,
  ): Promise<DeliveryOutcome> {
    signal.throwIfAborted();
    const deadline = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await work(AbortSignal.any([signal, deadline]));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const where = this.#where;
      if (deadline.aborted) return failedBy("timeout", `${where}: not done within ${this.#timeoutMs} ms.`);
      if (error instanceof TransferFault) return outcomeOf(error);
      return outcomeOf(anyFault(error, where, this.#secrets));
    }
  }
}

/** Makes a target that hands text messages to a web service. 2xx is delivered; the rest is as for files over HTTPS. */
export function createSmsTarget(options: SmsTargetOptions): Target {
  return new SmsTarget(options);
}
