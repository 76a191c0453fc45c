/** FTPS: what is refused without TLS, when an upload over TLS is complete, and the sessions of data connections. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { makeCertificate } from "./testing/certificate.ts";
import { closeOf, type FtpTestClient } from "./testing/ftp-client.ts";
import { type FtpTestServer, startFtpServer } from "./testing/start-ftp-server.ts";

const tls = { ...makeCertificate(), minVersion: "TLSv1.2" } as const;
const versions = ["TLSv1.2", "TLSv1.3"] as const;

let server: FtpTestServer;

beforeAll(async () => {
  server = await startFtpServer({ tls, allowPlain: false, implicitPort: 0, dataTimeoutMs: 3_000 });
});
afterAll(() => server.stop());

async function secured(
  at = server,
  maxVersion: (typeof versions)[number] = "TLSv1.3",
): Promise<FtpTestClient> {
  const client = await at.connect();
  await client.startTls({ maxVersion });
  expect((await client.signIn()).code).toBe(230);
  await client.protect();
  return client;
}

/** Begins an upload; gives the TCP socket and the TLS stream over it. */
async function beginUpload(client: FtpTestClient, path: string, session = client.session) {
  const below = await client.data();
  expect(await client.code(`STOR ${path}`)).toBe(150);
  const stream = client.secure(below, session === undefined ? {} : { session });
  await once(stream, "secureConnect");
  return { below, stream };
}

const inbound = (name: string, at = server): Promise<string> =>
  readFile(join(at.fixture.home, "inbound", name), "utf8");

function arrived(name: string): boolean {
  return server.fixture.arrivals.some((arrival) => arrival.name === name);
}

/** Sends it and sees it come. */
async function sendSome(stream: TLSSocket, content: string): Promise<void> {
  const before = server.receivedBytes;
  stream.write(content);
  await waitFor("the bytes", () => server.receivedBytes === before + content.length);
}

test("old cipher suites are taken only when legacyCiphers is set", async () => {
  const offer = { ciphers: "ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA", maxVersion: "TLSv1.2" } as const;
  await expect((await server.connect()).startTls(offer)).rejects.toThrow();
  const lenient = await startFtpServer({ tls: { ...tls, legacyCiphers: true } });
  try {
    const client = await lenient.connect();
    await client.startTls(offer);
    expect((await client.signIn()).code).toBe(230);
  } finally {
    await lenient.stop();
  }
});

describe("without TLS", () => {
  test("no name, no password and no file is taken", async () => {
    const client = await server.connect();
    for (const line of ["USER host", "PASS secret"])
      expect((await client.command(line)).text).toMatch(/^530 .*AUTH TLS/);
    expect(await client.code("STOR x")).toBe(530);
    expect(server.signIn.attempts).toBe(0);
  });

  test("data connections are refused, by default and by PROT C", async () => {
    const client = await server.connect();
    await client.startTls();
    await client.signIn();
    const { answer } = await client.get("LIST");
    expect(answer.text).toMatch(/^522 .*PROT P/);
    expect(await client.code("PROT C")).toBe(534);
    expect(await client.code("PROT S")).toBe(536);
    expect(await client.code("CCC")).toBe(534);
  });

  test("what came behind AUTH TLS in clear is never done", async () => {
    const client = await server.connect();
    client.send("AUTH TLS\r\nUSER host\r\nPASS secret\r\nDELE receipts/x\r\n");
    expect((await client.answer()).code).toBe(234);
    const plain = client.socket;
    plain.removeAllListeners("data");
    const stream = connectTls({ socket: plain, rejectUnauthorized: false });
    const texts: string[] = [];
    stream.on("data", (chunk: Buffer) => texts.push(chunk.toString()));
    await once(stream, "secureConnect");
    stream.write("NOOP\r\nPASS secret\r\n");
    await waitFor("two replies", () => texts.join("").split("\r\n").length > 2);
    expect(texts.join("")).toMatch(/^200 [^\r]*\r\n503 [^\r]*\r\n$/);
    expect(server.logLines.some(({ msg }) => msg.includes("AUTH TLS was dropped"))).toBe(true);
    stream.destroy();
  });

  test("a handshake that is none ends the connection, and nothing else", async () => {
    const client = await server.connect();
    await client.command("AUTH TLS");
    client.send("this is no TLS record, by no means\r\n");
    await client.closed();
    expect((await (await secured()).command("NOOP")).code).toBe(200);
  });
});

