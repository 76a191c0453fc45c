/**
 * Sends events for as long as the client stays.
 *
 *   subscribed -> ended: the client is gone, or does not keep up, the subscriber ends it, or the daemon stops
 *
 * A stream holds no place among the requests in hand: a stop ends it at once instead of waiting for it.
 */
import type { ServerResponse } from "node:http";
import type { StreamBody } from "../answer.ts";
import type { Streamed } from "./file-answer.ts";

/** Proxies, and the time-outs of our own sockets, end connections that are silent for longer. */
const heartbeatMs = 15_000;
/** A client that has not taken so much is too slow; it gets what it has missed when it connects again. */
const maxUnsentBytes = 262_144;

export interface SendingStream {
  /** Settles when it has ended. Never rejects. */
  readonly ended: Promise<Streamed>;
  end(): void;
}

/** The head has been written. */
export function sendStream(response: ServerResponse, body: StreamBody): SendingStream {
  const { promise: ended, resolve } = Promise.withResolvers<Streamed>();
  let bytes = 0;
  const send = (text: string) => {
    if (response.writableEnded || response.destroyed) return;
    bytes += Buffer.byteLength(text);
    response.write(text);
    if (response.writableLength > maxUnsentBytes) response.destroy();
  };
  const end = () => {
    if (!response.writableEnded) response.end();
  };
  response.flushHeaders();
  const heartbeat = setInterval(() => send(":\n\n"), heartbeatMs);
  const unsubscribe = body.subscribe({ send, end });
  response.once("close", () => {
    clearInterval(heartbeat);
    unsubscribe();
    resolve({ status: response.statusCode, bytes });
  });
  return { ended, end };
}
