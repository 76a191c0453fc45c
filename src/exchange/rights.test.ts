import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  entriesOf,
  type ExchangeFixture,
  freshUpload,
  namesOf,
  openFixture,
  put,
} from "../../test/support/exchange-fixture.ts";
import { openFiles } from "../../test/support/open-files.ts";
import type { ExchangeSession } from "./exchange-session.ts";

let fixture: ExchangeFixture;
let session: ExchangeSession;

const onDisk = (path: string): string => join(fixture.home, path);

beforeEach(async () => {
  fixture = await openFixture();
  session = fixture.session();
  for (const folder of ["archive/2026-01-02", "error/2026-01-02", "outbound/2026-01-02"])
    await mkdir(onDisk(folder));
  for (const file of files) await writeFile(onDisk(file), "content");
});
afterEach(() => fixture.close());

const files = [
  "inbound/f.xml",
  "outbound/f.xml",
  "outbound/2026-01-02/f.xml",
  "receipts/f.xml",
  "archive/2026-01-02/f.xml",
  "error/2026-01-02/f.xml",
];

type Verdict = "allowed" | "permissionDenied";

async function verdictOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "allowed";
  } catch (error) {
    return error instanceof Error && "kind" in error ? String(error.kind) : String(error);
  }
}

async function readAll(path: string): Promise<string> {
  const handle = await session.openRead(path);
  const bytes = await handle.read(0, 100);
  await handle.close();
  return Buffer.from(bytes).toString();
}

const actions: Record<string, (path: string) => Promise<unknown>> = {
  list: (path) => namesOf(session, path.slice(0, path.lastIndexOf("/"))),
  stat: (path) => session.stat(path),
  get: readAll,
  put: (path) => put(session, path.replace("f.xml", "new.xml"), "x"),
  overwrite: (path) => put(session, path, "x"),
  delete: (path) => session.remove(path),
  rename: (path) => session.rename(path, path.replace("f.xml", "g.xml"), { mayReplace: true }),
  "move to done": (path) => session.rename(path, "/outbound/done/f.xml", { mayReplace: false }),
  "move to inbound": (path) => session.rename(path, "/inbound/g.xml", { mayReplace: false }),
  "make folder": (path) => session.makeDirectory(path.replace("f.xml", "sub")),
  "remove folder": (path) => session.removeDirectory(path.slice(0, path.lastIndexOf("/"))),
};

/** Which actions each folder allows; all others are refused as not permitted. */
const allowed: Record<string, readonly string[]> = {
  "inbound/f.xml": ["list", "stat", "put", "overwrite"],
  "outbound/f.xml": ["list", "stat", "get", "delete", "move to done"],
  "outbound/2026-01-02/f.xml": ["list", "stat", "get", "delete", "move to done"],
  "receipts/f.xml": ["list", "stat", "get", "delete"],
  "archive/2026-01-02/f.xml": ["list", "stat", "get"],
  "error/2026-01-02/f.xml": ["list", "stat", "get", "delete"],
};

const table = Object.entries(allowed).flatMap(([file, may]) =>
  Object.keys(actions).map((action): [string, string, Verdict] => [
    action,
    file,
    may.includes(action) ? "allowed" : "permissionDenied",
  ]),
);

test.each(table)("%s of %s is %s", async (action, file, verdict) => {
  const run = actions[action];
  expect(run && (await verdictOf(run(`/${file}`)))).toBe(verdict);
  const isGone = verdict === "allowed" && (action === "delete" || action === "move to done");
  expect(existsSync(onDisk(file))).toBe(!isGone);
  if (!isGone) expect(await readFile(onDisk(file), "utf8")).toBe("content");
});

test("uploads and new folders beside the five folders are refused with the folder to use", async () => {
  await expect(session.openWrite("/x.xml", freshUpload)).rejects.toThrow("can only be uploaded to inbound/");
  expect(await verdictOf(session.makeDirectory("/new"))).toBe("permissionDenied");
  expect(await verdictOf(session.makeDirectory("/inbound"))).toBe("alreadyExists");
  expect(await verdictOf(session.remove("/inbound"))).toBe("isADirectory");
  expect(await session.stat("/inbound")).toMatchObject({ isDirectory: true });
  expect(await namesOf(session, "/")).toEqual(["archive", "error", "inbound", "outbound", "receipts"]);
});

