/** Answers, in the shape that the route's clients read. */
import {
  type DropgateError,
  type Fault,
  httpStatusOf,
  reasonCodeOf,
  shownFaults,
} from "../../../lib/errors.ts";
import { HttpRefusal, retryAfter } from "./http-refusal.ts";

/** A file as a body: ranges and conditions of the request are handled when it is sent. */
export interface FileBody {
  readonly path: string;
  readonly size: number;
  /** Strong, with its quotes. */
  readonly etag: string;
}

/** A body that was compressed beforehand: the client gets the smallest form that it takes. */
export interface PreparedBody {
  /** Names the content; without quotes. */
  readonly etag: string;
  readonly forms: Readonly<Record<"identity" | "gzip" | "br", Uint8Array>>;
}

/** Text that is made while it goes out, as fast as the client takes it; its length is not known before. */
export interface PartsBody {
  /** Its rest is not asked for when the client has gone. */
  readonly parts: AsyncIterable<string>;
}

/** Events as a body, for as long as the client stays: `text/event-stream`. */
export interface StreamBody {
  /**
   * What is answered in its place; undefined while one more may have it. Asked in the same breath as `subscribe`: many ask
   * at once, and the last place may have gone since the answer was made.
   */
  turnAway(): Answer | undefined;
  /**
   * Begins to send; the function that it returns ends that, and is called when the client is gone, at the stop of the
   * daemon and after `end`. Sends no content-length; a comment goes out when nothing else does for a while.
   */
  subscribe(stream: EventStream): () => void;
}

export interface EventStream {
  /** Sends text that is whole events. A client that does not keep up is disconnected, and connects again. */
  send(text: string): void;
  /** Ends the answer. */
  end(): void;
}

export interface Answer {
  /** That of the whole, when the body is a file. */
  readonly status: number;
  /** Lower-case names; type, length and request id are added when it is sent. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly body: string | Uint8Array | FileBody | PreparedBody | PartsBody | StreamBody;
}

/** How a route's clients read failures: `Reasons` in JSON, a `StopResponse` in XML, a line of text, or a page. */
export type ErrorShape = "reasons" | "stopResponse" | "text" | "page";

export type RefusalDocument = (faults: readonly Fault[]) => string;

export const jsonType = "application/json";
export const xmlType = "application/xml";
export const textType = "text/plain; charset=utf-8";
export const htmlType = "text/html; charset=utf-8";
export const eventStreamType = "text/event-stream; charset=utf-8";

/** How long a client should wait that was turned away because of load or a stop. */
const overloadedRetryMs = 5_000;

/** JSON as an answer: its text, or its UTF-8. */
export function jsonAnswer(body: string | Uint8Array, headers?: Readonly<Record<string, string>>): Answer {
  return headers === undefined
    ? { status: 200, contentType: jsonType, body }
    : { status: 200, contentType: jsonType, body, headers };
}

/** The answer of every successful write. */
export const successAnswer: Answer = jsonAnswer('{"status":"Success"}');

/** The `Reasons` document (specification/gateway.md#answers). */
export function reasonsDocument(faults: readonly Fault[]): string {
  const reasons = shownFaults(faults).map(({ message, code }) => ({
    description: message,
    reasonCode: reasonCodeOf(code),
  }));
  return JSON.stringify({ Reasons: reasons });
}

interface Rendering {
  readonly contentType: string;
  readonly body: string;
}

function render(shape: ErrorShape, faults: readonly Fault[], refusalDocument: RefusalDocument): Rendering {
  if (shape === "stopResponse") return { contentType: xmlType, body: refusalDocument(faults) };
  if (shape === "reasons") return { contentType: jsonType, body: reasonsDocument(faults) };
  return { contentType: textType, body: `${faults.map(({ message }) => message).join("\n")}\n` };
}

function headersOf(error: DropgateError): Readonly<Record<string, string>> {
  const own = error instanceof HttpRefusal ? error.headers : {};
  if (error.code !== "overloaded" || own["retry-after"] !== undefined) return own;
  return { ...own, ...retryAfter(overloadedRetryMs) };
}

/** The error in the shape of its route, with the status of its code. */
export function refusalAnswer(
  error: DropgateError,
  shape: ErrorShape,
  refusalDocument: RefusalDocument,
): Answer {
  const status = (error instanceof HttpRefusal ? error.status : undefined) ?? httpStatusOf(error.code);
  return { status, headers: headersOf(error), ...render(shape, error.faults, refusalDocument) };
}
