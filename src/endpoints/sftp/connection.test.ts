import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, Socket } from "node:net";
import ssh2, { type PublicKeyAuthMethod } from "ssh2";
import { afterEach, expect, test, vi } from "vitest";
import type { SftpOptions } from "./sftp-options.ts";
import { makeUserKey } from "./testing/run-client.ts";
import { assertAlive, closed, connectClient, connectRaw } from "./testing/raw-client.ts";
import { startServer, type TestServer } from "./testing/start-server.ts";
import { openFlag, packetType } from "./wire.ts";
import { waitToPass } from "../../../test/support/wait-to-pass.ts";

let server: TestServer;

afterEach(() => server.stop());

async function start(options: Partial<SftpOptions> = {}): Promise<void> {
  server = await startServer(options);
}

test("1,000 silent sockets are dropped by the sign-in deadline", async () => {
  await start({ loginTimeoutMs: 1_500 });
  const sockets: Socket[] = [];
  for (let count = 0; count < 1_000; count += 1) {
    const socket = connect(server.endpoint.port, "127.0.0.1");
    socket.on("error", () => undefined);
    sockets.push(socket);
  }
  await Promise.all(sockets.map((socket) => once(socket.resume(), "close")));
  await waitToPass(() => expect(server.endpoint.connectionCount).toBe(0));
  await assertAlive(server);
});

