/** Writes that come in another order than that of the file, and writes that fail: what becomes of the upload. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  appendUpload,
  type ExchangeFixture,
  freshUpload,
  namesOf,
  openFixture,
  resumedUpload,
} from "../../../test/support/exchange-fixture.ts";
import { openFiles } from "../../../test/support/open-files.ts";
import { randomOf } from "../../../test/support/random-numbers.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import { ExchangeError, type ExchangeSession, type WriteHandle } from "../exchange-session.ts";

const mebi = 1024 * 1024;
const limits = { maxUploadBytes: 80 * mebi, maxWaiting: 5, minFreeBytes: () => 0 };
let fixture: ExchangeFixture;
let session: ExchangeSession;
let isBroken: boolean;
/** What a background sync waits for. */
let backgroundSync: Promise<void>;
let fileSyncs: number;

beforeEach(async () => {
  isBroken = false;
  backgroundSync = Promise.resolve();
  fileSyncs = 0;
  const failing = async (call: () => Promise<void>): Promise<void> => {
    if (isBroken) throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    await call();
  };
  const disk: DiskCalls = {
    ...systemDisk,
    fsync: async (fd) => {
      if ((await systemDisk.fstat(fd)).isFile()) fileSyncs += 1;
      await systemDisk.fsync(fd);
    },
    fdatasync: async (fd) => {
      await backgroundSync;
      await failing(() => systemDisk.fdatasync(fd));
    },
    ftruncate: (fd, size) => failing(() => systemDisk.ftruncate(fd, size)),
  };
  fixture = await openFixture({ disk, limits });
  session = fixture.session();
});
afterEach(() => fixture.close());

const inbound = (name: string): string => join(fixture.home, "inbound", name);
const partial = (name: string): string => inbound(join(".partial", "7", name));
const open = (name = "a.xml"): Promise<WriteHandle> => session.openWrite(`/inbound/${name}`, freshUpload);

function bytesOf(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) % 2 ** 32, at);
  return bytes;
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function shuffled<T>(values: readonly T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ value }) => value);
}

/** Nothing has arrived, and nothing is left open or lying about but the part. */
async function expectPart(bytes: Uint8Array): Promise<void> {
  expect(fixture.arrivals).toEqual([]);
  expect(existsSync(inbound("a.xml"))).toBe(false);
  expect((await readFile(partial("a.xml"))).equals(bytes)).toBe(true);
  expect(await readdir(inbound(".partial/7"))).toEqual(["a.xml"]);
  expect(openFiles().filter((path) => path.includes("\\"))).toEqual([]);
}

