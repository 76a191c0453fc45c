import { existsSync } from "node:fs";
import { chmod, link, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  appendUpload,
  type ExchangeFixture,
  freshUpload,
  namesOf,
  openFixture,
  put,
  putBroken,
  resumedUpload,
} from "../../../test/support/exchange-fixture.ts";
import { asOrdinaryUser } from "../../../test/support/ordinary-user.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";

let fixture: ExchangeFixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const inbound = (name: string): string => join(fixture.home, "inbound", name);
const partial = (name: string): string => inbound(join(".partial", "7", name));

/** Starts again with other dependencies. */
async function reopen(changes: Parameters<typeof openFixture>[0]): Promise<void> {
  await fixture.close();
  fixture = await openFixture(changes);
}

function recordingDisk(calls: string[], changes: Partial<DiskCalls> = {}): DiskCalls {
  const base = { ...systemDisk, ...changes };
  const note = (text: string): void => void calls.push(text);
  return {
    ...base,
    write: (fd, bytes, at) => {
      note("write");
      return base.write(fd, bytes, at);
    },
    fsync: async (fd) => {
      const isFolder = (await base.fstat(fd)).isDirectory();
      note(isFolder ? "folder sync begins" : "file sync begins");
      await base.fsync(fd);
      note(isFolder ? "folder sync" : "file sync");
    },
    link: async (from, to) => {
      await base.link(from, to);
      note("link");
    },
    unlink: (path) => {
      note("unlink");
      return base.unlink(path);
    },
  };
}

test("a closed upload stands under its final name and has arrived once", async () => {
  await put(fixture.session(), "/inbound/a.xml", "<Stop/>");
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
  expect(existsSync(partial("a.xml"))).toBe(false);
  expect(fixture.arrivals).toEqual([
    {
      companyId: 1,
      name: "a.xml",
      path: inbound("a.xml"),
      channel: "sftp",
      userName: "host7",
      size: 7,
      beganAt: expect.any(Number),
      receivedAt: expect.any(Number),
      reservation: { holder: expect.anything() },
    },
  ]);
});

test("what is transferred is counted by protocol, and so are uploads that are whole and that break off", async () => {
  const { transfers } = fixture.exchange;
  await put(fixture.session(), "/inbound/a.xml", "<Stop/>");
  await putBroken(fixture.session(), "/inbound/b.xml", "<St");
  await writeFile(join(fixture.home, "receipts", "r.xml"), "12345");
  const download = await fixture.session().openRead("/receipts/r.xml");
  await download.read(0, 3);
  await download.read(3, 100);
  await download.close();
  expect(transfers.sftp).toEqual({ bytesIn: 10, bytesOut: 5, uploadsComplete: 1, uploadsBroken: 1 });
  expect(transfers.ftp).toEqual({ bytesIn: 0, bytesOut: 0, uploadsComplete: 0, uploadsBroken: 0 });
});

test("the close is answered after file sync, link and folder sync in this order", async () => {
  const calls: string[] = [];
  await reopen({
    disk: recordingDisk(calls),
    inbox: {
      reserve: () => calls.push("reserve"),
      clearReceipt: async () => void calls.push("clear receipt"),
      holderOf: () => ({ release: () => calls.push("release") }),
      isToEnter: () => false,
      enterElsewhere: async () => undefined,
    },
    arrivals: { arrive: () => void calls.push("arrive"), flush: () => undefined },
  });
  await put(fixture.session(), "/inbound/a.xml", "<Stop/>");
  const order = [
    "write",
    "file sync",
    "reserve",
    "clear receipt",
    "link",
    "folder sync begins",
    "folder sync",
    "arrive",
  ];
  const own = calls.slice(calls.indexOf("write"));
  expect(own.filter((call) => order.includes(call))).toEqual(order);
});

test("an upload whose file cannot be synced fails at the close and never arrives", async () => {
  let isBroken = false;
  const fsync: DiskCalls["fsync"] = async (fd) => {
    if (isBroken && (await systemDisk.fstat(fd)).isFile())
      throw Object.assign(new Error("x"), { code: "EIO" });
    await systemDisk.fsync(fd);
  };
  await reopen({ disk: { ...systemDisk, fsync } });
  isBroken = true;
  await expect(put(fixture.session(), "/inbound/a.xml", "x")).rejects.toMatchObject({ kind: "failure" });
  expect(fixture.arrivals).toEqual([]);
  expect(existsSync(inbound("a.xml"))).toBe(false);
});

