/** A browser at the console, as far as times are concerned: signs in, and tells when the first byte of a page came. */
import { Agent, request, type IncomingMessage } from "node:http";

export interface PageTiming {
  readonly status: number;
  /** From the request to the first byte of the answer. */
  readonly firstByteMs: number;
  readonly location: string | undefined;
  readonly body: string;
}

export class ConsoleClient {
  readonly #base: URL;
  readonly #agent = new Agent({ keepAlive: true });
  #cookie = "";

  /** `http`: the address of HTTP, without a path. */
  constructor(http: string) {
    this.#base = new URL(http);
  }

  async signIn(userName: string, password: string): Promise<void> {
    const form = new URLSearchParams({ userName, password, next: "/console" });
    const reply = await this.#send("POST", "/console/sign-in", String(form));
    if (reply.status !== 303 || this.#cookie === "")
      throw new Error(`the sign-in to the console was answered with ${reply.status}`);
  }

  /** Rejects for anything but a page, or a redirect to one. */
  async get(path: string): Promise<PageTiming> {
    const reply = await this.#send("GET", path);
    if (reply.status !== 200 && reply.status !== 303)
      throw new Error(`${path} was answered with ${reply.status}: ${reply.body.slice(0, 500)}`);
    return reply;
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body = ""): Promise<PageTiming> {
    const { host, hostname, port, origin } = this.#base;
    const headers = {
      ...{ host, origin, cookie: this.#cookie },
      ...(body === "" ? {} : { "content-type": "application/x-www-form-urlencoded" }),
    };
    return new Promise((resolve, reject) => {
      const begun = performance.now();
      const sent = request({ method, path, hostname, port, headers, agent: this.#agent }, (reply) => {
        const firstByteMs = performance.now() - begun;
        this.#keepCookie(reply);
        let text = "";
        reply.setEncoding("utf8").on("data", (part: string) => (text += part));
        reply.on("error", reject).on("end", () => {
          const { statusCode: status = 0, headers: told } = reply;
          resolve({ status, firstByteMs, location: told.location, body: text });
        });
      });
      sent.on("error", reject).end(body);
    });
  }

  #keepCookie({ headers }: IncomingMessage): void {
    for (const cookie of headers["set-cookie"] ?? []) this.#cookie = cookie.split(";")[0] ?? "";
  }
}
