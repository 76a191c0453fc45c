/** Reads a request's body: bounded in bytes and in time, and by what all bodies in work may have together. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type BodyShare, tooBusy, uncountedBodyBytes } from "./body-budget.ts";
import type { HttpOptions } from "./http-options.ts";
import { ClientGone, HttpRefusal } from "./http-refusal.ts";

type BodyLimits = Pick<HttpOptions, "maxBodyBytes" | "requestTimeoutMs">;

export interface BodyWork {
  readonly limits: BodyLimits;
  /**
   * Waits for a share of the budget, at most so many milliseconds. The caller releases it at the end of the request.
   */
  readonly reserve: (bytes: number, timeoutMs: number) => Promise<BodyShare>;
}

function tooLarge(limit: number): HttpRefusal {
  return new HttpRefusal("tooLarge", `the body is larger than ${limit} bytes. Send it in several requests.`);
}

function tooSlow(timeoutMs: number): HttpRefusal {
  const message = `the body did not arrive within ${timeoutMs / 1000} seconds. Send it again, without pauses.`;
  return new HttpRefusal("notJson", message, { status: 408, headers: { connection: "close" } });
}

/** The length the client announced, or undefined for a chunked body. The parser has refused odd ones. */
export function announcedLength(request: IncomingMessage): number | undefined {
  if (request.headers["transfer-encoding"] !== undefined) return undefined;
  return Number(request.headers["content-length"] ?? 0);
}

interface Received {
  readonly chunks: Buffer[];
  size: number;
}

interface Stretch {
  /** The stretch ends when more than this has come in all. */
  readonly most: number;
  readonly timeoutMs: number;
  readonly late: () => HttpRefusal;
}

/** Made here and not where it is used: there it would keep the body in memory as long as the request. */
const ignore = () => undefined;

/** Reads on until the end of the body, or until more than `most` has come; then the rest is left to the socket. */
function collect(
  request: IncomingMessage,
  received: Received,
  { most, timeoutMs, late }: Stretch,
): Promise<"ended" | "more"> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(late())), timeoutMs);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      // An abort after this must not find the error event without a listener.
      request.off("error", ignore).on("error", ignore);
      finish();
    };
    const onData = (chunk: Buffer) => {
      received.size += chunk.length;
      received.chunks.push(chunk);
      if (received.size <= most) return;
      request.pause();
      settle(() => resolve("more"));
    };
    const onEnd = () => settle(() => resolve("ended"));
    const onGone = () => settle(() => reject(new ClientGone()));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
    if (request.destroyed) onGone();
    else request.resume();
  });
}

/** Reads one body: takes its share before what needs one is read. */
class BodyReader {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #work: BodyWork;
  readonly #startedAtMs = performance.now();
  readonly #received: Received = { chunks: [], size: 0 };
  #waitedMs = 0;

  constructor(request: IncomingMessage, response: ServerResponse, work: BodyWork) {
    this.#request = request;
    this.#response = response;
    this.#work = work;
  }

  async read(): Promise<Buffer> {
    const { maxBodyBytes } = this.#work.limits;
    const length = announcedLength(this.#request);
    if (length !== undefined && length > maxBodyBytes) throw tooLarge(maxBodyBytes);
    const share = await this.#readWithShare(length);
    const { chunks, size } = this.#received;
    share?.reduceTo(size);
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size);
  }

  async #readWithShare(length: number | undefined): Promise<BodyShare | undefined> {
    const share =
      length !== undefined && length > uncountedBodyBytes ? await this.#reserve(length) : undefined;
    if (this.#request.headers.expect !== undefined) this.#response.writeContinue();
    if (length !== undefined) {
      await this.#readUpTo(this.#work.limits.maxBodyBytes);
      return share;
    }
    // How long it is shows only at its end; most of those without an announced length are short all the same.
    const mostUncounted = Math.min(uncountedBodyBytes, this.#work.limits.maxBodyBytes);
    if ((await this.#collect(mostUncounted)) === "ended") return undefined;
    const grown = await this.#reserve(this.#work.limits.maxBodyBytes);
    await this.#readUpTo(this.#work.limits.maxBodyBytes);
    return grown;
  }

  async #readUpTo(maxBodyBytes: number): Promise<void> {
    if (this.#received.size > maxBodyBytes || (await this.#collect(maxBodyBytes)) === "more") {
      this.#request.resume();
      throw tooLarge(maxBodyBytes);
    }
  }

  async #reserve(bytes: number): Promise<BodyShare> {
    const since = performance.now();
    try {
      return await this.#work.reserve(bytes, this.#restMs());
    } catch (thrown) {
      // Paused, the rest of the body would keep the client from reading its answer.
      this.#request.resume();
      throw thrown;
    } finally {
      this.#waitedMs += performance.now() - since;
    }
  }

  #collect(most: number): Promise<"ended" | "more"> {
    const { requestTimeoutMs } = this.#work.limits;
    // Who had to wait for most of the time was not slow.
    const late = () => (this.#waitedMs > requestTimeoutMs / 2 ? tooBusy() : tooSlow(requestTimeoutMs));
    return collect(this.#request, this.#received, { most, timeoutMs: this.#restMs(), late });
  }

  #restMs(): number {
    return Math.max(1, this.#work.limits.requestTimeoutMs - (performance.now() - this.#startedAtMs));
  }
}

/** A small body that has come with its head; undefined when there is something to wait for, or to refuse. */
export function bodyAtHand(request: IncomingMessage, limits: BodyLimits): Buffer | undefined {
  if (request.headers.expect !== undefined) return undefined;
  const { readableLength } = request;
  // Node.js tells that the request is complete only after it has run what waits for the last bytes of its body.
  if (!request.complete && readableLength !== announcedLength(request)) return undefined;
  if (readableLength > Math.min(uncountedBodyBytes, limits.maxBodyBytes)) return undefined;
  const bytes: Buffer | null = request.read();
  // Read to its end, which is still to come: else the connection would keep the request until the next one.
  if (bytes !== null && !request.complete) request.resume();
  return bytes ?? undefined;
}

/**
 * The whole body. A large one waits for its share of the budget before it is read, within the same time. Throws 909 (413)
 * beyond the limit, before reading when the length was announced; 408 when it is not complete in time; 999 when there was
 * no share for it; `ClientGone` when the connection ends before the body does.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  work: BodyWork,
): Promise<Buffer> {
  return await new BodyReader(request, response, work).read();
}
