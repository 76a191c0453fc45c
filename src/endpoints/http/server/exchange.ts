/** One request and its answer: their state while they are processed, and the one log line at the end. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { newRequestId } from "../../../lib/ids.ts";
import type { Logger } from "../../../lib/logs/log.ts";
import type { AccessLog } from "./access-log.ts";
import type { BodyShare } from "./body-budget.ts";
import type { Answer, ErrorShape, FileBody, PartsBody, PreparedBody, StreamBody } from "./answer.ts";
import { selectPart } from "./byte-range.ts";
import { fileHead, sendFile, type Streamed } from "./answers/file-answer.ts";
import { announcedLength } from "./body-bytes.ts";
import { sendParts } from "./answers/parts-answer.ts";
import { selectForm } from "./prepared-body.ts";
import type { RecentRequests } from "./recent-requests.ts";
import type { RequestFigures } from "./request-figures.ts";
import { originFormOf } from "./request-target.ts";
import { type SendingStream, sendStream } from "./answers/stream-answer.ts";

export interface Exchange {
  readonly id: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly startedAtMs: number;
  /** The peer's address, until a trusted proxy names the client's. */
  address: string;
  errorShape: ErrorShape;
  /** Go with the answer, unless it has its own of these names. */
  headers: Readonly<Record<string, string>> | undefined;
  route: string | undefined;
  userName: string | undefined;
  companyCode: string | undefined;
  bytesIn: number;
  /** The share of the budget that the request's body holds until its answer is made. */
  share: BodyShare | undefined;
  /** Settles when an answer that is streamed has been sent, or cannot be. Never rejects. */
  streaming: Promise<Streamed> | undefined;
  /** The events that are sent, which a stop does not wait for. */
  events: SendingStream | undefined;
}

/** Opens an exchange with the peer at the address. */
export function openExchange(request: IncomingMessage, response: ServerResponse, address: string): Exchange {
  return {
    id: newRequestId(),
    request,
    response,
    startedAtMs: performance.now(),
    address,
    errorShape: "reasons",
    headers: undefined,
    route: undefined,
    userName: undefined,
    companyCode: undefined,
    bytesIn: 0,
    share: undefined,
    streaming: undefined,
    events: undefined,
  };
}

/** A body smaller than this that nobody read is cheaper to receive than a new connection. */
const maxDiscardedBytes = 65_536;
/** How long, and how much, of a body is received after its refusal, so that the client gets to read the answer. */
const lingerMs = 2_000;
const maxLingerBytes = 32 * 1024 * 1024;

/** Whether more of the body may come than is worth waiting for. */
function hasLongUnreadBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  if (request.headers.expect !== undefined) return true;
  const length = announcedLength(request);
  return length === undefined || length > maxDiscardedBytes;
}

/**
 * Ends the response after the client had a chance to read it: closing a socket with unread bytes resets it, and a reset
 * can overtake the answer.
 */
function endAfterLinger(request: IncomingMessage, response: ServerResponse): void {
  let received = 0;
  const end = () => {
    clearTimeout(timer);
    request.off("data", count).off("end", end).off("close", end);
    if (!response.writableEnded) response.end();
  };
  const count = (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxLingerBytes) end();
  };
  const timer = setTimeout(end, lingerMs);
  request.on("error", () => undefined);
  request.on("data", count).on("end", end).on("close", end);
}

type Head = Record<string, string | number>;

