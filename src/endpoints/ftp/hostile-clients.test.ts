/** What no good client does: each is refused, and the server goes on. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { randomOf } from "../../../test/support/random-numbers.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { knownUser } from "../sftp/testing/fake-sign-in.ts";
import { closeOf, FtpTestClient } from "./testing/ftp-client.ts";
import { type FtpTestServer, startFtpServer } from "./testing/start-ftp-server.ts";

let server: FtpTestServer;

beforeAll(async () => {
  server = await startFtpServer();
});
afterEach(async () => {
  const client = await server.signedIn();
  expect(await client.code("NOOP")).toBe(200);
  client.end();
});
afterAll(() => server.stop());

describe("the control connection", () => {
  test.each([
    ["one line without end", "A".repeat(1_000_000)],
    ["one long line", `STOR ${"a".repeat(5_000)}\r\n`],
    ["thousands of commands at once", "NOOP\r\n".repeat(5_000)],
  ])("ends at %s, with a word why", async (_what, bytes) => {
    const client = await server.signedIn();
    client.send(bytes);
    const answers = await client.closed();
    expect(answers.some(({ code }) => code === 500)).toBe(true);
  });

  test("does pipelined commands in their order, one by one", async () => {
    const client = await server.signedIn();
    client.send("CWD inbound\r\nPWD\r\nCDUP\r\nPWD\r\nQUIT\r\nPWD\r\n");
    const texts = (await client.closed()).map(({ text }) => text);
    expect(texts.map((text) => text.slice(0, 3))).toEqual(["250", "257", "250", "257", "221"]);
    expect(texts[1]).toContain('"/inbound"');
    expect(texts[3]).toContain('"/"');
  });

  test("survives bytes at random, before and after the sign-in, and other sessions go on", async () => {
    const random = randomOf(7);
    const bytes = (): Buffer =>
      Buffer.from(Array.from({ length: 300 }, () => (random() < 0.1 ? 0x0a : Math.floor(random() * 256))));
    server.logLines.length = 0;
    const witness = await server.signedIn();
    for (let round = 0; round < 60; round += 1) {
      const client = await (round % 2 === 0 ? server.connect() : server.signedIn());
      client.send(bytes());
      client.send("\r\nQUIT\r\n");
      await client.closed();
      expect(await witness.code("NOOP")).toBe(200);
    }
    const socket = await witness.data();
    expect(await witness.code("STOR inbound/a.xml.part")).toBe(150);
    socket.end("<Stop/>");
    expect((await witness.answer()).code).toBe(226);
    expect(server.logLines.filter(({ level }) => level === "error")).toEqual([]);
    witness.end();
  });

  test("is cut off when its replies are not read", async () => {
    server.logLines.length = 0;
    const client = await server.signedIn();
    client.socket.pause();
    const flood = setInterval(() => client.send("HELP\r\n".repeat(100)), 10);
    // On a machine that is busy the commands may pile up before the replies do.
    const cut = /does not read its replies|cannot be understood/;
    await waitFor("the cut", () => server.logLines.some(({ msg }) => cut.test(msg)));
    clearInterval(flood);
    client.socket.resume();
    await client.closed().catch(() => undefined);
  });

  test("ends after too many failed sign-ins, pipelined ones too", async () => {
    const client = await server.connect();
    client.send("USER host\r\nPASS wrong\r\n".repeat(50));
    const before = server.signIn.attempts;
    const codes = (await client.closed()).map(({ code }) => code);
    expect(codes.filter((code) => code === 530)).toHaveLength(6);
    expect(codes.at(-1)).toBe(421);
    expect(server.signIn.attempts - before).toBeLessThanOrEqual(6);
  });

  test("of a banned address is not greeted", async () => {
    server.signIn.bannedMs = 60_000;
    const socket = connect({ port: server.endpoint.port, host: "127.0.0.1" });
    socket.on("error", () => undefined);
    socket.resume();
    await closeOf(socket);
    expect(socket.bytesRead).toBe(0);
    server.signIn.bannedMs = 0;
  });
});

describe("limits", () => {
  async function withServer(
    options: Parameters<typeof startFtpServer>[0],
    run: (at: FtpTestServer) => Promise<void>,
  ) {
    const at = await startFtpServer(options);
    try {
      await run(at);
    } finally {
      await at.stop();
    }
  }

  test("silent clients are sent away when the sign-in takes too long", () =>
    withServer({ loginTimeoutMs: 200 }, async (at) => {
      const client = await at.connect();
      expect((await client.answer()).code).toBe(421);
      await client.closed();
      await waitFor("the end", () => at.endpoint.connectionCount === 0);
      expect(at.signIn.silences).toEqual(["127.0.0.1"]);
    }));

  test("a further user is sent away when as many as may be are signed in", () =>
    withServer({ maxConnections: 1 }, async (at) => {
      const first = await at.signedIn();
      const second = await at.connect();
      expect(await second.code(`USER ${knownUser.name}`)).toBe(331);
      expect((await second.command(`PASS ${knownUser.password}`)).text).toMatch(/^421 .*try again/);
      await second.closed();
      expect(await first.code("NOOP")).toBe(200);
    }));

  test("signed-in clients are sent away when they are idle, not during a transfer", () =>
    withServer({ idleTimeoutMs: 1_500 }, async (at) => {
      const client = await at.signedIn();
      const socket = await client.data();
      expect(await client.code("STOR inbound/slow.xml")).toBe(150);
      for (let piece = 0; piece < 9; piece += 1) {
        socket.write("x");
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      socket.end();
      expect((await client.answer()).code).toBe(226);
      expect((await client.answer()).code).toBe(421);
      await client.closed();
    }));

  test("there are only so many connections in all and from one address, and the latter counts against it", () =>
    withServer({ maxConnectionsPerAddress: 2 }, async (at) => {
      await at.connect();
      await at.connect();
      await expect(FtpTestClient.connect(at.endpoint.port)).rejects.toThrow("closed");
      expect(at.signIn.brokenLimits).toEqual(["127.0.0.1"]);
    }));
});

describe("data connections", () => {
  test("to other machines or ports are not made: PORT and EPRT are refused in words", async () => {
    const client = await server.signedIn();
    for (const line of ["PORT 10,0,0,1,0,22", "EPRT |1|10.0.0.1|22|"])
      expect((await client.command(line)).text).toMatch(/^502 .*PASV or EPSV/);
  });

  test("from another address than that of the control connection are sent away, and the right one is still taken", async () => {
    const client = await server.signedIn();
    const port = await client.passive();
    const foreign = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.9" });
    foreign.on("error", () => undefined);
    await closeOf(foreign);
    expect(foreign.bytesRead).toBe(0);
    const own = connect({ port, host: "127.0.0.1" });
    await once(own, "connect");
    expect(await client.code("STOR inbound/own.xml.part")).toBe(150);
    own.end("x");
    expect((await client.answer()).code).toBe(226);
    expect(
      server.logLines.some(({ msg, from }) => msg.includes("another address") && from === "127.0.0.9"),
    ).toBe(true);
  });

  test("are one a time: a second connection, and the port of an earlier PASV, are closed", async () => {
    const client = await server.signedIn();
    const first = await client.passive();
    const port = await client.passive();
    const late = connect({ port: first, host: "127.0.0.1" });
    await expect(once(late, "connect")).rejects.toThrow();
    const own = connect({ port, host: "127.0.0.1" });
    await once(own, "connect");
    const second = connect({ port, host: "127.0.0.1" });
    second.on("error", () => undefined);
    await closeOf(second);
    expect(await client.code("STOR inbound/one.xml.part")).toBe(150);
    own.end("x");
    expect((await client.answer()).code).toBe(226);
  });

  test("two transfers at once are not possible: the second waits, and has no connection", async () => {
    const client = await server.signedIn();
    const socket = await client.data();
    client.send("STOR inbound/a.xml.part\r\nSTOR inbound/b.xml.part\r\n");
    expect((await client.answer()).code).toBe(150);
    socket.end("x");
    expect((await client.answer()).code).toBe(226);
    expect((await client.answer()).code).toBe(425);
  });

  test("take ports of the range alone; when none is free that is said, and one that is left is free again", async () => {
    const [from, to] = await freeRange();
    const at = await startFtpServer({ passivePorts: { from, to } });
    try {
      const clients = await Promise.all([at.signedIn(), at.signedIn(), at.signedIn()]);
      const [one, two, three] = clients;
      const ports = [await one?.passive(), await two?.passive()];
      expect(ports.toSorted()).toEqual([from, to]);
      expect((await three?.command("PASV"))?.text).toMatch(/^425 No port is free/);
      for (let again = 0; again < 20; again += 1) expect([from, to]).toContain(await one?.passive());
      two?.end();
      await waitFor("a free port", async () => (await three?.code("EPSV")) === 229);
    } finally {
      await at.stop();
    }
  });

  test("EPSV ALL forbids PASV, and other protocols than the connection's are refused", async () => {
    const client = await server.signedIn();
    expect(await client.code("EPSV 2")).toBe(522);
    expect(await client.code("EPSV 1")).toBe(229);
    expect(await client.code("PASV")).toBe(227);
    expect(await client.code("EPSV ALL")).toBe(200);
    expect(await client.code("PASV")).toBe(501);
  });
});

/** Two ports in a row that nobody has. */
async function freeRange(): Promise<[number, number]> {
  for (;;) {
    const servers = [createServer(), createServer()];
    const [first, second] = servers;
    first?.listen(0, "127.0.0.1");
    if (first !== undefined) await once(first, "listening");
    const address = first?.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    second?.listen(port + 1, "127.0.0.1");
    const isFree =
      second !== undefined &&
      (await once(second, "listening").then(
        () => true,
        () => false,
      ));
    for (const each of servers) each.close();
    if (isFree) return [port, port + 1];
  }
}