test("a broken link leaves an unfinished part, never a file", async () => {
  await putBroken(fixture.session(), "/inbound/a.xml", "<St");
  expect(existsSync(inbound("a.xml"))).toBe(false);
  expect(await readFile(partial("a.xml"), "utf8")).toBe("<St");
  expect(fixture.arrivals).toEqual([]);
});

test("the owner sees the part and continues it; others do not see it", async () => {
  await putBroken(fixture.session(), "/inbound/a.xml", "<St");
  const owner = fixture.session();
  expect(await owner.stat("/inbound/a.xml")).toMatchObject({ size: 3 });
  expect(await owner.stat("/inbound/.a.xml.partial")).toMatchObject({ size: 3 });
  expect(await namesOf(owner, "/inbound")).toEqual([".a.xml.partial"]);
  const other = fixture.session(8);
  expect(await namesOf(other, "/inbound")).toEqual([]);
  await expect(other.stat("/inbound/a.xml")).rejects.toMatchObject({ kind: "noSuchFile" });
  const handle = await owner.openWrite("/inbound/a.xml", { ...resumedUpload, create: false });
  expect(await handle.attributes()).toMatchObject({ size: 3 });
  await handle.write(3, Buffer.from("op/>"));
  await handle.close();
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
});

test("an append continues at the end whatever the offset says", async () => {
  await putBroken(fixture.session(), "/inbound/a.xml", "<St");
  const handle = await fixture.session().openWrite("/inbound/a.xml", appendUpload);
  await handle.write(0, Buffer.from("op/>"));
  await handle.close();
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
});

test("an append to a file that was received completely is refused", async () => {
  const session = fixture.session();
  await put(session, "/inbound/a.xml", "<Stop/>");
  await expect(session.openWrite("/inbound/a.xml", appendUpload)).rejects.toMatchObject({
    kind: "permissionDenied",
  });
});

test("writing from the beginning without truncation starts the part over", async () => {
  await putBroken(fixture.session(), "/inbound/a.xml", "a much longer old part");
  const handle = await fixture.session().openWrite("/inbound/a.xml", resumedUpload);
  await handle.write(0, Buffer.from("<Stop/>"));
  await handle.close();
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
});

test("opening with truncation forgets the part", async () => {
  await putBroken(fixture.session(), "/inbound/a.xml", "a much longer old part");
  await put(fixture.session(), "/inbound/a.xml", "<Stop/>");
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
});

test("an exclusive open is refused while a file or a part of the name exists", async () => {
  const exclusive = { ...freshUpload, truncate: false, exclusive: true };
  await writeFile(inbound("a.xml"), "");
  await putBroken(fixture.session(), "/inbound/b.xml", "x");
  const session = fixture.session();
  await expect(session.openWrite("/inbound/a.xml", exclusive)).rejects.toMatchObject({
    kind: "alreadyExists",
  });
  await expect(session.openWrite("/inbound/b.xml", exclusive)).rejects.toMatchObject({
    kind: "alreadyExists",
  });
  await (await session.openWrite("/inbound/c.xml", exclusive)).close();
  expect(fixture.arrivals.map((arrival) => arrival.name)).toEqual(["c.xml"]);
});

test("a large file in many writes arrives byte for byte, rewritten parts included", async () => {
  const bytes = Buffer.alloc(3_000_001);
  for (let at = 0; at < bytes.length; at += 4)
    bytes.writeUInt32LE(at % 65_521, Math.min(at, bytes.length - 4));
  const handle = await fixture.session().openWrite("/inbound/a.xml", freshUpload);
  for (let at = 0; at < bytes.length; at += 32_768) await handle.write(at, bytes.subarray(at, at + 32_768));
  await handle.write(100, Buffer.from("again"));
  bytes.write("again", 100);
  expect(Buffer.from(await handle.read(98, 10))).toEqual(bytes.subarray(98, 108));
  await handle.close();
  expect((await readFile(inbound("a.xml"))).equals(bytes)).toBe(true);
});

test("the size of an own open upload can be cut", async () => {
  const handle = await fixture.session().openWrite("/inbound/a.xml", freshUpload);
  await handle.write(0, Buffer.from("<Stop/>rest"));
  await handle.change({ size: 7 });
  await handle.close();
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("<Stop/>");
});

