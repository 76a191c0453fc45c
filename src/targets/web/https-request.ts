/**
 * One request whose every step has its time: connecting, silence, reading the answer. `http.request` has none of its own.
 *
 *   connecting → sending → waiting → answer
 *
 * The answer counts from its status line on. Its body is only for people: 16 KB and five seconds of it, then the
 * connection is cut, so that an endless one ends.
 */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import * as http from "node:http";
import * as https from "node:https";
import { systemCodeOf } from "../../lib/errors.ts";
import type { HttpAnswer } from "./https-answer.ts";
import { TransferFault } from "../../remote/transfer-fault.ts";

export interface RequestTimes {
  readonly connectMs: number;
  readonly silenceMs: number;
}

export interface PlainRequest {
  readonly url: URL;
  readonly method: "POST" | "GET" | "HEAD";
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
  readonly agent: http.Agent;
  readonly times: RequestTimes;
  /** Method and address for messages. */
  readonly what: string;
}

const maxAnswerBytes = 16 * 1024;
const maxAnswerMs = 5_000;

function headerOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "object" ? value[0] : value;
}

/** Resolves with what came, however the body ends: the status is known already. */
function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const settle = () => {
      clearTimeout(timer);
      resolve({
        status: response.statusCode ?? 0,
        retryAfter: headerOf(response.headers["retry-after"]),
        location: headerOf(response.headers.location),
        text: Buffer.concat(parts).subarray(0, maxAnswerBytes).toString("utf8"),
      });
    };
    const cut = () => {
      settle();
      response.destroy();
    };
    const timer = setTimeout(cut, maxAnswerMs);
    response.on("data", (part: Buffer) => {
      parts.push(part);
      size += part.length;
      if (size > maxAnswerBytes) cut();
    });
    response.on("end", settle).on("error", settle).on("close", settle);
  });
}

function timeout(what: string, words: string): TransferFault {
  return new TransferFault("timeout", `${what}: ${words}.`);
}

/** Ends the request when it does not connect, or when neither side has sent anything, for its time. */
function watch(request: ClientRequest, { times, what }: PlainRequest): () => void {
  const { connectMs, silenceMs } = times;
  const late = () => request.destroy(timeout(what, `no connection within ${connectMs} ms`));
  const connecting = setTimeout(late, connectMs);
  request.on("socket", (socket) => {
    const connected = () => clearTimeout(connecting);
    if (!socket.connecting) connected();
    else socket.once("encrypted" in socket ? "secureConnect" : "connect", connected);
  });
  request.setTimeout(silenceMs, () => request.destroy(timeout(what, `no data for ${silenceMs} ms`)));
  return () => clearTimeout(connecting);
}

/** A kept connection that the server closed while the request was on its way: it has not read it. */
function isStale(error: unknown, request: ClientRequest): boolean {
  const code = systemCodeOf(error);
  return request.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");
}

function sendOnce(plain: PlainRequest, signal: AbortSignal): Promise<HttpAnswer | "stale"> {
  return new Promise((resolve, reject) => {
    const { url, method, headers, agent, body } = plain;
    const protocol = url.protocol === "https:" ? https : http;
    const request = protocol.request(url, { method, headers, agent, signal });
    const unwatch = watch(request, plain);
    let isAnswered = false;
    request.on("response", (response) => {
      isAnswered = true;
      void readAnswer(response).then(resolve);
    });
    request.on("error", (error) => {
      if (isAnswered) return; // the server has no interest in what was still being sent
      if (isStale(error, request)) resolve("stale");
      else reject(error);
    });
    request.on("close", unwatch);
    request.end(body);
  });
}

/**
 * Sends and reads the answer. Rejects with the error of the socket, with a `TransferFault` for a time that was exceeded, and
 * with an AbortError. Sent once more when a kept connection turns out to be closed.
 */
export async function sendRequest(plain: PlainRequest, signal: AbortSignal): Promise<HttpAnswer> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const answer = await sendOnce(plain, signal);
    if (answer !== "stale") return answer;
  }
  throw new TransferFault("connectionLost", `${plain.what}: it closed the connection three times.`);
}