describe("writes in another order", () => {
  test.each([1, 2, 3])("a file written in shuffled pieces arrives byte for byte (%i)", async (seed) => {
    const random = randomOf(seed);
    const bytes = bytesOf(1_500_007);
    const pieces: [number, number][] = [];
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + 20_000 + Math.floor(random() * 30_000));
      pieces.push([at, end]);
      at = end;
    }
    const handle = await open();
    for (const [from, to] of shuffled(pieces, random)) await handle.write(from, bytes.subarray(from, to));
    expect(await handle.attributes()).toMatchObject({ size: bytes.length });
    expect(hashOf(await handle.read(0, bytes.length))).toBe(hashOf(bytes.subarray(0, 262_144)));
    await handle.close();
    expect(hashOf(await readFile(inbound("a.xml")))).toBe(hashOf(bytes));
    expect(fixture.arrivals).toMatchObject([{ size: bytes.length }]);
    expect(openFiles().filter((path) => path.includes("\\"))).toEqual([]);
  });

  test("what is written last counts where writes overlap", async () => {
    const handle = await open();
    await handle.write(4, Buffer.from("xxxxxx"));
    await handle.write(6, Buffer.from("yy"));
    await handle.write(0, Buffer.from("abcdef"));
    await handle.write(9, Buffer.from("Z"));
    await handle.close();
    expect(await readFile(inbound("a.xml"), "utf8")).toBe("abcdefyyxZ");
  });

  test("what waits behind a hole can be read back, and the hole as zeros", async () => {
    const handle = await session.openWrite("/inbound/a.xml", freshUpload);
    await handle.write(0, Buffer.from("ab"));
    await handle.write(4, Buffer.from("ef"));
    expect(Buffer.from(await handle.read(0, 100)).toString("latin1")).toBe("ab\0\0ef");
    expect(Buffer.from(await handle.read(3, 2)).toString("latin1")).toBe("\0e");
    await handle.write(2, Buffer.from("cd"));
    expect(Buffer.from(await handle.read(1, 4)).toString("latin1")).toBe("bcde");
    await handle.close();
  });

  test("a sync is refused while there is a hole, and fine when it is filled; the upload goes on", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("ab"));
    await handle.sync();
    await handle.write(3, Buffer.from("d"));
    await expect(handle.sync()).rejects.toThrow("The file has a hole at byte 2");
    await handle.write(2, Buffer.from("c"));
    await handle.sync();
    await handle.close();
    expect((await readFile(inbound("a.xml"))).toString()).toBe("abcd");
  });

  test("a hole of one byte that is left fails the close, and its place is named", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("<Stop>"));
    await handle.write(7, Buffer.from("/Stop>"));
    await expect(handle.close()).rejects.toThrow("bytes 6 to 6 never came");
    await expectPart(Buffer.from("<Stop>"));
  });

  test("a size that was set and is not reached fails the close; one that is reached does not", async () => {
    const handle = await open();
    await handle.change({ size: 8 });
    await handle.write(0, Buffer.from("<Stop/>"));
    await expect(handle.sync()).rejects.toThrow("The file has a hole at byte 7");
    await expect(handle.close()).rejects.toThrow("bytes 7 to 7 never came");
    await expectPart(Buffer.from("<Stop/>"));
    const again = await open();
    await again.change({ size: 7 });
    await again.write(3, Buffer.from("op/>"));
    await again.write(0, Buffer.from("<St"));
    await again.close();
    expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
  });

  test("a cut takes what waits behind it", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("<Stop/>rest"));
    await handle.write(20, Buffer.from("more"));
    await handle.change({ size: 7 });
    await handle.close();
    expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
  });

  test("64 holes are kept, and the 65th is refused at once", async () => {
    const handle = await open();
    for (let hole = 0; hole < 64; hole += 1) await handle.write(hole * 2 + 1, Buffer.from("x"));
    await expect(handle.write(129, Buffer.from("x"))).rejects.toThrow("more than 64 holes");
    await expect(handle.close()).rejects.toThrow("more than 64 holes");
    const other = await open();
    for (let hole = 0; hole < 64; hole += 1) await other.write(hole * 2 + 1, Buffer.from("x"));
    for (let hole = 63; hole >= 0; hole -= 1) await other.write(hole * 2, Buffer.from("o"));
    await other.close();
    expect(await readFile(inbound("a.xml"), "utf8")).toBe("ox".repeat(64));
  });

  test("64 MiB ahead are kept, and a byte more is refused at once", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("ab"));
    await handle.write(64 * mebi + 1, Buffer.from("x"));
    await expect(handle.write(64 * mebi + 2, Buffer.from("x"))).rejects.toThrow("64 MiB ahead");
    await expect(handle.close()).rejects.toThrow("64 MiB ahead");
    await expectPart(Buffer.from("ab"));
  });

  test("a link that breaks leaves what stands before the first hole, and it can be continued", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("<St"));
    await handle.write(5, Buffer.from("/>"));
    await session.end();
    await expectPart(Buffer.from("<St"));
    session = fixture.session();
    const resumed = await session.openWrite("/inbound/a.xml", resumedUpload);
    expect(await resumed.attributes()).toMatchObject({ size: 3 });
    await resumed.write(3, Buffer.from("op/>"));
    await resumed.close();
    expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
  });

  test("what a crash left of bytes behind a hole is shown to nobody and swept away", async () => {
    await (await open("b.xml.part")).close();
    await writeFile(partial("\\0123456789ab"), "behind a hole");
    expect(await namesOf(session, "/inbound")).toEqual(["b.xml.part"]);
    await fixture.exchange.sweepPartials({ olderThanMs: 86_400_000, nowMs: Date.now() });
    expect(await readdir(inbound(".partial/7"))).toEqual(["b.xml.part"]);
  });
});

