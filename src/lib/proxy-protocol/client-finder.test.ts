import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { makeCertificate } from "../../endpoints/ftp/testing/certificate.ts";
import { boundTo, listen } from "../listen.ts";
import { createLogger } from "../logs/log.ts";
import { type Client, ClientFinder } from "./client-finder.ts";
import { addition, binaryHeader, localHeader } from "./testing/headers.ts";

const balancer = "127.0.0.2";
const direct = "127.0.0.3";
const line = Buffer.from("PROXY TCP4 198.51.100.7 10.0.0.4 4711 22\r\n");

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function createFinder(timeoutMs = 20_000) {
  const lines: LogLine[] = [];
  const destination = { write: (text: string) => void lines.push(JSON.parse(text)) };
  const log = createLogger({ level: "debug", destination });
  const finder = new ClientFinder({ name: "sftp", from: [`${balancer}/32`], log, timeoutMs });
  ends.push(() => finder.close());
  return { finder, lines };
}

async function listenFor(server: Server, host = "127.0.0.1"): Promise<number> {
  await listen(server, { host, port: 0 });
  ends.push(() => server.close());
  return boundTo(server).port;
}

async function connectFrom(localAddress: string, port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port, localAddress, noDelay: true });
  ends.push(() => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/** A server that tells whose connection it has, in a line, and then sends back what it reads. */
async function startEcho(options: { timeoutMs?: number; host?: string; pauseOnConnect?: boolean } = {}) {
  const { finder, lines } = createFinder(options.timeoutMs);
  const server = createServer({ pauseOnConnect: options.pauseOnConnect ?? true }, (socket) => {
    socket.on("error", () => undefined);
    finder.find(socket, (client) => {
      socket.write(`${JSON.stringify(client)}\n`);
      socket.pipe(socket);
    });
  });
  const port = await listenFor(server, options.host);
  return { port, finder, lines };
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** What the server tells of a connection on which these parts are sent one after the other, and what it reads. */
async function tell(port: number, parts: readonly Buffer[], from = balancer) {
  const socket = await connectFrom(from, port);
  for (const part of parts) {
    socket.write(part);
    await pause(0);
  }
  socket.end();
  const text = await textOf(socket);
  const end = text.indexOf("\n");
  return { client: JSON.parse(text.slice(0, end)) as Client, read: text.slice(end + 1) };
}

async function isClosed(socket: Socket): Promise<true> {
  socket.resume();
  if (!socket.closed) await once(socket, "close");
  return true;
}

const ofClient = { address: "198.51.100.7", isBalancer: false };

describe.each([true, false])("with pauseOnConnect %s", (pauseOnConnect) => {
  test("a header may come alone, with what follows, or byte by byte, and the rest is there to be read", async () => {
    const { port } = await startEcho({ pauseOnConnect });
    const said = Buffer.from("SSH-2.0-client\r\n");
    for (const header of [line, binaryHeader({ additions: addition(0x02, Buffer.from("host")) })]) {
      const whole = Buffer.concat([header, said]);
      const expected = { client: ofClient, read: said.toString() };
      expect(await tell(port, [header, said])).toEqual(expected);
      expect(await tell(port, [whole])).toEqual(expected);
      expect(
        await tell(
          port,
          [...whole].map((byte) => Buffer.from([byte])),
        ),
      ).toEqual(expected);
      expect(await tell(port, [header])).toEqual({ client: ofClient, read: "" });
    }
  });

  test("much that follows at once comes whole and in order", async () => {
    const { port } = await startEcho({ pauseOnConnect });
    const many = Buffer.from(Array.from({ length: 60_000 }, (_, at) => `${at}\n`).join(""));
    const { client, read } = await tell(port, [Buffer.concat([line, many])]);
    expect(client).toEqual(ofClient);
    expect(read === many.toString()).toBe(true);
  });
});

test("from an address that is no balancer's a header is not taken, but read as what a client says", async () => {
  const { port } = await startEcho();
  const { client, read } = await tell(port, [line], direct);
  expect(client).toEqual({ address: direct, isBalancer: false });
  expect(read).toBe(line.toString());
});

test("a balancer for itself, or for whom it cannot name, is the balancer", async () => {
  const { port } = await startEcho();
  for (const header of [localHeader, Buffer.from("PROXY UNKNOWN\r\n")])
    expect((await tell(port, [header])).client).toEqual({ address: balancer, isBalancer: true });
});

test("a balancer over IPv4 is known where the server listens on both families", async () => {
  const { port } = await startEcho({ host: "::" });
  expect((await tell(port, [line])).client).toEqual(ofClient);
});

test("balancers may be others after a reload", async () => {
  const { port, finder } = await startEcho();
  finder.configure([direct]);
  expect((await tell(port, [line], direct)).client).toEqual(ofClient);
  expect((await tell(port, [line])).client).toEqual({ address: balancer, isBalancer: false });
});

test("loopback of a balancer on another machine is that of the balancer", async () => {
  const { finder } = createFinder();
  finder.configure(["198.51.100.0/24"]);
  const found: Client[] = [];
  const server = createServer((socket) => {
    // The peer's address is all that differs from a balancer of another machine.
    Object.defineProperty(socket, "remoteAddress", { value: "198.51.100.9" });
    finder.find(socket, (client) => {
      found.push(client);
      socket.end();
    });
  });
  const socket = await connectFrom(balancer, await listenFor(server));
  socket.write("PROXY TCP4 127.0.0.1 10.0.0.4 4711 22\r\n");
  await isClosed(socket);
  expect(found).toEqual([{ address: "198.51.100.9", isBalancer: false }]);
});

describe("a connection from a balancer is closed, and told with the setting,", () => {
  const told = (reason: string) => ({
    level: "warn",
    msg: "sftp connection from a balancer closed",
    address: balancer,
    setting: "sftp.proxyProtocolFrom",
    reason: expect.stringContaining(reason),
  });

  test.each([
    [
      "other bytes",
      "SSH-2.0-client\r\n",
      "the PROXY header is missing: the connection begins with other bytes",
    ],
    ["a faulty header", "PROXY TCP4 x y 1 2\r\n", "the PROXY header is a line that is not of version 1"],
    ["one that is too long", binaryHeader({ length: 60_000 }), "the PROXY header is longer than 4096 bytes"],
  ])("for %s", async (_what, sent, reason) => {
    const { port, lines } = await startEcho();
    const socket = await connectFrom(balancer, port);
    socket.write(sent);
    expect(await isClosed(socket)).toBe(true);
    expect(lines).toEqual([expect.objectContaining(told(reason))]);
  });

  test.each([
    ["half a header", line.subarray(0, 20)],
    ["nothing", Buffer.alloc(0)],
  ])("when there is %s for too long", async (_what, sent) => {
    const { port, lines } = await startEcho({ timeoutMs: 200 });
    const socket = await connectFrom(balancer, port);
    socket.write(sent);
    expect(await isClosed(socket)).toBe(true);
    expect(lines).toEqual([expect.objectContaining(told("no whole PROXY header came within 200 ms"))]);
  });

  test("when it ends within the header", async () => {
    const { port, lines } = await startEcho();
    const socket = await connectFrom(balancer, port);
    socket.end(line.subarray(0, 20));
    expect(await isClosed(socket)).toBe(true);
    expect(lines).toEqual([expect.objectContaining(told("ended before its PROXY header was whole"))]);
  });

  test("in few lines when there are many", async () => {
    const { port, finder, lines } = await startEcho();
    const sockets = await Promise.all(Array.from({ length: 30 }, () => connectFrom(balancer, port)));
    await Promise.all(
      sockets.map((socket) => {
        socket.write("GET / HTTP/1.1\r\n\r\n");
        return isClosed(socket);
      }),
    );
    finder.close();
    expect(lines).toHaveLength(11);
    expect(lines.at(-1)).toMatchObject({ more: 20 });
  });
});

test("who only looks whether the port is open is no fault", async () => {
  const { port, lines } = await startEcho();
  const socket = await connectFrom(balancer, port);
  socket.end();
  expect(await isClosed(socket)).toBe(true);
  expect(lines.map(({ level }) => level)).toEqual(["debug"]);
});

test("at the end connections without a header are closed", async () => {
  const { port, finder } = await startEcho();
  const socket = await connectFrom(balancer, port);
  socket.write(line.subarray(0, 3));
  const closed = isClosed(socket);
  await pause(50);
  finder.close();
  expect(await closed).toBe(true);
});

describe("before a server of node:http", () => {
  const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

  test("one header is for all requests of a connection", async () => {
    const { finder } = createFinder();
    const clients: Client[] = [];
    const server = createHttpServer((asked, response) => response.end(`${asked.url}`));
    server.on("connection", (_socket: Socket, client: Client) => clients.push(client));
    finder.standBefore(server);
    const socket = await connectFrom(balancer, await listenFor(server));
    for (const byte of Buffer.concat([line, Buffer.from(request)])) {
      socket.write(Buffer.from([byte]));
      await pause(0);
    }
    await once(socket, "data");
    socket.write(request.replace("Host", "Connection: close\r\nHost"));
    expect(await textOf(socket)).toContain("200 OK");
    expect(clients).toEqual([ofClient]);
  });

  test("a client without a header is closed, and one from elsewhere answered", async () => {
    const { finder } = createFinder();
    const server = createHttpServer((_asked, response) => response.end("hello"));
    finder.standBefore(server);
    const port = await listenFor(server);
    const refused = await connectFrom(balancer, port);
    refused.write(request);
    expect(await textOf(refused)).toBe("");
    const answered = await connectFrom(direct, port);
    answered.write(request.replace("Host", "Connection: close\r\nHost"));
    expect(await textOf(answered)).toContain("hello");
  });

  test("it comes before TLS", async () => {
    const { finder } = createFinder();
    const certificate = makeCertificate();
    const server = createHttpsServer({ ...certificate }, (_asked, response) => response.end("hello"));
    finder.standBefore(server);
    const port = await listenFor(server);
    for (const isSplit of [false, true]) {
      const socket = await connectFrom(balancer, port);
      socket.write(isSplit ? line.subarray(0, 11) : line);
      if (isSplit) setTimeout(() => socket.write(line.subarray(11)), 30);
      if (isSplit) await pause(60);
      const stream = connectTls({ socket, ca: certificate.cert, servername: "localhost" });
      stream.write(request.replace("Host", "Connection: close\r\nHost"));
      const body = await textOf(stream);
      expect(body).toContain("hello");
    }
  });
});