test("outbound/done can be made once, is listed and read, and nothing in it is replaced", async () => {
  await session.makeDirectory("/outbound/done");
  expect(await verdictOf(session.makeDirectory("/outbound/done"))).toBe("alreadyExists");
  await session.rename("/outbound/f.xml", "/outbound/done/f.xml", { mayReplace: false });
  expect(await namesOf(session, "/outbound/done")).toEqual(["f.xml"]);
  expect(await readAll("/outbound/done/f.xml")).toBe("content");
  await writeFile(onDisk("outbound/f.xml"), "newer");
  const again = session.rename("/outbound/f.xml", "/outbound/done/f.xml", { mayReplace: true });
  expect(await verdictOf(again)).toBe("alreadyExists");
  expect(await readAll("/outbound/done/f.xml")).toBe("content");
});

test("a deletion in error/ is recorded before the file goes, and not done when it cannot be recorded", async () => {
  await fixture.close();
  let wasThere = false;
  let canRecord = false;
  fixture = await openFixture({
    recordRemoval: async ({ path, userName }) => {
      if (!canRecord) throw new Error("no ledger");
      wasThere = existsSync(path) && userName === "host7";
    },
  });
  session = fixture.session();
  await writeFile(onDisk("error/f.xml"), "x");
  await expect(session.remove("/error/f.xml")).rejects.toThrow("The server could not do this");
  expect(existsSync(onDisk("error/f.xml"))).toBe(true);
  expect(fixture.logLines).toHaveLength(1);
  expect(fixture.logLines[0]).toMatch(/"userName":"host7".*a request of the file exchange failed/);
  canRecord = true;
  await session.remove("/error/f.xml");
  expect(wasThere).toBe(true);
  expect(existsSync(onDisk("error/f.xml"))).toBe(false);
});

test("a file read to its end, a move into done/ and a deletion count as picked up; a broken read does not", async () => {
  const half = await session.openRead("/outbound/f.xml");
  await half.read(0, 3);
  await half.close();
  expect(fixture.pickups).toEqual([]);
  await readAll("/outbound/f.xml");
  await readAll("/receipts/f.xml");
  await session.rename("/outbound/f.xml", "/outbound/done/f.xml", { mayReplace: false });
  await session.remove("/outbound/done/f.xml");
  expect(fixture.pickups.map(({ kind, path }) => [kind, path])).toEqual([
    ["downloaded", onDisk("outbound/f.xml")],
    ["moved", onDisk("outbound/f.xml")],
    ["deleted", onDisk("outbound/done/f.xml")],
  ]);
});

/** Reads the bytes from `from` up to `to` in one opening. */
async function readPart(part: { by?: ExchangeSession; from: number; to: number; isBroken?: boolean }) {
  const handle = await (part.by ?? session).openRead("/outbound/f.xml");
  await handle.read(part.from, part.to - part.from);
  await (part.isBroken === true ? handle.abandon() : handle.close());
}

describe("a download in parts", () => {
  const size = 12;

  beforeEach(async () => {
    await writeFile(onDisk("outbound/f.xml"), "x".repeat(size));
  });

  test("counts with the part that makes it whole, over several sessions of one user", async () => {
    await readPart({ from: 0, to: 5 });
    await session.end();
    await readPart({ by: fixture.session(), from: 4, to: 7, isBroken: true });
    await readPart({ by: fixture.session(8), from: 0, to: 11 });
    await readPart({ by: fixture.session(8), from: 0, to: 4 });
    expect(fixture.pickups).toEqual([]);
    await readPart({ by: fixture.session(), from: 7, to: size });
    expect(fixture.pickups).toMatchObject([{ kind: "downloaded", userName: "host7" }]);
  });

  test("counts for segments in any order", async () => {
    const handles = await Promise.all(
      [6, 0, 3, 9].map(async (from) => ({ from, handle: await session.openRead("/outbound/f.xml") })),
    );
    for (const { from, handle } of handles) await handle.read(from, 3);
    for (const { handle } of handles) await handle.close();
    expect(fixture.pickups).toHaveLength(1);
  });

  test("does not count for the same bytes read twice, nor with a byte missing", async () => {
    await readPart({ from: 0, to: 6 });
    await readPart({ from: 0, to: 6 });
    await readPart({ from: 7, to: size });
    await readPart({ from: size, to: size + 1 });
    expect(fixture.pickups).toEqual([]);
    await readPart({ from: 6, to: 7 });
    expect(fixture.pickups).toHaveLength(1);
  });

  test("counts when all was sent before the link broke, and the client finds that nothing is missing", async () => {
    await readPart({ from: 0, to: size, isBroken: true });
    await (await session.openRead("/outbound/f.xml")).close();
    expect(fixture.pickups).toEqual([]);
    await readPart({ from: size, to: size + 1 });
    expect(fixture.pickups).toHaveLength(1);
  });

  test("begins anew with a file that was written anew", async () => {
    await readPart({ from: 0, to: 6 });
    await rm(onDisk("outbound/f.xml"));
    await writeFile(onDisk("outbound/f.xml"), "y".repeat(size));
    await readPart({ from: 6, to: size });
    expect(fixture.pickups).toEqual([]);
  });
});

