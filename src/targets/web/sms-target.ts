/**
 * Hands text messages to a web service by a request that the configuration describes (docs/messages.md). The service
 * recognises a message by its id, which is the same at every attempt: `{{id}}` in the request, `Idempotency-Key` and
 * `X-Dropgate-Delivery`.
 */
import type { OutgoingHttpHeaders } from "node:http";
import { escapeJson, escapeUrl, fillTemplate } from "../../domain/messages/message-template.ts";
import type { CustomerMessage, Delivery, DeliveryOutcome, Target } from "../../outbound/target.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import { WebClient, type WebOptions } from "./web-client.ts";

export interface SmsTargetOptions
  extends Pick<
    WebOptions,
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
  readonly #client: WebClient;

  constructor(options: SmsTargetOptions) {
    this.concurrency = options.connections ?? 2;
    this.#options = options;
    // Without what is filled in, which may be the number of a customer.
    const where = options.url.replace(/[?{].*$/s, "");
    this.#client = new WebClient(options, { where, secrets: Object.values(options.secretHeaders) });
  }

  async deliver({ id, message }: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    if (message?.channel !== "sms")
      return failedBy("content", `${this.#client.where}: only text messages can be sent there.`);
    return await this.#client.attempt((bounded) => this.#send(id, message, bounded), signal);
  }

  /** Sends nothing: a service of this kind has no request that does nothing. Connects, so that TLS is tried. */
  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#client.attempt(async (bounded) => {
      const url = new URL(this.#client.where);
      await this.#client.send({ url, method: "HEAD", headers: {}, body: Buffer.alloc(0) }, bounded);
      return { kind: "delivered" };
    }, signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #send(id: string, { to, text }: CustomerMessage, signal: AbortSignal): Promise<DeliveryOutcome> {
    const { url: template, method, format, body: bodyTemplate = "" } = this.#options;
    const values = new Map(Object.entries({ to, text, id }));
    const body = Buffer.from(fillTemplate(bodyTemplate, values, format === "json" ? escapeJson : escapeUrl));
    const url = new URL(fillTemplate(template, values, escapeUrl));
    const content =
      method === "POST" ? { "Content-Type": contentTypes[format], "Content-Length": body.length } : {};
    const headers = { ...this.#headers(id), ...content };
    const answer = await this.#client.send({ url, method, headers, body }, signal);
    const ofCustomer = [to, to.replace("+", ""), text, escapeUrl(text), escapeJson(text)];
    return this.#client.judge(answer, method, ofCustomer);
  }

  #headers(id: string): OutgoingHttpHeaders {
    const { headers, secretHeaders } = this.#options;
    const values = new Map([["id", id]]);
    const filled = Object.entries(headers).map(([name, value]) => [
      name,
      fillTemplate(value, values, asItIs),
    ]);
    return {
      ...Object.fromEntries(filled),
      ...secretHeaders,
      ...this.#client.signIn,
      "Idempotency-Key": id,
      "X-Dropgate-Delivery": id,
    };
  }
}

/** Makes a target that hands text messages to a web service. 2xx is delivered; the rest is as for files over HTTPS. */
export function createSmsTarget(options: SmsTargetOptions): Target {
  return new SmsTarget(options);
}
