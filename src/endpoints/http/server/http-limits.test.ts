import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { once } from "node:events";
import { Agent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ask,
  basic,
  defaultOptions,
  reasonsOf,
  scripted,
  sendRaw,
  startHttp,
  stopDocument,
} from "../../../../test/support/http-fixture.ts";
import { readStopDetail } from "../../../operations/stops/stop-detail.ts";
import type { TlsOptions } from "../../../lib/tls-settings.ts";

const run = promisify(execFile);
const detail = "/v5/stop/info/A1/ACME";

function opened(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.on("error", reject);
  });
}

function closed(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  return new Promise((resolve) => socket.on("close", () => resolve(Buffer.concat(chunks).toString())));
}

/** An operation that waits until it is let go. */
function gate() {
  let open: () => void = () => undefined;
  let entered: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => (open = resolve));
  const isEntered = new Promise<void>((resolve) => (entered = resolve));
  const detail = scripted(readStopDetail, async () => {
    entered();
    await isOpen;
    return stopDocument;
  });
  return { open: () => open(), isEntered, scripts: [detail] };
}

describe("connections", () => {
  it("over the limit of their address are turned away and reported once a burst", async () => {
    const http = await startHttp({ maxConnectionsPerAddress: 2 });
    const held = [await opened(http.port), await opened(http.port)];
    const refused = await Promise.all([1, 2, 3].map(async () => closed(await opened(http.port))));
    for (const text of refused) expect(text).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: [\s\S]*999/);
    expect(http.brokenLimits).toEqual(["127.0.0.1"]);
    for (const socket of held) socket.destroy();
    await expect
      .poll(async () => (await ask(http.port, "GET", "/healthz").catch(() => undefined))?.status)
      .toBe(200);
    await http.close();
  });

  it("on which as many as may be have signed in leave no room for another user, but for health", async () => {
    const http = await startHttp({ maxConnections: 1 });
    const agent = new Agent({ keepAlive: true });
    const keep = { user: "host", agent, headers: { connection: "keep-alive" } };
    expect((await ask(http.port, "GET", detail, keep)).status).toBe(200);
    const refused = await ask(http.port, "GET", detail, { user: "host" });
    expect([refused.status, reasonsOf(refused), refused.headers["retry-after"]]).toEqual([503, [999], "5"]);
    expect((await ask(http.port, "GET", "/healthz")).status).toBe(200);
    expect((await ask(http.port, "GET", detail, keep)).status).toBe(200);
    expect(http.brokenLimits).toEqual([]);
    agent.destroy();
    await expect.poll(async () => (await ask(http.port, "GET", detail, { user: "host" })).status).toBe(200);
    await http.close();
  });

  it("without a request that signed in make room for others, the oldest first", async () => {
    const http = await startHttp({ maxUnauthenticatedConnections: 2 });
    const first = await opened(http.port);
    const isDropped = closed(first);
    const others = [await opened(http.port), await opened(http.port)];
    expect(await isDropped).toBe("");
    for (const socket of others) socket.destroy();
    await http.close();
  });

  it("that have asked for health, or signed in wrongly, are as good as silent ones", async () => {
    const http = await startHttp({ maxUnauthenticatedConnections: 1 });
    for (const head of [
      "GET /healthz HTTP/1.1\r\n",
      `GET ${detail} HTTP/1.1\r\nAuthorization: ${basic("none")}\r\n`,
    ]) {
      const socket = await opened(http.port);
      const isDropped = closed(socket);
      const isAnswered = once(socket, "data");
      socket.write(`${head}Host: x\r\n\r\n`);
      await isAnswered;
      const next = await opened(http.port);
      expect(await isDropped).toMatch(/^HTTP\/1.1 (200|401) /);
      next.destroy();
    }
    await http.close();
  });

  it("over the limit run nothing, even when their request is there already", async () => {
    let runs = 0;
    const counted = scripted(readStopDetail, async () => {
      runs += 1;
      return stopDocument;
    });
    const http = await startHttp({ maxConnectionsPerAddress: 1 }, { scripts: [counted] });
    const held = await opened(http.port);
    const text = `GET ${detail} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("host")}\r\n\r\n`;
    for (let round = 0; round < 20; round += 1) {
      // Whether the 503 is still read or the reset comes first is up to the kernel.
      expect(await sendRaw(http.port, text).catch(() => "")).not.toContain(" 200 ");
    }
    expect(runs).toBe(0);
    held.destroy();
    await http.close();
  });

  it("of a trusted proxy are not held to the limit of one address", async () => {
    const http = await startHttp({ maxConnectionsPerAddress: 1, trustedProxies: ["127.0.0.0/8"] });
    const held = await opened(http.port);
    expect((await ask(http.port, "GET", "/healthz")).status).toBe(200);
    held.destroy();
    await http.close();
  });

  it("are kept for the next request, or closed after each when the time-out is 0", async () => {
    for (const [keepAliveTimeoutMs, connection] of [
      [5_000, "keep-alive"],
      [0, "close"],
    ] as const) {
      const http = await startHttp({ keepAliveTimeoutMs });
      const agent = new Agent({ keepAlive: true });
      const reply = await ask(http.port, "GET", detail, {
        user: "host",
        agent,
        headers: { connection: "keep-alive" },
      });
      expect(reply.headers.connection).toBe(connection);
      agent.destroy();
      await http.close();
    }
  });
});