test("a user of several companies sees them as folders, in any case, and nothing of others", async () => {
  const both = fixture.session(7, ["ACME", "Beta"]);
  expect(await namesOf(both, "/")).toEqual(["ACME", "Beta"]);
  expect(await both.realPath("/beta/inbound/../outbound")).toBe("/Beta/outbound");
  await put(both, "/BETA/inbound/a.xml", "x");
  expect(fixture.arrivals[0]).toMatchObject({
    companyId: 2,
    path: join(fixture.companiesDir, "Beta/inbound/a.xml"),
  });
  expect(await both.stat("/acme/outbound/f.xml")).toMatchObject({ size: 7 });
  const across = both.rename("/ACME/outbound/f.xml", "/Beta/outbound/done/f.xml", { mayReplace: false });
  expect(await verdictOf(across)).toBe("permissionDenied");
  expect(await verdictOf(fixture.session(8, ["Beta"]).stat("/ACME"))).toBe("noSuchFile");
  expect(await verdictOf(fixture.session(8, []).stat("/inbound"))).toBe("noSuchFile");
});

test.each([
  ["/../../etc/passwd", "/etc/passwd"],
  ["inbound/./../../x", "/x"],
  ["", "/"],
  ["//outbound//f.xml/", "/outbound/f.xml"],
])("the path %j is %s", async (path, expected) => {
  expect(await session.realPath(path)).toBe(expected);
});

test.each([
  ["NUL", "/inbound/a\0.xml"],
  ["a line feed", "/inbound/a\n.xml"],
  ["a backslash", "/inbound\\a.xml"],
  ["bytes that are not UTF-8", "/inbound/a\ufffd.xml"],
  ["half a surrogate pair", "/inbound/a\ud800.xml"],
  ["256 bytes", `/inbound/${"ä".repeat(128)}`],
  ["a path of 1,025 bytes", `/${"a/".repeat(512)}`],
])("a name with %s is refused by every call", async (_title, path) => {
  const calls = [
    session.realPath(path),
    session.stat(path),
    session.list(path),
    session.openRead(path),
    session.openWrite(path, freshUpload),
    session.change(path, {}),
    session.remove(path),
    session.makeDirectory(path),
    session.removeDirectory(path),
    session.rename(path, "/inbound/b", { mayReplace: true }),
    session.rename("/inbound/b", path, { mayReplace: true }),
    session.statistics(path),
  ];
  expect(new Set(await Promise.all(calls.map(verdictOf)))).toEqual(new Set(["badName"]));
});

test("links, FIFOs, sockets and hidden files are not listed, and cannot be read, deleted or moved", async () => {
  const outside = join(fixture.companiesDir, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "secret"), "secret");
  await symlink(join(outside, "secret"), onDisk("outbound/link"));
  await symlink(outside, onDisk("outbound/linked-folder"));
  execFileSync("mkfifo", [onDisk("outbound/fifo"), onDisk("inbound/fifo.xml")]);
  await writeFile(onDisk("outbound/.hidden"), "x");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(onDisk("outbound/socket"), resolve));
  expect(await namesOf(session, "/outbound")).toEqual(["2026-01-02", "f.xml"]);
  expect(await namesOf(session, "/inbound")).toEqual(["f.xml"]);
  for (const name of ["link", "linked-folder/secret", "fifo", ".hidden", "socket"]) {
    const path = `/outbound/${name}`;
    const calls = [
      session.stat(path),
      session.openRead(path),
      session.remove(path),
      session.rename(path, "/outbound/done/x", { mayReplace: false }),
    ];
    expect(new Set(await Promise.all(calls.map(verdictOf)))).toEqual(new Set(["noSuchFile"]));
  }
  await new Promise((resolve) => server.close(resolve));
});

test("a folder of the tree that was replaced by a link is not entered", async () => {
  const outside = join(fixture.companiesDir, "outside");
  await mkdir(outside);
  await writeFile(join(outside, "f.xml"), "secret");
  await rename(onDisk("archive"), onDisk("was-archive"));
  await symlink(outside, onDisk("archive"));
  expect(await verdictOf(session.stat("/archive/f.xml"))).toBe("noSuchFile");
  expect(await verdictOf(session.list("/archive"))).toBe("noSuchFile");
  expect(await verdictOf(session.openRead("/archive/f.xml"))).toBe("noSuchFile");
});

