import { randomBytes } from "node:crypto";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { SftpOptions } from "./sftp-options.ts";
import {
  assertAlive,
  closed,
  connectClient,
  connectRaw,
  handleOf,
  packetOf,
  statusOf,
} from "./testing/raw-client.ts";
import { startServer, type TestServer } from "./testing/start-server.ts";
import { openFlag, packetType, statusCode } from "./wire.ts";
import { waitToPass } from "../../../test/support/wait-to-pass.ts";

let server: TestServer;

afterEach(() => server.stop());

async function start(options: Partial<SftpOptions> = {}): Promise<void> {
  server = await startServer(options);
}

const writeNew = openFlag.write | openFlag.create | openFlag.truncate;

test.each([
  ["0x80000000", Buffer.from([0x80, 0, 0, 0, 1])],
  ["0xffffffff", Buffer.from([0xff, 0xff, 0xff, 0xff, 1])],
  ["0", Buffer.from([0, 0, 0, 0])],
  ["one more than the maximum", Buffer.from([0, 4, 0, 1, 6])],
])("a packet length of %s ends the session, and the server lives", async (_name, bytes) => {
  await start();
  const raw = await connectRaw(server);
  raw.send(bytes);
  await raw.closed();
  await assertAlive(server);
});

test("fields that claim more than their packet has are answered with BAD_MESSAGE", async () => {
  await start();
  const raw = await connectRaw(server);
  raw.send(Buffer.from([0, 0, 0, 9, packetType.stat, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]));
  const reply = raw.request(packetType.realpath, "/");
  await reply;
  expect(statusOf(raw.replies[0] ?? (await reply)).code).toBe(statusCode.badMessage);
  raw.end();
});

test("anything but INIT first, or INIT twice, ends the session", async () => {
  await start();
  const early = await connectRaw(server, { sendsInit: false });
  early.send(packetOf(packetType.stat, 1, "/"));
  await early.closed();
  const twice = await connectRaw(server);
  twice.send(packetOf(packetType.init, 3));
  await twice.closed();
  await assertAlive(server);
});

test("names with NUL, names that are not UTF-8 and over-long names are refused, and nothing is made", async () => {
  await start();
  const raw = await connectRaw(server);
  const cases: [string | Buffer, RegExp][] = [
    ["/a\0b", /NUL/],
    [Buffer.from([0x2f, 0xff, 0xfe]), /not valid UTF-8/],
    [Buffer.from([0x2f, 0xc0, 0xaf]), /not valid UTF-8/],
    [`/${"x".repeat(256)}`, /at most 255 bytes/],
    [`/${"x/".repeat(2100)}`, /at most 4096 bytes/],
  ];
  for (const [path, text] of cases) {
    const { code, text: said } = statusOf(await raw.request(packetType.open, path, writeNew, 0));
    expect(code).toBe(statusCode.failure);
    expect(said).toMatch(/^Bad file name: /);
    expect(said).toMatch(text);
  }
  expect(server.exchange.journal).toEqual([]);
  raw.end();
});

test("limits tells the sizes and the number of handles", async () => {
  await start({ maxOpenHandles: 17 });
  const raw = await connectRaw(server);
  const { type, body } = await raw.request(packetType.extended, "limits@openssh.com");
  expect(type).toBe(packetType.extendedReply);
  const values = [0, 8, 16, 24].map((at) => Number(body.readBigUInt64BE(at)));
  expect(values).toEqual([262_144, 261_120, 261_120, 17]);
  raw.end();
});

test("a WRITE that cannot be understood is a failed write of its upload", async () => {
  await start();
  const raw = await connectRaw(server);
  const handle = await raw.openFile("/a", writeNew);
  const beyond = await raw.request(packetType.write, handle, 2n ** 53n, Buffer.from("x"));
  expect(statusOf(beyond)).toMatchObject({ code: statusCode.failure });
  expect(statusOf(await raw.request(packetType.write, handle)).code).toBe(statusCode.badMessage);
  expect(server.exchange.journal).toEqual([
    "open /a",
    "fail /a offsets end at 2^53",
    "fail /a A write of this upload could not be understood: the packet ends before its fields do",
  ]);
  raw.end();
});

