/**
 * Answers requests that the parser of node:http refuses. There is no request object, so the answer is written by hand.
 */
import type { Duplex } from "node:stream";
import { STATUS_CODES } from "node:http";
import { type ErrorCode, systemCodeOf } from "../../../lib/errors.ts";
import { newRequestId } from "../../../lib/ids.ts";
import { reasonsDocument } from "./answer.ts";

interface Brokenness {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

const malformed: Brokenness = {
  status: 400,
  code: "wrongType",
  message: "the request is not well-formed HTTP/1.1.",
};

const known: Readonly<Record<string, Brokenness>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: "tooLarge",
    message: "the head of the request is too large. Shorten it.",
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    code: "tooLarge",
    message: "the chunk extensions of the body are too large. Leave them out.",
  },
  HPE_INVALID_METHOD: {
    status: 405,
    code: "methodNotAllowed",
    message: "there is no such method. Use GET or POST.",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: "wrongType",
    message: "the request did not arrive in time. Send it again, without pauses.",
  },
};

const closing = {
  overloaded: {
    status: 503,
    code: "overloaded",
    message: "too many connections. Try again in a few seconds.",
  },
  connect: { status: 405, code: "methodNotAllowed", message: "CONNECT is not allowed. Use GET or POST." },
} as const satisfies Record<string, Brokenness>;

/** How long a client may take to receive the answer. */
const closeWithinMs = 2_000;

/** With all other errors the connection is gone, or its TLS handshake has failed: there is nobody to answer. */
function isOfParser(code: string): boolean {
  return code.startsWith("HPE_") || code === "ERR_HTTP_REQUEST_TIMEOUT";
}

function extraHeaders(status: number): string {
  if (status === 405) return "allow: GET, HEAD, POST, OPTIONS\r\n";
  return status === 503 ? "retry-after: 5\r\n" : "";
}

function writeAndClose(socket: Duplex, { status, code, message }: Brokenness, requestId: string): void {
  const body = reasonsDocument([{ code, message }]);
  const head =
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nx-request-id: ${requestId}\r\n` +
    `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
    `${extraHeaders(status)}connection: close\r\n\r\n`;
  const timer = setTimeout(() => socket.destroy(), closeWithinMs);
  socket.once("close", () => clearTimeout(timer));
  socket.end(head + body, () => socket.destroy());
}

/** The answer that was sent, for the log. */
export interface BrokenAnswer {
  readonly requestId: string;
  readonly status: number;
}

/** Answers a request that the parser refused and closes the connection; undefined when there is nobody to answer. */
export function answerBrokenRequest(error: unknown, socket: Duplex): BrokenAnswer | undefined {
  const code = systemCodeOf(error) ?? "";
  if (!isOfParser(code) || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const brokenness = known[code] ?? malformed;
  const requestId = newRequestId();
  writeAndClose(socket, brokenness, requestId);
  return { requestId, status: brokenness.status };
}

/** Turns a connection away with a reason: over its limit, or asking to be a tunnel. */
export function turnAway(socket: Duplex, why: keyof typeof closing): void {
  socket.on("error", () => undefined);
  writeAndClose(socket, closing[why], newRequestId());
}
