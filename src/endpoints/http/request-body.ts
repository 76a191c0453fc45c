/** Reads a request's body: bounded in bytes and in time. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { ClientGone, HttpRefusal } from "./http-refusal.ts";

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly requestTimeoutMs: number;
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

function collect(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(
      () => settle(() => reject(tooSlow(limits.requestTimeoutMs))),
      limits.requestTimeoutMs,
    );
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      // An abort after this must not find the error event without a listener.
      request.on("error", () => undefined);
      finish();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limits.maxBodyBytes) settle(() => reject(tooLarge(limits.maxBodyBytes)));
      else chunks.push(chunk);
    };
    const onEnd = () =>
      settle(() => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    const onGone = () => settle(() => reject(new ClientGone()));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/**
 * The whole body. Throws 909 (413) beyond the limit, before reading when the length was announced; 408 when it is not
 * complete in time; `ClientGone` when the connection ends before the body does.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
): Promise<Buffer> {
  const length = announcedLength(request);
  if (length !== undefined && length > limits.maxBodyBytes) throw tooLarge(limits.maxBodyBytes);
  if (request.headers.expect !== undefined) response.writeContinue();
  return await collect(request, limits);
}