describe.each(versions)("%s", (version) => {
  const name = (what: string): string => `${what}-${version}.xml`;

  test("an upload that the client ends with close_notify becomes a file", async () => {
    const client = await secured(server, version);
    for (const [what, content] of [
      ["empty", ""],
      ["small", "<Stop/>"],
      ["large", "0123456789abcdef".repeat(300_000)],
    ] as const) {
      const { stream } = await beginUpload(client, `inbound/${name(what)}`);
      stream.end(content);
      expect((await client.answer()).text).toMatch(/^226/);
      expect(await inbound(name(what))).toBe(content);
    }
  });

  test("an upload whose connection is closed without close_notify is a part", async () => {
    const client = await secured(server, version);
    const { below, stream } = await beginUpload(client, `inbound/${name("cut")}`);
    await sendSome(stream, "half");
    below.end();
    expect((await client.answer()).text).toMatch(/^426 .*close_notify/);
    expect(arrived(name("cut"))).toBe(false);
    expect(await inbound(`.partial/1/${name("cut")}`)).toBe("half");
  });

  test("an upload that is reset right behind close_notify has come whole", async () => {
    const client = await secured(server, version);
    const content = "x".repeat(3_000_000);
    const { below, stream } = await beginUpload(client, `inbound/${name("reset")}`);
    stream.end(content);
    await once(stream, "finish");
    await waitFor("the bytes are on their way", () => below.writableLength === 0);
    below.resetAndDestroy();
    const { code } = await client.answer();
    // What the reset has thrown away in the client's own buffers cannot come; then it is a part, never a short file.
    expect([226, 426]).toContain(code);
    expect(arrived(name("reset"))).toBe(code === 226);
    if (code === 226) expect(await inbound(name("reset"))).toBe(content);
  });

  test("bytes that are no TLS in the middle of an upload make it a part", async () => {
    const client = await secured(server, version);
    const { below, stream } = await beginUpload(client, `inbound/${name("forged")}`);
    await sendSome(stream, "half");
    below.write(Buffer.from([21, 3, 3, 0, 2, 1, 0]));
    below.end();
    expect((await client.answer()).code).toBe(426);
    expect(arrived(name("forged"))).toBe(false);
  });

  test("downloads and listings end with close_notify", async () => {
    await server.write("receipts/a.receipt.xml", "content".repeat(100_000));
    const client = await secured(server, version);
    const below = await client.data();
    expect(await client.code("RETR receipts/a.receipt.xml")).toBe(150);
    const stream = client.secure(below);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    await once(stream, "end");
    expect((await client.answer()).code).toBe(226);
    expect(Buffer.concat(chunks).toString()).toBe("content".repeat(100_000));
  });

  test("a download counts once the client has closed it, and not when it is reset before", async () => {
    const client = await secured(server, version);
    const pickups = (file: string) => server.fixture.pickups.filter(({ path }) => path.endsWith(file));
    for (const [what, end] of [
      ["slow", (stream: TLSSocket) => void stream.resume()],
      ["dies", (_stream: TLSSocket, below: Socket) => void below.resetAndDestroy()],
    ] as const) {
      await server.write(`outbound/${name(what)}`, "x".repeat(200_000));
      const below = await client.data();
      expect(await client.code(`RETR outbound/${name(what)}`)).toBe(150);
      const stream = client.secure(below, { maxVersion: version });
      await once(stream, "secureConnect");
      expect((await client.answer()).code).toBe(226);
      expect(pickups(name(what))).toEqual([]);
      end(stream, below);
      await waitFor("its end", () =>
        server.logLines.some(
          ({ msg, file }) => file === `/outbound/${name(what)}` && /^(downloaded|sent)/.test(msg),
        ),
      );
    }
    expect([pickups(name("slow")).length, pickups(name("dies")).length]).toEqual([1, 0]);
  });
});

describe("implicit TLS", () => {
  test("begins with the first byte, and protects data without being asked to", async () => {
    const port = server.endpoint.implicitPort ?? 0;
    const stream = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
    const [greeting] = await once(stream, "data");
    expect(String(greeting)).toMatch(/^220 /);
    stream.write("STAT\r\n");
    const [status] = await once(stream, "data");
    expect(String(status)).toContain("Data connections use TLS");
    stream.destroy();
  });

  test("is not greeted in clear", async () => {
    const socket = connect({ port: server.endpoint.implicitPort ?? 0, host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.write("USER host\r\n");
    const texts: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => texts.push(chunk));
    await closeOf(socket);
    // At most an alert of TLS.
    expect(Buffer.concat(texts).toString()).not.toContain("220");
  });
});

describe.each(versions)("with ftp.requireSessionReuse, over %s", (version) => {
  let strict: FtpTestServer;

  beforeAll(async () => {
    strict = await startFtpServer({ tls, allowPlain: false, requireSessionReuse: true });
  });
  afterAll(() => strict.stop());

  async function upload(client: FtpTestClient, session: Buffer | undefined): Promise<number> {
    const below: Socket = await client.data();
    expect(await client.code("STOR inbound/reuse.xml.part")).toBe(150);
    const stream = client.secure(below, {
      maxVersion: version,
      ...(session === undefined ? {} : { session }),
    });
    stream.on("secureConnect", () => stream.end("x"));
    return (await client.answer()).code;
  }

  test("a data connection that resumes the session of its control connection is taken", async () => {
    const client = await secured(strict, version);
    await waitFor("the session", () => client.session !== undefined);
    expect(await upload(client, client.session)).toBe(226);
    expect(await upload(client, client.session)).toBe(226);
  });

  test("one without a session, or with that of another client, is refused", async () => {
    const [client, other] = [await secured(strict, version), await secured(strict, version)];
    await waitFor("the session", () => other.session !== undefined);
    expect(await upload(client, undefined)).toBe(522);
    expect(await upload(client, other.session)).toBe(522);
  });
});

test("a renewed certificate is taken by a reload, for connections from then on", async () => {
  const at = await startFtpServer({ tls, allowPlain: false });
  try {
    const renewed = makeCertificate();
    const before = await secured(at);
    at.endpoint.reload({
      ...{ host: "127.0.0.1", port: 0, allowPlain: false, requireSessionReuse: false, loginTimeoutMs: 5_000 },
      ...{
        maxAuthAttempts: 3,
        maxConnections: 10,
        maxConnectionsPerAddress: 10,
        maxUnauthenticatedConnections: 10,
        idleTimeoutMs: 60_000,
      },
      ...{ dataTimeoutMs: 5_000, proxyProtocolFrom: [], tls: { ...tls, ...renewed } },
    });
    const client = await at.connect();
    await client.startTls({ ca: renewed.cert, rejectUnauthorized: true, servername: "localhost" });
    expect(await client.code("NOOP")).toBe(200);
    expect(await before.code("NOOP")).toBe(200);
  } finally {
    await at.stop();
  }
});