test("a second file of a name that still waits is kept beside it and arrives too", async () => {
  const session = fixture.session();
  await put(session, "/inbound/a.xml", "one");
  await put(session, "/inbound/a.xml", "second");
  expect(fixture.arrivals.map(({ name, size }) => ({ name, size }))).toEqual([
    { name: "a.xml", size: 3 },
    { name: "a.xml", size: 6 },
  ]);
  const again = fixture.arrivals[1]?.path ?? "";
  expect(again).toMatch(/\/inbound\/\.again\/[0-9a-f]{12}-a\.xml$/);
  expect(await readFile(again, "utf8")).toBe("second");
  expect(await session.stat("/inbound/a.xml")).toMatchObject({ size: 6 });
  expect(await namesOf(session, "/inbound")).toEqual(["a.xml"]);
});

test.each(["a.xml.filepart", ".in.a.xml.", ".a.xml.X1y2Z3", "a.xml~"])(
  "an upload named %s stays unfinished until it is renamed",
  async (name) => {
    const session = fixture.session();
    await put(session, `/inbound/${name}`, "<Stop/>");
    expect(fixture.arrivals).toEqual([]);
    expect(await namesOf(session, "/inbound")).toEqual([name]);
    await session.change(`/inbound/${name}`, { modifiedSeconds: 1_000 });
    await session.rename(`/inbound/${name}`, "/inbound/a.xml", { mayReplace: false });
    expect(fixture.arrivals.map((arrival) => arrival.path)).toEqual([inbound("a.xml")]);
    expect(await session.stat("/inbound/a.xml")).toMatchObject({ size: 7, modifiedSeconds: 1_000 });
  },
);

test("a second upload of the same name is refused while the first is open, and not after its link broke", async () => {
  const first = fixture.session();
  const handle = await first.openWrite("/inbound/a.xml", freshUpload);
  await handle.write(0, Buffer.from("abc"));
  const second = fixture.session();
  await expect(second.openWrite("/inbound/a.xml", freshUpload)).rejects.toThrow(
    "is being uploaded by another",
  );
  await expect(second.remove("/inbound/a.xml")).rejects.toMatchObject({ kind: "permissionDenied" });
  const ending = first.end();
  const resumed = await second.openWrite("/inbound/a.xml", appendUpload);
  await ending;
  await resumed.write(0, Buffer.from("def"));
  await resumed.close();
  expect(await readFile(inbound("a.xml"), "utf8")).toBe("abcdef");
});

test("two users upload the same name at once and both files arrive", async () => {
  const [one, two] = [fixture.session(7), fixture.session(8)];
  const handles = await Promise.all(
    [one, two].map((session) => session.openWrite("/inbound/a.xml", freshUpload)),
  );
  await Promise.all(handles.map((handle, index) => handle.write(0, Buffer.from(`from ${index}`))));
  await Promise.all(handles.map((handle) => handle.close()));
  const texts = await Promise.all(fixture.arrivals.map((arrival) => readFile(arrival.path, "utf8")));
  expect(texts.sort()).toEqual(["from 0", "from 1"]);
});

test("after the pipeline has taken a file its uploader still sees size and times, others nothing", async () => {
  const session = fixture.session();
  const handle = await session.openWrite("/inbound/a.xml", freshUpload);
  await handle.write(0, Buffer.from("<Stop/>"));
  await handle.change({ modifiedSeconds: 1_234, accessedSeconds: 5 });
  await handle.close();
  await rename(inbound("a.xml"), join(fixture.home, "archive", "a.xml"));
  expect(await session.stat("/inbound/a.xml")).toMatchObject({ size: 7, modifiedSeconds: 1_234 });
  await session.change("/inbound/a.xml", { modifiedSeconds: 99, mode: 0o777 });
  expect(await session.stat("/inbound/a.xml")).toMatchObject({ modifiedSeconds: 99, mode: 0o640 });
  expect(await namesOf(session, "/inbound")).toEqual([]);
  await expect(session.remove("/inbound/a.xml")).rejects.toThrow("it was taken in");
  await expect(fixture.session(8).stat("/inbound/a.xml")).rejects.toMatchObject({ kind: "noSuchFile" });
});

test("what a crash left between link and unlink is never written to, and swept away", async () => {
  await put(fixture.session(), "/inbound/a.xml", "applied");
  const archived = join(fixture.home, "archive", "a.xml");
  await rename(inbound("a.xml"), archived);
  await link(archived, partial("a.xml"));
  await link(archived, partial("b.xml"));
  const session = fixture.session();
  for (const name of ["a.xml", "b.xml"]) {
    const handle = await session
      .openWrite(`/inbound/${name}`, name === "a.xml" ? appendUpload : freshUpload)
      .catch(() => undefined);
    await handle?.write(0, Buffer.from("other"));
    await handle?.close();
  }
  expect(await readFile(archived, "utf8")).toBe("applied");
  await fixture.exchange.sweepPartials({ olderThanMs: 86_400_000, nowMs: Date.now() });
  expect(await readdir(inbound(".partial/7"))).toEqual([]);
});