describe("slow clients", () => {
  it("that send nothing, or half a head, are answered with 408 and cut off", async () => {
    const http = await startHttp({ headersTimeoutMs: 200, requestTimeoutMs: 300 });
    const silent = closed(await opened(http.port));
    const half = sendRaw(http.port, "GET / HTTP/1.1\r\nHost:");
    expect(await half).toMatch(/^HTTP\/1.1 408 /);
    expect(await silent).toMatch(/^HTTP\/1.1 408 /);
    expect(http.silences).toEqual(["127.0.0.1", "127.0.0.1"]);
    await http.close();
  });

  it("are not blamed for what they sent in time while the process stood still", async () => {
    const http = await startHttp({ headersTimeoutMs: 200, requestTimeoutMs: 300 });
    const socket = await opened(http.port);
    const answers = closed(socket);
    const rest = `${detail} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("host")}\r\n`;
    // The answer to the first shows that the begin of the second was read.
    socket.write(`GET ${rest}\r\nGET `);
    await once(socket, "data");
    socket.write(`${rest}Connection: close\r\n\r\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    expect(await answers).toMatch(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 200 /);
    expect(http.silences).toEqual([]);
    await http.close();
  });

  it("that have signed in before are not blamed for a request that stops in the middle", async () => {
    const http = await startHttp({ headersTimeoutMs: 200, requestTimeoutMs: 300 });
    const credentials = `Host: x\r\nAuthorization: ${basic("host")}\r\n\r\n`;
    const text = await sendRaw(http.port, `GET ${detail} HTTP/1.1\r\n${credentials}GET / HTTP/1.1\r\nHost:`);
    expect(text).toMatch(/^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 408 /);
    expect(http.silences).toEqual([]);
    await http.close();
  });
});

describe("requests over the limit of what is worked on", () => {
  it("are answered with 503, 999 and Retry-After; health still answers", async () => {
    const held = gate();
    const http = await startHttp({ maxRequestsInFlight: 1 }, { scripts: held.scripts });
    const first = ask(http.port, "GET", detail, { user: "host" });
    await held.isEntered;
    const second = await ask(http.port, "GET", detail, { user: "host" });
    expect([second.status, reasonsOf(second), second.headers["retry-after"]]).toEqual([503, [999], "5"]);
    const xml = await ask(http.port, "POST", "/api/stop/ACME", {
      user: "host",
      type: "text/xml",
      content: "<a/>",
    });
    expect([xml.status, xml.body.includes("<StopResponse>")]).toEqual([503, true]);
    expect((await ask(http.port, "GET", "/healthz")).status).toBe(200);
    held.open();
    expect((await first).status).toBe(200);
    await http.close();
  });
});

describe("stopping", () => {
  it("finishes what is in hand, closes idle connections and takes no more", async () => {
    const held = gate();
    const http = await startHttp({}, { scripts: held.scripts });
    const idle = await opened(http.port);
    const isIdleClosed = closed(idle);
    const inHand = ask(http.port, "GET", detail, { user: "host", headers: { connection: "keep-alive" } });
    await held.isEntered;
    const stopped = http.endpoint.stop(AbortSignal.timeout(10_000));
    await isIdleClosed;
    await expect(ask(http.port, "GET", "/healthz")).rejects.toThrow("ECONNREFUSED");
    held.open();
    const reply = await inHand;
    expect([reply.status, reply.headers.connection]).toEqual([200, "close"]);
    await stopped;
    await http.endpoint.stop(AbortSignal.timeout(1));
  });

  it("cuts off what is not done at the deadline", async () => {
    const held = gate();
    const http = await startHttp({}, { scripts: held.scripts });
    const inHand = ask(http.port, "GET", detail, { user: "host" });
    inHand.catch(() => undefined);
    await held.isEntered;
    await http.endpoint.stop(AbortSignal.timeout(100));
    await expect(inHand).rejects.toThrow();
    held.open();
  });

  it("before the start does nothing, and a port that is taken fails the start", async () => {
    const http = await startHttp();
    await expect(startHttp({ port: http.port })).rejects.toThrow("EADDRINUSE");
    await http.close();
  });
});

describe("reconfiguring", () => {
  it("changes limits for requests to come, not the address", async () => {
    const http = await startHttp();
    const post = () =>
      ask(http.port, "POST", "/v5/businesspartner/update/ACME", {
        ...{ user: "host", type: "application/json", content: "{}                   " },
      });
    expect((await post()).status).toBe(200);
    http.endpoint.reconfigure({ ...defaultOptions, port: 1, maxBodyBytes: 10 });
    expect((await post()).status).toBe(413);
    await http.close();
  });
});

describe("TLS", () => {
  let folder = "";
  let one: TlsOptions;
  let two: TlsOptions;

  async function certificate(name: string): Promise<TlsOptions> {
    const [key, cert] = [join(folder, `${name}.key`), join(folder, `${name}.pem`)];
    await run("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert],
    ]);
    return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8"), minVersion: "TLSv1.2" };
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "http-tls-"));
    one = await certificate("one");
    two = await certificate("two");
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("serves, and takes a new certificate without a restart", async () => {
    const http = await startHttp({ tls: one });
    const secure = (tls: TlsOptions) =>
      ask(http.port, "GET", detail, { user: "host", isTls: true, ca: tls.cert });
    expect((await secure(one)).body).toBe(stopDocument);
    http.endpoint.reconfigure({ ...defaultOptions, tls: two });
    expect((await secure(two)).body).toBe(stopDocument);
    await expect(secure(one)).rejects.toThrow(/self-signed|unable to verify/);
    expect(() => http.endpoint.reconfigure({ ...defaultOptions, tls: { ...two, cert: "none" } })).toThrow();
    expect((await secure(two)).status).toBe(200);
    await http.close();
  });

  it("refuses older versions than asked for, and plain HTTP", async () => {
    const http = await startHttp({ tls: { ...one, minVersion: "TLSv1.3" } });
    const old = connectTls({ port: http.port, host: "127.0.0.1", ca: one.cert, maxVersion: "TLSv1.2" });
    await expect(new Promise((_resolve, reject) => old.on("error", reject))).rejects.toThrow(
      /version|alert/i,
    );
    await expect(sendRaw(http.port, `GET ${detail} HTTP/1.1\r\n\r\n`)).resolves.not.toContain("200");
    await http.close();
  });

  it("takes old cipher suites only when legacyCiphers is set", async () => {
    const offer = {
      host: "127.0.0.1",
      ca: one.cert,
      ciphers: "ECDHE-ECDSA-AES128-SHA",
      maxVersion: "TLSv1.2",
    } as const;
    const http = await startHttp({ tls: one });
    const refused = connectTls({ port: http.port, ...offer });
    await expect(once(refused, "secureConnect")).rejects.toThrow(/handshake failure/i);
    http.endpoint.reconfigure({ ...defaultOptions, tls: { ...one, legacyCiphers: true } });
    const taken = connectTls({ port: http.port, ...offer });
    await once(taken, "secureConnect");
    taken.destroy();
    await http.close();
  });

  it("counts connections that never say hello, and drops them in time", async () => {
    const http = await startHttp({ tls: one, headersTimeoutMs: 200, maxConnectionsPerAddress: 1 });
    const isSilentClosed = closed(await opened(http.port));
    expect(await closed(await opened(http.port))).toBe("");
    expect(http.brokenLimits).toEqual(["127.0.0.1"]);
    await isSilentClosed;
    await expect.poll(() => http.silences).toEqual(["127.0.0.1"]);
    await http.close();
  });

  it("keeps a connection on which somebody has signed in while silent ones make room for each other", async () => {
    const http = await startHttp({ tls: one, maxUnauthenticatedConnections: 1 });
    const agent = new TlsAgent({ keepAlive: true });
    const keep = { user: "host", isTls: true, ca: one.cert, agent, headers: { connection: "keep-alive" } };
    expect((await ask(http.port, "GET", detail, keep)).status).toBe(200);
    const silent = [await opened(http.port), await opened(http.port), await opened(http.port)];
    await Promise.all(silent.slice(0, 2).map(closed));
    const [socket] = Object.values(agent.freeSockets).flat();
    expect((await ask(http.port, "GET", detail, keep)).status).toBe(200);
    expect(Object.values(agent.freeSockets).flat()).toEqual([socket]);
    agent.destroy();
    silent[2]?.destroy();
    await http.close();
  });

  it("takes credentials from anywhere", async () => {
    const http = await startHttp({ tls: one });
    const curl = ["-sS", "--cacert", join(folder, "one.pem"), "-H", `Authorization: ${basic("host")}`];
    expect((await run("curl", [...curl, `https://127.0.0.1:${http.port}${detail}`])).stdout).toBe(
      stopDocument,
    );
    await http.close();
  });

  it("stops although a client is silent in its handshake", async () => {
    const http = await startHttp({ tls: one });
    const silent = await opened(http.port);
    const isClosed = closed(silent);
    const deadline = AbortSignal.timeout(60_000);
    await http.endpoint.stop(deadline);
    await isClosed;
    // It was not the deadline that ended it.
    expect(deadline.aborted).toBe(false);
  });
});
