/**
 * Posts each file to one address (docs/webhook.md). The receiver recognises a delivery by `X-Dropgate-Delivery`, which is
 * the same at every attempt, so it takes a file that comes twice only once.
 */
import { createHmac } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import type { Delivery, DeliveryFile, DeliveryOutcome, Target } from "../../outbound/target.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import { checkNames, readBytes } from "../delivery-files.ts";
import { WebClient, type WebOptions } from "./web-client.ts";

export interface HttpsTargetOptions extends WebOptions {
  /** `https:`, or `http:` with `allowPlain`. */
  readonly url: string;
  /** For `X-Dropgate-Signature`. */
  readonly signatureSecret?: string;
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
  readonly #signatureSecret: string | undefined;
  readonly #url: URL;
  readonly #client: WebClient;

  constructor(options: HttpsTargetOptions) {
    this.concurrency = options.connections ?? 4;
    this.#signatureSecret = options.signatureSecret;
    this.#url = new URL(options.url);
    // The address without what may be secret in it.
    const where = `${this.#url.origin}${this.#url.pathname}`;
    this.#client = new WebClient(options, { where, secrets: [options.signatureSecret] });
  }

  async deliver(delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#client.attempt(async (bounded) => {
      checkNames(delivery);
      for (const [index, file] of delivery.files.entries()) {
        const outcome = await this.#post({ delivery, file, index }, bounded);
        if (outcome.kind !== "delivered") return outcome;
      }
      return { kind: "delivered" };
    }, signal);
  }

  async probe(signal: AbortSignal): Promise<DeliveryOutcome> {
    return await this.#client.attempt(async (bounded) => {
      const headers = { ...this.#headers(), "X-Dropgate-Probe": "1" };
      const request = { url: this.#url, method: "HEAD", headers, body: Buffer.alloc(0) } as const;
      const answer = await this.#client.send(request, bounded);
      const isSignIn = answer.status === 401 || answer.status === 403;
      const isRedirect = answer.status >= 300 && answer.status < 400;
      // Receivers know POST alone as a rule: 404 or 405 for a HEAD says only that a server is there.
      if (!isSignIn && !isRedirect && answer.status < 500) return { kind: "delivered" };
      return this.#client.judge(answer, "HEAD");
    }, signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #headers(): OutgoingHttpHeaders {
    return { "User-Agent": "dropgate", Accept: "*/*", ...this.#client.signIn };
  }

  async #post(
    { delivery, file, index }: { delivery: Delivery; file: DeliveryFile; index: number },
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    const body = await readBytes(file);
    // Each post has an id of its own, so that the id alone shows the receiver a repetition.
    const id = delivery.files.length === 1 ? delivery.id : `${delivery.id}-${index + 1}`;
    const headers = {
      ...this.#headers(),
      "Content-Type": file.contentType,
      "Content-Length": body.byteLength,
      "X-Dropgate-Delivery": id,
      "X-Dropgate-File": file.name,
      "X-Dropgate-Company": delivery.companyCode,
      ...(delivery.directory === undefined ? {} : { "X-Dropgate-Directory": delivery.directory }),
      ...this.#signature(id, body),
    };
    const answer = await this.#client.send({ url: this.#url, method: "POST", headers, body }, signal);
    return this.#client.judge(answer, "POST");
  }

  #signature(id: string, body: Uint8Array): OutgoingHttpHeaders {
    if (this.#signatureSecret === undefined) return {};
    const timestamp = String(Math.floor(this.#client.clock.now() / 1_000));
    const mac = createHmac("sha256", this.#signatureSecret).update(`${id}.${timestamp}.`).update(body);
    return { "X-Dropgate-Timestamp": timestamp, "X-Dropgate-Signature": `sha256=${mac.digest("hex")}` };
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