test("clients behind address translation are told the public address, those on this machine are not", async () => {
  const own = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  const at = await startFtpServer({ host: "0.0.0.0", publicAddress: "192.0.2.7" });
  try {
    const near = await at.signedIn();
    expect((await near.command("PASV")).text).toContain("(127,0,0,1,");
    if (own === undefined) return;
    const socket = connect({ port: at.endpoint.port, host: own });
    const far = new FtpTestClient(socket, at.endpoint.port);
    await far.answer();
    await far.signIn();
    expect((await far.command("PASV")).text).toContain("(192,0,2,7,");
    far.end();
  } finally {
    await at.stop();
  }
});

test("a stop lets an upload that moves come to its end, and takes nothing new", async () => {
  const at = await startFtpServer();
  const [client, idle] = [await at.signedIn(), await at.signedIn()];
  const socket = await client.data();
  expect(await client.code("STOR inbound/last.xml")).toBe(150);
  socket.write("first ");
  await waitFor("the bytes", () => at.receivedBytes > 0);
  const stopped = at.endpoint.stop(AbortSignal.timeout(10_000));
  expect((await idle.answer()).code).toBe(421);
  socket.end("last");
  expect((await client.answer()).code).toBe(226);
  expect((await client.answer()).code).toBe(421);
  await stopped;
  expect(at.fixture.arrivals.map(({ name }) => name)).toEqual(["last.xml"]);
  await at.stop();
});

test("a stop does not wait for an upload that stands still: it is a part", async () => {
  const at = await startFtpServer();
  const client = await at.signedIn();
  const socket = await client.data();
  expect(await client.code("STOR inbound/still.xml")).toBe(150);
  socket.write("half");
  await waitFor("the bytes", () => at.receivedBytes > 0);
  await at.endpoint.stop(AbortSignal.timeout(20_000));
  expect((await client.answer()).code).toBe(426);
  expect(at.fixture.arrivals).toEqual([]);
  await at.stop();
});