function headOf(exchange: Exchange, answer: Answer, mustClose: boolean): Head {
  const head: Head = {
    "x-request-id": exchange.id,
    "content-type": answer.contentType,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  if (mustClose) head["connection"] = "close";
  if (exchange.headers !== undefined) Object.assign(head, exchange.headers);
  return answer.headers === undefined ? head : Object.assign(head, answer.headers);
}

export interface Sending {
  readonly mustClose: boolean;
  /** The answer in place of a file that cannot be opened or read. */
  readonly refusalOf: (failure: unknown) => Answer | undefined;
}

function refuseBody(exchange: Exchange, failure: unknown, sending: Sending): Streamed {
  const refusal = sending.refusalOf(failure);
  if (refusal === undefined) {
    exchange.response.destroy();
    return { status: 0, bytes: 0 };
  }
  return { status: refusal.status, bytes: sendAnswer(exchange, refusal, sending) };
}

interface FileSending extends Sending {
  readonly head: Head;
  readonly isLingering: boolean;
}

/** The result of the stream comes through `exchange.streaming`; its length is known at once. */
function sendFileBody(exchange: Exchange, body: FileBody, sending: FileSending): number {
  const { request, response } = exchange;
  const { head, isLingering } = sending;
  const part = fileHead(selectPart(request.method, request.headers, body), body);
  const headers = Object.entries({ ...head, ...part.headers }).filter(([, value]) => value !== undefined);
  const begin = () => void response.writeHead(part.status, Object.fromEntries(headers));
  const { start, length } = part;
  if (request.method === "HEAD" || length === 0) {
    begin();
    response.end();
    exchange.streaming = Promise.resolve({ status: part.status, bytes: 0 });
    return 0;
  }
  const end = isLingering ? { end: () => endAfterLinger(request, response) } : {};
  const refuse = (failure: unknown) => refuseBody(exchange, failure, sending);
  exchange.streaming = sendFile(response, { path: body.path, start, length, begin, refuse, ...end });
  return length;
}

/** The form of the body that the client takes, or none when it has it; gives the length. */
function sendPrepared(exchange: Exchange, body: PreparedBody, head: Head): number {
  const { request, response } = exchange;
  const { status, headers, data } = selectForm(request.headers, body);
  const { "content-type": _type, ...untyped } = head;
  const length = status === 304 ? {} : { "content-length": data.length };
  response.writeHead(status, { ...(status === 304 ? untyped : head), ...headers, ...length });
  response.end(data);
  exchange.streaming = Promise.resolve({ status, bytes: request.method === "HEAD" ? 0 : data.length });
  return data.length;
}

/** What has gone out is known at its end, through `exchange.streaming`. */
function sendPartsBody(
  exchange: Exchange,
  body: PartsBody,
  sending: FileSending & { status: number },
): number {
  const { request, response } = exchange;
  const { head, status } = sending;
  if (request.method === "HEAD") {
    response.writeHead(status, head);
    response.end();
    return 0;
  }
  const begin = () => void response.writeHead(status, head);
  const refuse = (failure: unknown) => refuseBody(exchange, failure, sending);
  exchange.streaming = sendParts(response, { ...body, begin, refuse });
  return 0;
}

/** What has gone out is known at its end, through `exchange.streaming`. */
function sendEvents(
  exchange: Exchange,
  body: StreamBody,
  { status, head }: { readonly status: number; readonly head: Head },
): number {
  const { request, response } = exchange;
  // nginx would hold the events back to fill its buffers.
  response.writeHead(status, { ...head, "x-accel-buffering": "no" });
  if (request.method === "HEAD") {
    response.end();
    return 0;
  }
  exchange.events = sendStream(response, body);
  exchange.streaming = exchange.events.ended;
  return 0;
}

/** A text goes out together with its head, in one write. A longer one would be copied once more for that. */
const maxTextLength = 65_536;
/** Not ASCII: Node.js would encode it chunk by chunk into memory of three times its length. */
const maxWideTextLength = 4_096;

interface Chunk {
  readonly data: string | Uint8Array;
  readonly encoding: "latin1" | "utf8";
  readonly length: number;
}

/** ASCII is the same in Latin-1, which is copied without a look at what it is. */
function chunkOf(body: string | Uint8Array): Chunk {
  const length = Buffer.byteLength(body);
  if (typeof body !== "string") return { data: body, encoding: "utf8", length };
  const isAscii = length === body.length;
  const encoding = isAscii ? "latin1" : "utf8";
  const isText = length <= (isAscii ? maxTextLength : maxWideTextLength);
  return { data: isText ? body : Buffer.from(body, encoding), encoding, length };
}

/** Sends the answer and returns the length of its body. */
export function sendAnswer(exchange: Exchange, answer: Answer, sending: Sending): number {
  const { request, response } = exchange;
  const { status, body } = answer;
  const isLingering = hasLongUnreadBody(request);
  const head = headOf(exchange, answer, sending.mustClose || isLingering);
  if (typeof body === "object" && "forms" in body) return sendPrepared(exchange, body, head);
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    if ("subscribe" in body) return sendEvents(exchange, body, { status, head });
    if ("parts" in body) return sendPartsBody(exchange, body, { ...sending, status, head, isLingering });
    return sendFileBody(exchange, body, { ...sending, head, isLingering });
  }
  const { data, encoding, length } = chunkOf(body);
  if (status === 204) delete head["content-type"];
  else head["content-length"] = length;
  response.writeHead(status, head);
  if (!isLingering) {
    response.end(data, encoding);
    return length;
  }
  response.write(data, encoding);
  endAfterLinger(request, response);
  return length;
}

function pathOf(target: string): string {
  const url = originFormOf(target);
  const mark = url.indexOf("?");
  return (mark === -1 ? url : url.slice(0, mark)).slice(0, 300);
}

function noteEnd(
  { accessLog, figures, requests }: ExchangeNotes,
  exchange: Exchange,
  status: number,
  bytesOut: number,
) {
  const { id, request, route, userName, companyCode, address, bytesIn } = exchange;
  const durationMs = performance.now() - exchange.startedAtMs;
  figures.count({ route, status, durationMs, bytesIn, bytesOut });
  const of = { route, user: userName, company: companyCode };
  requests?.note({ requestId: id, at: Date.now(), method: request.method ?? "", ...of, status, durationMs });
  accessLog.write({
    requestId: id,
    method: request.method,
    path: pathOf(request.url ?? ""),
    route,
    user: userName,
    company: companyCode,
    address,
    status,
    durationMs: Math.round(durationMs * 100) / 100,
    bytesIn,
    bytesOut,
  });
}

/** Where log lines of requests go, and those of faults, and what counts requests. */
export interface ExchangeNotes {
  readonly log: Logger;
  readonly accessLog: AccessLog;
  readonly figures: RequestFigures;
  readonly requests?: RecentRequests | undefined;
}

async function noteStreamed(notes: ExchangeNotes, exchange: Exchange, streaming: Promise<Streamed>) {
  const { status, bytes, failure } = await streaming;
  if (failure !== undefined) {
    const facts = { err: failure, requestId: exchange.id, route: exchange.route };
    notes.log.error(facts, "http answer failed: it could not be sent whole");
  }
  noteEnd(notes, exchange, status, bytes);
}

/**
 * Counts a request and writes its line (`access-log.ts`); of an answer that is streamed when it has been sent, with what has really
 * gone out. The query is left out: filters can be personal data. `status` 0: nobody was left to answer.
 */
export function noteExchange(
  notes: ExchangeNotes,
  exchange: Exchange,
  status: number,
  bytesOut: number,
): void {
  const { streaming } = exchange;
  if (streaming === undefined) noteEnd(notes, exchange, status, bytesOut);
  else void noteStreamed(notes, exchange, streaming);
}