test("REALPATH answers for what is not there in a folder, and not for what lies in none", async () => {
  await start();
  const raw = await connectRaw(server);
  await raw.request(packetType.close, await raw.openFile("/file", writeNew));
  const typeOf = async (path: string) => (await raw.request(packetType.realpath, path)).type;
  expect(await Promise.all([".", "/missing", "/../x"].map(typeOf))).toEqual(Array(3).fill(packetType.name));
  for (const path of ["/missing/deeper", "/file/below"]) {
    const status = statusOf(await raw.request(packetType.realpath, path));
    expect(status.code).toBe(statusCode.noSuchFile);
  }
  raw.end();
});

test("a plain rename onto a file that is there is a Failure, in the words that clients look for", async () => {
  await start();
  const raw = await connectRaw(server);
  for (const path of ["/a", "/b"]) await raw.request(packetType.close, await raw.openFile(path, writeNew));
  const status = statusOf(await raw.request(packetType.rename, "/a", "/b"));
  expect(status.code).toBe(statusCode.failure);
  expect(status.text).toMatch(/^Failure/);
  raw.end();
});

test("unknown packets and extensions are unsupported, unknown handles are refused", async () => {
  await start();
  const raw = await connectRaw(server);
  expect(statusOf(await raw.request(99)).code).toBe(statusCode.unsupported);
  expect(statusOf(await raw.request(packetType.extended, "copy-data", "x")).code).toBe(
    statusCode.unsupported,
  );
  expect(statusOf(await raw.request(packetType.read, "guess", 0n, 100)).text).toContain("not open");
  expect(statusOf(await raw.request(packetType.close, Buffer.alloc(16))).code).toBe(statusCode.failure);
  raw.end();
});

test("a client that takes packets of 0 bytes is cut off, and the loop goes on", async () => {
  await start();
  const client = await connectClient(server);
  // The library's client cannot be told to ask for it: its message is written here.
  const hidden: unknown = client;
  const { _protocol: protocol } = hidden as { _protocol: { session: (...args: number[]) => void } };
  const cutOff = closed(client);
  const opened = new Promise((resolve) => client.exec("x", { env: {} }, resolve));
  const original = protocol.session;
  expect(typeof original).toBe("function");
  await opened;
  protocol.session = (channel, window) => original.call(protocol, channel ?? 0, window ?? 0, 0);
  client.subsys("sftp", () => undefined);
  await cutOff;
  expect(server.logLines.map((line) => line["reason"])).toContain(
    "the client takes packets of at most 0 bytes",
  );
  await assertAlive(server);
});

test("handles over the limit are refused until some are closed", async () => {
  await start({ maxOpenHandles: 3 });
  const raw = await connectRaw(server);
  const handles = [];
  for (let count = 0; count < 3; count += 1) handles.push(await raw.openFile(`/f${count}`, writeNew));
  expect(new Set(handles.map((handle) => handle.toString("hex"))).size).toBe(3);
  expect(handles[0]).toHaveLength(16);
  expect(statusOf(await raw.request(packetType.opendir, "/")).text).toContain("too many open handles");
  await raw.request(packetType.close, handles[0] ?? "");
  handleOf(await raw.request(packetType.opendir, "/"));
  raw.end();
});

test("pipelined WRITEs and their CLOSE take effect in the order sent, however slow the disk", async () => {
  await start();
  server.exchange.writeDelayMs = 20;
  const raw = await connectRaw(server);
  const handle = await raw.openFile("/a", writeNew);
  const replies = [];
  for (let count = 0; count < 50; count += 1) {
    // Every second write leaves a gap, so that they cannot all be joined.
    replies.push(raw.request(packetType.write, handle, BigInt(count * 2_000), randomBytes(1_000)));
  }
  replies.push(raw.request(packetType.close, handle));
  replies.push(raw.request(packetType.rename, "/a", "/b"));
  const done = await Promise.all(replies);
  expect(done.map((reply) => statusOf(reply).code)).toEqual(Array(52).fill(statusCode.ok));
  const ids = raw.replies.map((reply) => reply.id);
  expect(ids).toEqual(ids.toSorted((one, other) => one - other));
  expect(server.exchange.journal.at(-1)).toBe("close /a");
  raw.end();
});

test("a link that breaks ends the exchange session without closing the upload", async () => {
  await start();
  const raw = await connectRaw(server);
  const handle = await raw.openFile("/a", writeNew);
  await raw.request(packetType.write, handle, 0n, randomBytes(100));
  raw.client.destroy();
  await waitToPass(() => expect(server.exchange.journal.at(-1)).toBe("end"));
  expect(server.exchange.completed).toEqual([]);
  expect(server.logLines.map((line) => line.msg)).toContain("upload interrupted");
  expect(server.exchange.sessionsOpen).toBe(0);
});

