import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import ssh2, { type Client } from "ssh2";
import { afterEach, expect, test } from "vitest";
import { localHeader } from "../../lib/proxy-protocol/testing/headers.ts";
import { knownUser } from "./testing/fake-sign-in.ts";
import { startServer, type TestServer } from "./testing/start-server.ts";

const balancers = { proxyProtocolFrom: ["127.0.0.1"] };
const header = Buffer.from("PROXY TCP4 198.51.100.7 10.0.0.4 4711 22\r\n");

let server: TestServer;
afterEach(() => server.stop());

async function connected(): Promise<Socket> {
  const socket = connect({ port: server.endpoint.port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

async function signedIn(sock: Socket): Promise<Client> {
  const client = new ssh2.Client();
  client.connect({ sock, username: knownUser.name, password: knownUser.password });
  await once(client, "ready");
  return client;
}

async function upload(client: Client, name: string, content: Buffer): Promise<void> {
  const sftp = await new Promise<ssh2.SFTPWrapper>((resolve, reject) =>
    client.sftp((error, session) => (error === undefined ? resolve(session) : reject(error))),
  );
  await new Promise<void>((resolve, reject) =>
    sftp.writeFile(name, content, (error) => (error ? reject(error) : resolve())),
  );
}

async function expectUpload(client: Client, name: string): Promise<void> {
  const content = randomBytes(3_000_000);
  await upload(client, `/${name}`, content);
  expect((await readFile(join(server.root, name))).equals(content)).toBe(true);
  client.end();
}

test("what comes together with the header is read, and a large upload after it is whole", async () => {
  server = await startServer(balancers);
  const socket = await connected();
  socket.cork();
  socket.write(header);
  const client = signedIn(socket);
  // The client's identification goes with the header.
  setImmediate(() => socket.uncork());
  await expectUpload(await client, "together");
  const line = server.logLines.find(({ msg }) => msg === "sftp signed in");
  expect(line).toMatchObject({ address: "198.51.100.7" });
});

test("a header may come byte by byte", async () => {
  server = await startServer(balancers);
  const socket = await connected();
  for (const byte of header) {
    socket.write(Buffer.from([byte]));
    await pause(1);
  }
  await expectUpload(await signedIn(socket), "slowly");
});

test("a client that begins without a header is closed, with a line that names the setting", async () => {
  server = await startServer(balancers);
  const socket = await connected();
  socket.write("SSH-2.0-client\r\n");
  expect(await once(socket.resume(), "close")).toBeDefined();
  const told = {
    level: "warn",
    msg: "sftp connection from a balancer closed",
    setting: "sftp.proxyProtocolFrom",
  };
  expect(server.logLines).toContainEqual(expect.objectContaining(told));
});

test("a connection of the balancer itself is no fault of its address, however long it is silent", async () => {
  server = await startServer({ ...balancers, loginTimeoutMs: 2_000, maxConnectionsPerAddress: 1 });
  server.signIn.bannedMs = 60_000;
  const own = [await connected(), await connected()];
  const greetings = own.map((socket) => once(socket, "data"));
  for (const socket of own) socket.write(localHeader);
  for (const [greeting] of await Promise.all(greetings))
    expect(String(greeting)).toContain("SSH-2.0-dropgate");
  for (const socket of own) if (!socket.closed) await once(socket.resume(), "close");
  expect(server.signIn.silences).toEqual([]);
  expect(server.signIn.brokenLimits).toEqual([]);
  const banned = await connected();
  banned.write(header);
  expect(await once(banned.resume(), "close")).toBeDefined();
  server.signIn.bannedMs = 0;
  const silent = await connected();
  silent.write(header);
  await once(silent.resume(), "close");
  expect(server.signIn.silences).toEqual(["198.51.100.7"]);
});

test("balancers may be others after a reload", async () => {
  server = await startServer();
  server.endpoint.reload({ ...server.options, ...balancers });
  const socket = await connected();
  socket.write(header);
  await expectUpload(await signedIn(socket), "reloaded");
});