test("the dot-folders of the server cannot be reached", async () => {
  await put(session, "/inbound/f.part", "x");
  for (const path of ["/inbound/.partial", "/inbound/.partial/7/f.part", "/inbound/.again"]) {
    expect(await verdictOf(session.stat(path))).toBe("noSuchFile");
    expect(await verdictOf(session.list(path))).toBe("noSuchFile");
  }
});

test("a folder of 10,000 files is listed in pages", async () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `r${index}.xml`);
  for (let at = 0; at < names.length; at += 500) {
    await Promise.all(names.slice(at, at + 500).map((name) => writeFile(onDisk(`receipts/${name}`), "")));
  }
  await rm(onDisk("receipts/f.xml"));
  let longest = 0;
  const found = new Set<string>();
  for await (const page of await session.list("/receipts")) {
    longest = Math.max(longest, page.length);
    for (const entry of page) found.add(entry.name);
  }
  expect(found.size).toBe(10_000);
  expect(longest).toBeLessThanOrEqual(256);
});

test("an entry tells size, time and kind", async () => {
  const entries = await entriesOf(session, "/outbound");
  const file = entries.find((entry) => entry.name === "f.xml")?.attributes;
  expect(file).toMatchObject({ isDirectory: false, size: 7 });
  expect(Math.abs((file?.modifiedSeconds ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  expect(entries.find((entry) => entry.name === "2026-01-02")?.attributes.isDirectory).toBe(true);
});

test("after the end of a session nothing is begun and no descriptor stays open", async () => {
  const listing = await session.list("/outbound");
  await listing[Symbol.asyncIterator]().next();
  const download = await session.openRead("/outbound/f.xml");
  await session.end();
  await session.end();
  await expect(download.read(0, 1)).rejects.toThrow("closed");
  expect(await verdictOf(session.stat("/"))).toBe("failure");
  expect(openFiles().filter((path) => path.startsWith(`${fixture.home}/outbound`))).toEqual([]);
});

test("free space is told", async () => {
  const statistics = await session.statistics("/inbound");
  expect(statistics.blocks).toBeGreaterThan(statistics.blocksAvailable);
});

test("paths that go out begin with the configured folder, also when it is reached through a link", async () => {
  const linked = `${fixture.companiesDir}-linked`;
  await symlink(fixture.companiesDir, linked);
  const other = await openFixture({ companiesDir: linked });
  await put(other.session(), "/inbound/new.xml", "x");
  await put(other.session(), "/inbound/new.xml", "y");
  await other.close();
  await rm(linked);
  expect(other.arrivals[0]?.path).toBe(join(linked, "ACME/inbound/new.xml"));
  expect(other.arrivals[1]?.path).toContain(join(linked, "ACME/inbound/.again/"));
});

test("what may be done under a path is told without looking at the disk", () => {
  const none = { get: false, put: false, remove: false, rename: false };
  for (const path of ["/", "/nowhere/f.xml"]) expect(session.rightsAt(path), path).toEqual(none);
  for (const path of ["/inbound", "/inbound/f.xml"])
    expect(session.rightsAt(path), path).toEqual({ ...none, put: true });
  expect(session.rightsAt("/inbound/f.xml.part")).toEqual({
    get: false,
    put: true,
    remove: true,
    rename: true,
  });
  expect(session.rightsAt("/outbound/f.xml")).toEqual({ get: true, put: false, remove: true, rename: true });
  expect(session.rightsAt("/receipts/f.xml")).toEqual({ ...none, get: true, remove: true });
  expect(session.rightsAt("/archive/2026-01-02/f.xml")).toEqual({ ...none, get: true });
  expect(() => session.rightsAt("/inbound/a\0b")).toThrow("control character");
});

test("an upload that breaks off leaves its part, and the session goes on", async () => {
  const upload = await session.openWrite("inbound/broken.xml", freshUpload);
  await upload.write(0, Buffer.from("half"));
  await upload.abandon();
  expect((await session.stat("inbound/broken.xml")).size).toBe(4);
  await expect(upload.close()).rejects.toThrow("closed");
  await put(session, "inbound/whole.xml", "x");
  await upload.abandon();
  expect(fixture.arrivals.map(({ name }) => name)).toEqual(["whole.xml"]);
});

test("a listing that was opened and not begun can be ended, any number of times", async () => {
  for (let time = 0; time < 3; time += 1) {
    const pages = (await session.list("/archive"))[Symbol.asyncIterator]();
    await pages.return?.();
    expect(await pages.next()).toMatchObject({ done: true });
  }
});