test("an EOF without CLOSE does not complete the upload either, and is answered with exit status 0", async () => {
  await start();
  const raw = await connectRaw(server);
  const statuses: unknown[] = [];
  raw.channel.on("exit", (code: number) => statuses.push(code));
  await raw.openFile("/a", writeNew);
  raw.channel.end();
  await raw.closed();
  expect(statuses).toEqual([0]);
  await waitToPass(() => expect(server.exchange.journal).toEqual(["open /a", "end"]));
  raw.end();
});

test("a client that asks for 480 MB and never reads does not drive memory up", async () => {
  await start();
  await writeFile(join(server.root, "big"), Buffer.alloc(1_000_000));
  const raw = await connectRaw(server);
  const handle = await raw.openFile("/big", openFlag.read);
  const before = process.memoryUsage().rss;
  raw.channel.pause();
  for (let count = 0; count < 1_920; count += 1) {
    raw.send(packetOf(packetType.read, count + 10, handle, 0n, 262_144));
  }
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  // Server and client live in this one process, so that the figure covers both.
  expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(60);
  await assertAlive(server);
  raw.client.destroy();
});

test("writes to a disk that stands still do not pile up here: most of them stay with the client", async () => {
  await start();
  const writing = Promise.withResolvers<void>();
  server.exchange.writesHeld = writing.promise;
  const [raw, other] = [await connectRaw(server), await connectRaw(server)];
  const handle = await raw.openFile("/a", writeNew);
  const bytes = Buffer.alloc(200_000, 65);
  const replies = Array.from({ length: 100 }, (_, index) =>
    raw.request(packetType.write, handle, BigInt(index * bytes.length), bytes),
  );
  // Of 20 MB the server has 4 MiB and some packets in its queue, and 2 MiB in the channel.
  const leftWithClient = 10_000_000;
  for (let turn = 0; turn < 2_000 && raw.channel.writableLength > leftWithClient; turn += 1)
    await other.request(packetType.realpath, ".");
  expect(raw.channel.writableLength).toBeGreaterThan(leftWithClient);
  writing.resolve();
  expect(new Set((await Promise.all(replies)).map((reply) => statusOf(reply).code))).toEqual(
    new Set([statusCode.ok]),
  );
  expect(statusOf(await raw.request(packetType.close, handle)).code).toBe(statusCode.ok);
  expect((await stat(join(server.root, "a"))).size).toBe(20_000_000);
  for (const client of [raw, other]) client.end();
});

test("stop finishes the requests in hand, then ends the connections", async () => {
  await start();
  server.exchange.writeDelayMs = 300;
  const raw = await connectRaw(server);
  const handle = await raw.openFile("/a", writeNew);
  const written = raw.request(packetType.write, handle, 0n, randomBytes(100));
  const completed = raw.request(packetType.close, handle);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await server.endpoint.stop(AbortSignal.timeout(5_000));
  expect(statusOf(await written).code).toBe(statusCode.ok);
  expect(statusOf(await completed).code).toBe(statusCode.ok);
  expect(server.exchange.completed).toEqual(["a"]);
  await server.endpoint.stop(AbortSignal.timeout(10));
});

test("a folder of 1,000 files is listed in packets of at most 100 with proper long names", async () => {
  await start();
  for (let count = 0; count < 1_000; count += 1) await writeFile(join(server.root, `f${count}`), "x");
  const raw = await connectRaw(server);
  const handle = handleOf(await raw.request(packetType.opendir, "/"));
  const counts: number[] = [];
  for (;;) {
    const reply = await raw.request(packetType.readdir, handle);
    if (reply.type !== packetType.name) break;
    counts.push(reply.body.readUInt32BE(0));
    expect(reply.body.toString("latin1")).toMatch(
      /-rw-r--r-- {4}1 dropgate dropgate {8}1 \w{3} .\d \d\d:\d\d f\d+/,
    );
  }
  expect(Math.max(...counts)).toBeLessThanOrEqual(100);
  expect(counts.reduce((sum, each) => sum + each, 0)).toBe(1_000);
  raw.end();
});
