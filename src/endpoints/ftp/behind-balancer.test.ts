import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { localHeader } from "../../lib/proxy-protocol/testing/headers.ts";
import { makeCertificate } from "./testing/certificate.ts";
import { FtpTestClient } from "./testing/ftp-client.ts";
import { type FtpTestServer, startFtpServer } from "./testing/start-ftp-server.ts";

const balancers = { proxyProtocolFrom: ["127.0.0.1"] };
const header = "PROXY TCP4 198.51.100.7 10.0.0.4 4711 21\r\n";
const other = "PROXY TCP4 198.51.100.8 10.0.0.4 4711 21\r\n";

let server: FtpTestServer;
afterEach(() => server.stop());

/** A connection through a balancer. */
async function through(port: number, begin: string | Buffer = header): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(begin);
  return socket;
}

async function greeted(begin?: string | Buffer): Promise<FtpTestClient> {
  const { port } = server.endpoint;
  const client = new FtpTestClient(await through(port, begin), port);
  expect((await client.answer()).code).toBe(220);
  return client;
}

async function signedIn(): Promise<FtpTestClient> {
  const client = await greeted();
  expect((await client.signIn()).code).toBe(230);
  return client;
}

test("a data connection has to be of the client's address too, as its own header says", async () => {
  server = await startFtpServer(balancers);
  const client = await signedIn();
  const port = await client.passive();
  const stranger = await through(port, other);
  expect(await once(stranger.resume(), "close")).toBeDefined();
  const data = await through(port, `${header}all of it`);
  expect(await client.code("STOR /inbound/file.xml")).toBe(150);
  data.end(" and more");
  expect((await client.answer()).code).toBe(226);
  expect(server.receivedBytes).toBe("all of it and more".length);
  const fields = { msg: "ftp data connection from another address refused", from: "198.51.100.8" };
  expect(server.logLines).toContainEqual(expect.objectContaining(fields));
  client.end();
});

test("an empty file comes, and one that is cut in the data connection does not", async () => {
  server = await startFtpServer(balancers);
  const client = await signedIn();
  const whole = await through(await client.passive());
  expect(await client.code("STOR /inbound/empty.xml")).toBe(150);
  whole.end();
  expect((await client.answer()).code).toBe(226);
  const cut = await through(await client.passive(), `${header}half of`);
  expect(await client.code("STOR /inbound/cut.xml")).toBe(150);
  cut.resetAndDestroy();
  expect((await client.answer()).code).toBe(426);
  client.end();
});

test("TLS begins behind the header, at once or by AUTH TLS", async () => {
  server = await startFtpServer({
    ...balancers,
    implicitPort: 0,
    tls: { ...makeCertificate(), minVersion: "TLSv1.2", legacyCiphers: false },
  });
  const explicit = await greeted();
  await explicit.startTls();
  expect((await explicit.signIn()).code).toBe(230);
  explicit.end();
  const { implicitPort = 0 } = server.endpoint;
  const socket = connect({ port: implicitPort, host: "127.0.0.1" });
  await once(socket, "connect");
  // The header and the first bytes of TLS leave together.
  socket.cork();
  socket.write(header);
  const secured = connectTls({ socket, rejectUnauthorized: false });
  setImmediate(() => socket.uncork());
  const implicit = new FtpTestClient(secured, implicitPort);
  expect((await implicit.answer()).code).toBe(220);
  expect((await implicit.signIn()).code).toBe(230);
  implicit.end();
});

test("a connection of the balancer itself is no fault of its address, however long it is silent", async () => {
  server = await startFtpServer({ ...balancers, loginTimeoutMs: 2_000, maxConnectionsPerAddress: 1 });
  server.signIn.bannedMs = 60_000;
  const own = [await greeted(localHeader), await greeted(localHeader)];
  for (const client of own) expect((await client.closed()).map(({ code }) => code)).toEqual([421]);
  expect(server.signIn.silences).toEqual([]);
  expect(server.signIn.brokenLimits).toEqual([]);
  const banned = await through(server.endpoint.port);
  expect(await once(banned.resume(), "close")).toBeDefined();
  server.signIn.bannedMs = 0;
  const silent = await greeted();
  await silent.closed();
  expect(server.signIn.silences).toEqual(["198.51.100.7"]);
});

test("balancers may be others after a reload", async () => {
  server = await startFtpServer();
  server.endpoint.reload({ ...server.options, ...balancers });
  (await signedIn()).end();
});