describe("an upload of which a write failed", () => {
  test("by its size takes no more, and its close fails", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("<Stop/>"));
    await expect(handle.write(limits.maxUploadBytes, Buffer.from("x"))).rejects.toMatchObject({
      kind: "tooLarge",
    });
    await expect(handle.write(7, Buffer.from(" "))).rejects.toMatchObject({ kind: "tooLarge" });
    await expect(handle.close()).rejects.toMatchObject({ kind: "tooLarge" });
    await expectPart(Buffer.from("<Stop/>"));
  });

  test("by appending over the limit ends as a part", async () => {
    const handle = await session.openWrite("/inbound/a.xml", appendUpload);
    await handle.write(0, Buffer.from("<Stop/>"));
    await expect(handle.write(0, Buffer.alloc(limits.maxUploadBytes))).rejects.toMatchObject({
      kind: "tooLarge",
    });
    await expect(handle.close()).rejects.toMatchObject({ kind: "tooLarge" });
    await expectPart(Buffer.from("<Stop/>"));
  });

  test("by a size that cannot be set ends as a part", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("<Stop/>"));
    const tooLarge = { size: limits.maxUploadBytes + 1 };
    await expect(session.change("/inbound/a.xml", tooLarge)).rejects.toMatchObject({ kind: "tooLarge" });
    await expect(handle.close()).rejects.toMatchObject({ kind: "tooLarge" });
    await expectPart(Buffer.from("<Stop/>"));
  });

  test("by a cut that the disk refuses ends as a part", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("<Stop/>rest"));
    isBroken = true;
    await handle.change({ size: 7 });
    await expect(handle.sync()).rejects.toMatchObject({ kind: "failure" });
    isBroken = false;
    await expect(handle.close()).rejects.toMatchObject({ kind: "failure" });
    await expectPart(Buffer.from("<Stop/>rest"));
  });

  test("because it could not be understood ends as a part", async () => {
    const handle = await open();
    await handle.write(0, Buffer.from("<Stop/>"));
    handle.fail(new ExchangeError("tooLarge", "offsets end at 2^53"));
    await expect(handle.write(7, Buffer.from(" "))).rejects.toThrow("offsets end at 2^53");
    await expect(handle.close()).rejects.toThrow("offsets end at 2^53");
    await expectPart(Buffer.from("<Stop/>"));
  });

  test("can be sent again under its name in the same session", async () => {
    const handle = await open();
    await handle.write(1, Buffer.from("x"));
    await expect(handle.close()).rejects.toThrow("never came");
    const again = await open();
    await again.write(0, Buffer.from("<Stop/>"));
    await again.close();
    expect(fixture.arrivals).toHaveLength(1);
  });
});

/** Writes so much that a part of it is synced while more comes. */
async function writeMuch(handle: WriteHandle): Promise<void> {
  const piece = Buffer.alloc(mebi, 32);
  for (let at = 0; at < 33 * mebi; at += mebi) await handle.write(at, piece).catch(() => undefined);
}

test("a background sync that fails fails the close, although the disk takes the last sync", async () => {
  const handle = await open();
  isBroken = true;
  await writeMuch(handle);
  await handle.read(0, 1).catch(() => undefined);
  isBroken = false;
  await expect(handle.close()).rejects.toMatchObject({ kind: "failure" });
  expect(fixture.arrivals).toEqual([]);
});

test("a close waits for the background sync, and fails when that fails in the end", async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  backgroundSync = promise;
  const handle = await open();
  await writeMuch(handle);
  await handle.read(0, 1);
  const closing = handle.close();
  // Nothing but the background sync is left to wait for.
  await setImmediate();
  const syncsBefore = fileSyncs;
  reject(Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));
  await expect(closing).rejects.toMatchObject({ kind: "failure" });
  expect(syncsBefore).toBe(0);
  expect(fixture.arrivals).toEqual([]);
});
