/** An HTTPS (or HTTP) server that keeps what is posted to it and answers by script. */
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from "node:http";
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import type { Certificate } from "./certificates.ts";
import { listenFree } from "./listen-free.ts";

export interface Post {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Answers, or keeps silent. */
export type Answer = (response: ServerResponse, request: IncomingMessage, body: Buffer) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly posts: Post[];
  /** Connections that have been made, and the most that were open at a time. */
  connections(): number;
  mostAtOnce(): number;
  /** For the next requests, one each; then 200 again. */
  script(...answers: Answer[]): void;
  /** For all requests from now on; 200 without one. */
  always(answer?: Answer): void;
  end(): Promise<void>;
}

export interface ReceiverOptions {
  /** HTTPS with it. */
  readonly certificate?: Certificate;
  /** PEM of the authority whose client certificates are asked for. */
  readonly clientCa?: string;
}

const accept: Answer = (response) => response.writeHead(200).end("ok\n");

/** Answers with a status, header fields and a text. */
export function reply(status: number, headers: Record<string, string> = {}, text = ""): Answer {
  return (response) => response.writeHead(status, headers).end(text);
}

function makeServer({ certificate, clientCa }: ReceiverOptions, listener: RequestListener): http.Server {
  if (certificate === undefined) return http.createServer(listener);
  const own = { cert: certificate.certificate, key: certificate.key };
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  return https.createServer({ ...own, ...clients }, listener);
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const posts: Post[] = [];
  const sockets = new Set<Socket>();
  let answers: Answer[] = [];
  let standing = accept;
  let connections = 0;
  let mostAtOnce = 0;
  const server = makeServer(options, (request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("error", () => undefined); // the client has gone
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const { method = "", url = "", headers } = request;
      if (method === "POST") posts.push({ method, path: url, headers, body });
      (answers.shift() ?? standing)(response, request, body);
    });
  });
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    mostAtOnce = Math.max(mostAtOnce, sockets.size);
    socket.on("close", () => sockets.delete(socket));
  });
  const port = await listenFree(server);
  const scheme = options.certificate === undefined ? "http" : "https";
  return {
    port,
    posts,
    url: `${scheme}://127.0.0.1:${port}/in?key=1`,
    connections: () => connections,
    mostAtOnce: () => mostAtOnce,
    script: (...next) => {
      answers = next;
    },
    always: (answer = accept) => {
      standing = answer;
    },
    end: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