test("uploads are refused with a clear text when the disk has too little space", async () => {
  const statfs: DiskCalls["statfs"] = async (path) => ({ ...(await systemDisk.statfs(path)), bavail: 1 });
  await reopen({
    disk: { ...systemDisk, statfs },
    limits: { maxUploadBytes: 100, maxWaiting: 9, minFreeBytes: () => 2_000_000_000 },
  });
  const session = fixture.session();
  for (let turn = 0; turn < 3; turn += 1) {
    const opening = session.openWrite("/inbound/a.xml", freshUpload);
    await expect(opening).rejects.toThrow("The server's disk has less than 2.0 GB free");
  }
  expect(fixture.logLines.filter((line) => /no more files are taken/.test(line))).toHaveLength(1);
});

test("a disk that fills up fails the upload with the reason and keeps the part", async () => {
  let writes = 0;
  const write: DiskCalls["write"] = async (fd, bytes, at) => {
    writes += 1;
    if (writes > 1) throw Object.assign(new Error("x"), { code: "ENOSPC" });
    return await systemDisk.write(fd, bytes, at);
  };
  await reopen({ disk: { ...systemDisk, write } });
  const session = fixture.session();
  const handle = await session.openWrite("/inbound/a.xml", freshUpload);
  await handle.write(0, Buffer.from("first"));
  await handle.sync();
  await handle.write(5, Buffer.from("second"));
  await expect(handle.close()).rejects.toMatchObject({ kind: "noSpace" });
  expect(await session.stat("/inbound/a.xml")).toMatchObject({ size: 5 });
  expect(fixture.arrivals).toEqual([]);
});

test("a folder that cannot be written gives a clear failure", async () => {
  const open: DiskCalls["open"] = async (path, flags, mode) => {
    if (mode !== undefined) throw Object.assign(new Error("x"), { code: "EROFS" });
    return await systemDisk.open(path, flags, mode);
  };
  await reopen({ disk: { ...systemDisk, open } });
  await expect(put(fixture.session(), "/inbound/a.xml", "x")).rejects.toThrow(
    "The server cannot write to this folder",
  );
});

test("what a client may not do is no fault of the disk, and the log has no line of it", async () => {
  const session = fixture.session();
  await expect(session.stat("/inbound/none.xml")).rejects.toMatchObject({ kind: "noSuchFile" });
  const handle = await session.openWrite("/inbound/a.xml", freshUpload);
  await expect(session.change("/inbound/a.xml", { size: 50_000_001 })).rejects.toMatchObject({
    kind: "tooLarge",
  });
  await handle.close().catch(() => undefined);
  expect(fixture.logLines).toEqual([]);
});

test("too many waiting files refuse an upload", async () => {
  await reopen({ waiting: 5, limits: { maxUploadBytes: 100, maxWaiting: 5, minFreeBytes: () => 0 } });
  const opening = fixture.session().openWrite("/inbound/a.xml", freshUpload);
  await expect(opening).rejects.toMatchObject({ kind: "tooManyWaiting" });
});

test("a link in place of the folder of unfinished files is not followed", async () => {
  const outside = join(fixture.companiesDir, "outside");
  await mkdir(outside);
  await symlink(outside, inbound(".partial/7"));
  await expect(put(fixture.session(), "/inbound/a.xml", "x")).rejects.toThrow();
  expect(await readdir(outside)).toEqual([]);
});

test("a link swapped in above an open upload leads nothing outside", async () => {
  const outside = join(fixture.companiesDir, "outside");
  await mkdir(join(outside, ".partial", "7"), { recursive: true });
  const handle = await fixture.session().openWrite("/inbound/a.xml", freshUpload);
  await rename(inbound(""), join(fixture.home, "moved"));
  await symlink(outside, join(fixture.home, "inbound"));
  await handle.write(0, Buffer.from("x"));
  await handle.close().catch(() => undefined);
  expect(await readdir(outside)).toEqual([".partial"]);
  expect(await readdir(join(outside, ".partial", "7"))).toEqual([]);
});

test("a folder without write permission gives a clear failure", async () => {
  await put(fixture.session(), "/inbound/b.xml", "x");
  await chmod(inbound(".partial/7"), 0o500);
  await asOrdinaryUser(fixture.companiesDir, async () => {
    await expect(put(fixture.session(), "/inbound/a.xml", "x")).rejects.toThrow("cannot write");
  });
  await chmod(inbound(".partial/7"), 0o700);
});