test("a socket that says who it is and then nothing is dropped too", async () => {
  await start({ loginTimeoutMs: 1_000 });
  const socket = connect(server.endpoint.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("SSH-2.0-test\r\n");
  await once(socket.resume(), "close");
  await waitToPass(() => expect(server.endpoint.connectionCount).toBe(0));
  expect(server.signIn.silences).toEqual(["127.0.0.1"]);
});

test("a client that waits for the answer to its password is not blamed for silence", async () => {
  await start({ loginTimeoutMs: 4_000 });
  let isAsked = false;
  server.signIn.withPassword = () => {
    isAsked = true;
    return new Promise(() => undefined);
  };
  const client = new ssh2.Client();
  client.on("error", () => undefined);
  const { port } = server.endpoint;
  client.connect({ host: "127.0.0.1", port, username: "host", password: "secret" });
  await closed(client);
  expect(isAsked).toBe(true);
  await waitToPass(() =>
    expect(server.logLines).toContainEqual(
      expect.objectContaining({ msg: "sftp sign-in not completed in time" }),
    ),
  );
  expect(server.signIn.silences).toEqual([]);
});

test("a client that leaves the question for its password open is", async () => {
  await start({ loginTimeoutMs: 1_000 });
  const client = new ssh2.Client();
  client.on("error", () => undefined);
  client.on("keyboard-interactive", () => undefined);
  const target = { host: "127.0.0.1", port: server.endpoint.port, username: "host", tryKeyboard: true };
  client.connect({ ...target, authHandler: ["keyboard-interactive"] });
  await closed(client);
  await waitToPass(() => expect(server.signIn.silences).toEqual(["127.0.0.1"]));
});

test("when as many as may be are signed in, a further user is refused and those who are there stay", async () => {
  await start({ maxConnections: 1 });
  const first = await connectRaw(server);
  const second = new ssh2.Client();
  const { port } = server.endpoint;
  second.connect({ host: "127.0.0.1", port, username: "host", password: "secret" });
  let isReady = false;
  second.on("error", () => undefined).on("ready", () => (isReady = true));
  await closed(second);
  expect(isReady).toBe(false);
  expect(server.logLines).toContainEqual(
    expect.objectContaining({ msg: "sftp sign-in refused: too many users are signed in", user: "host" }),
  );
  expect((await first.request(packetType.realpath, ".")).type).toBe(packetType.name);
  first.end();
  await waitToPass(() => expect(server.endpoint.connectionCount).toBe(0));
  (await connectRaw(server)).end();
});

test("garbage instead of SSH ends the connection alone", async () => {
  await start();
  for (const bytes of [
    randomBytes(5_000),
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    Buffer.from("SSH-2.0-x\r\n\0\0"),
  ]) {
    const socket = connect(server.endpoint.port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.end(bytes);
    await once(socket.resume(), "close");
  }
  await assertAlive(server);
});

test("connections over the limit of an address are refused and reported", async () => {
  await start({ maxConnectionsPerAddress: 2 });
  const first = await connectClient(server);
  const second = await connectClient(server);
  const third = connect(server.endpoint.port, "127.0.0.1");
  third.on("error", () => undefined);
  const received: Buffer[] = [];
  third.on("data", (chunk) => received.push(chunk));
  await once(third, "close");
  expect(received).toEqual([]);
  expect(server.signIn.brokenLimits).toEqual(["127.0.0.1"]);
  first.end();
  second.end();
});

test("a banned address is not even greeted", async () => {
  await start();
  server.signIn.bannedMs = 60_000;
  const socket = connect(server.endpoint.port, "127.0.0.1");
  socket.on("error", () => undefined);
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(chunk));
  await once(socket, "close");
  expect(received).toEqual([]);
});

test("the connection ends after maxAuthAttempts guesses", async () => {
  await start({ maxAuthAttempts: 3 });
  const client = new ssh2.Client();
  client.on("error", () => undefined);
  let guesses = 0;
  client.connect({
    host: "127.0.0.1",
    port: server.endpoint.port,
    username: "host",
    authHandler: (_left, _partial, next) => {
      guesses += 1;
      next({ type: "password", username: "host", password: `guess ${guesses}` });
    },
  });
  await closed(client);
  expect(server.signIn.attempts).toBe(3);
});

test("keyboard-interactive asks for the password", async () => {
  await start();
  const client = new ssh2.Client();
  client.on("keyboard-interactive", (_name, _instructions, _language, prompts, answer) => {
    answer(prompts.map(() => "secret"));
  });
  const { port } = server.endpoint;
  client.connect({
    host: "127.0.0.1",
    port,
    username: "host",
    tryKeyboard: true,
    authHandler: ["keyboard-interactive"],
  });
  await once(client, "ready");
  client.end();
});

test("a user without the role DI_Integration is refused like a wrong password", async () => {
  await start();
  const client = new ssh2.Client();
  const { port } = server.endpoint;
  client.connect({ host: "127.0.0.1", port, username: "driver", password: "secret" });
  const [error] = await once(client, "error");
  expect(String(error)).toContain("All configured authentication methods failed");
  expect(server.logLines.find((line) => line.msg === "sftp sign-in refused")).toMatchObject({
    reason: "the user has the role DI_Integration in no company",
  });
});

test("what the sign-in refused is not warned of again: it logged it with the reason", async () => {
  await start();
  const client = new ssh2.Client();
  const { port } = server.endpoint;
  client.connect({ host: "127.0.0.1", port, username: "host", password: "wrong" });
  await once(client, "error");
  const lines = server.logLines.filter((line) => line.msg === "sftp sign-in refused");
  expect(lines).toMatchObject([{ level: "debug", user: "host", method: "password" }]);
});

test("a known key is not enough without a signature made with it", async () => {
  await start();
  const known = await makeUserKey(server, "ed25519");
  server.signIn.keys.add(known.blob);
  const own = ssh2.utils.parseKey(server.hostKey.pem);
  if (own instanceof Error) throw own;
  // Shows the known public key and signs with another.
  const blob = Buffer.from(known.blob, "base64");
  const liar = Object.create(own, { getPublicSSH: { value: () => blob }, type: { value: "ssh-ed25519" } });
  const attempts: PublicKeyAuthMethod[] = [{ type: "publickey", username: "host", key: liar }];
  const client = new ssh2.Client();
  client.on("error", () => undefined);
  const { port } = server.endpoint;
  client.connect({
    host: "127.0.0.1",
    port,
    username: "host",
    authHandler: (_left, _partial, next) => {
      const attempt = attempts.shift();
      if (attempt === undefined) client.end();
      else next(attempt);
    },
  });
  await closed(client);
  expect(server.logLines.map((line) => line["reason"])).toContain("the signature is not that of the key");
  expect(server.exchange.peers).toEqual([]);
});

test("sessions over the limit of a connection are refused", async () => {
  await start({ maxSessionsPerConnection: 2 });
  const raw = await connectRaw(server);
  const open = (): Promise<Error | undefined> =>
    new Promise((resolve) => raw.client.subsys("sftp", (error) => resolve(error)));
  expect(await open()).toBeUndefined();
  expect(await open()).toBeInstanceOf(Error);
  raw.end();
});

test("an idle connection is ended", async () => {
  await start({ idleTimeoutMs: 1_500 });
  const raw = await connectRaw(server);
  await closed(raw.client);
  await waitToPass(() => expect(server.exchange.sessionsOpen).toBe(0));
});

const reloaded: SftpOptions = {
  host: "127.0.0.1",
  port: 0,
  legacyAlgorithms: false,
  loginTimeoutMs: 20_000,
  maxAuthAttempts: 6,
  maxConnections: 10,
  maxConnectionsPerAddress: 10,
  maxUnauthenticatedConnections: 10,
  maxSessionsPerConnection: 1,
  maxOpenHandles: 100,
  idleTimeoutMs: 600_000,
  proxyProtocolFrom: [],
};

test("a reload holds for connections from then on", async () => {
  await start();
  server.endpoint.reload({ ...reloaded, loginTimeoutMs: 300 });
  const socket = connect(server.endpoint.port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket.resume(), "close");
  await waitToPass(() =>
    expect(server.logLines).toContainEqual(
      expect.objectContaining({ afterMs: 300, msg: "sftp sign-in not completed in time" }),
    ),
  );
  server.endpoint.reload(reloaded);
  const raw = await connectRaw(server);
  const second = new Promise((resolve) => raw.client.subsys("sftp", (error) => resolve(error)));
  expect(await second).toBeInstanceOf(Error);
  raw.end();
});

test("accepted sockets are kept alive, so that a client that vanished is noticed", async () => {
  const setKeepAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
  try {
    await start();
    const client = await connectClient(server);
    expect(setKeepAlive).toHaveBeenCalledWith(true, 30_000);
    client.end();
  } finally {
    setKeepAlive.mockRestore();
  }
});

const host = { userId: 1 };

test.each([
  ["was disabled", undefined, "may not sign in"],
  ["lost its role", { memberships: [] }, "lost its role"],
  ["got another password", { passwordVersion: "second" }, "password was changed"],
])("an upload of a user who %s is broken off and not completed", async (_name, changed, reason) => {
  await start();
  const raw = await connectRaw(server);
  const handle = await raw.openFile("/a", openFlag.write | openFlag.create | openFlag.truncate);
  await raw.request(packetType.write, handle, 0n, randomBytes(100));
  const gone = closed(raw.client);
  server.signIn.changed.set(host.userId, changed);
  await gone;
  await waitToPass(() => expect(server.endpoint.connectionCount).toBe(0));
  expect(server.exchange.completed).toEqual([]);
  expect(server.logLines).toContainEqual(
    expect.objectContaining({ user: "host", reason: expect.stringContaining(reason) }),
  );
});

test("a connection that a key has opened ends when that key is removed, and not for another key or a new one", async () => {
  await start();
  const [own, other] = [await makeUserKey(server, "ed25519"), await makeUserKey(server, "rsa")];
  server.signIn.keys.add(own.blob).add(other.blob);
  const client = new ssh2.Client();
  client.on("error", () => undefined);
  const privateKey = await readFile(own.file);
  client.connect({ host: "127.0.0.1", port: server.endpoint.port, username: "host", privateKey });
  await once(client, "ready");
  const gone = closed(client);
  const ask = vi.spyOn(server.signIn, "signedInNow");
  server.signIn.keys.delete(other.blob);
  await waitToPass(() => expect(ask).toHaveBeenCalledTimes(2));
  expect(server.endpoint.connectionCount).toBe(1);
  server.signIn.keys.delete(own.blob);
  await gone;
  expect(server.logLines).toContainEqual(expect.objectContaining({ reason: "the key was removed" }));
});

test("a user who lost only what the connection does not use stays, and each user is asked about once", async () => {
  await start();
  const clients = [await connectRaw(server), await connectRaw(server)];
  const memberships = [{ companyId: 7, companyCode: "ACME", roles: ["DI_Integration"] as const }];
  server.signIn.changed.set(host.userId, { memberships });
  const ask = vi.spyOn(server.signIn, "signedInNow");
  await waitToPass(() => expect(ask).toHaveBeenCalledTimes(1));
  for (const raw of clients) expect((await raw.request(packetType.realpath, ".")).type).toBe(packetType.name);
  expect(ask).toHaveBeenCalledTimes(1);
  for (const raw of clients) raw.end();
});
