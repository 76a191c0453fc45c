import {
  appendFileSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemTakeCalls } from "./take-calls.ts";
import { copies, fail, FolderRig, left, otherFileSystem } from "./testing/folder-rig.ts";

const name = "4711_20261105_080000.xml";

describe("a file in a further folder", () => {
  it("is moved into inbound/ and handed over there", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    await rig.start();
    writeFileSync(join(rig.share, name), "<Stop/>");
    await rig.until(() => rig.arrivals.length === 1);
    const path = join(rig.inbound, name);
    expect(rig.arrivals).toEqual([{ companyId: 1, name, path, channel: "folder", size: 7 }]);
    expect(readFileSync(path, "utf8")).toBe("<Stop/>");
    expect(readdirSync(rig.share)).toEqual([]);
    expect(rig.known.has(path)).toBe(true);
  });

  it("is looked at with few others at once, so that a share that dies keeps few threads", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    for (let stop = 100; stop < 140; stop += 1)
      writeFileSync(join(rig.share, `${stop}_20261105_080000.xml`), "x");
    let [hanging, most] = [0, 0];
    const { lstat } = rig.disk;
    rig.disk.lstat = async (path) => {
      hanging += 1;
      most = Math.max(most, hanging);
      try {
        return await lstat(path);
      } finally {
        hanging -= 1;
      }
    };
    await rig.start();
    await rig.until(() => rig.arrivals.length === 40);
    expect(most).toBe(2);
  });

  it("goes to .again when one of its name waits already", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    writeFileSync(join(rig.inbound, name), "first");
    writeFileSync(join(rig.share, name), "second");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.arrivals[0]?.path).toMatch(/\.again\/[0-9a-f]{12}-4711_/);
    expect(readFileSync(join(rig.inbound, name), "utf8")).toBe("first");
  });

  it("comes with all others that have settled: nothing of 3,000 files is decided before all are handed over", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    for (let stop = 1_000; stop < 4_000; stop += 1) {
      writeFileSync(join(rig.share, `${stop}_20261105_080000.xml`), "<Stop/>");
    }
    await rig.start();
    await rig.until(() => rig.arrivals.length === 3_000 && rig.holds === 0);
    expect(rig.handedOver.map((group) => group.length)).toEqual([2_000, 1_000]);
    expect(rig.heldDuring).toEqual([1, 1]);
    expect(left(rig)).toHaveLength(3_000);
    expect(readdirSync(rig.share)).toEqual([]);
  });

  it("is not taken twice when inbound/ is watched as well", async () => {
    await using rig = new FolderRig();
    rig.folders.push(rig.folder(rig.share, false));
    await rig.start();
    for (let stop = 100; stop < 200; stop += 1)
      writeFileSync(join(rig.share, `${stop}_20261105_080000.xml`), "x");
    await rig.until(() => rig.arrivals.length >= 100);
    await rig.endpoint.scanNow();
    expect(new Set(rig.names).size).toBe(rig.arrivals.length);
  });

  it("is copied from another file system, and its source goes last", async (test) => {
    await using rig = new FolderRig();
    const other = otherFileSystem(rig);
    if (other === undefined) return test.skip("/dev/shm is no other file system here");
    try {
      const order: string[] = [];
      rig.calls.fsync = (fd) => {
        systemTakeCalls.fsync(fd);
        order.push("sync");
      };
      rig.calls.unlink = (path) => {
        order.push(path.startsWith(other) ? "source removed" : "copy's old name removed");
        systemTakeCalls.unlink(path);
      };
      rig.watchShare(other);
      const bytes = "x".repeat(700_000);
      writeFileSync(join(other, name), bytes);
      await rig.start();
      await rig.until(() => rig.arrivals.length === 1);
      expect(readFileSync(join(rig.inbound, name), "utf8")).toBe(bytes);
      expect(readdirSync(other)).toEqual([]);
      expect(copies(rig)).toEqual([]);
      expect(order.filter((step) => step === "sync").length).toBe(2);
      expect(order.at(-1)).toBe("source removed");
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  it("is a copy that nobody else can write, also where a link would do", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    const source = join(rig.share, name);
    writeFileSync(source, "<Stop/>");
    linkSync(source, join(rig.root, "second link"));
    const fd = openSync(source, "r+");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    writeSync(fd, "other!!", 0);
    closeSync(fd);
    writeFileSync(join(rig.root, "second link"), "again other");
    expect(readFileSync(join(rig.inbound, name), "utf8")).toBe("<Stop/>");
    expect(statSync(join(rig.inbound, name)).mode & 0o777).toBe(0o440);
    expect([readdirSync(rig.share), copies(rig)]).toEqual([[], []]);
  });

  it("is looked at again when it changes during the copy, and the copy is thrown away", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    let changes = 0;
    rig.calls.read = (fd, into) => {
      if (changes < 1) {
        changes += 1;
        appendFileSync(join(rig.share, name), " and more");
      }
      return systemTakeCalls.read(fd, into);
    };
    writeFileSync(join(rig.share, name), "begin");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(readFileSync(join(rig.inbound, name), "utf8")).toBe("begin and more");
    expect(rig.arrivals[0]?.size).toBe(14);
    expect(copies(rig)).toEqual([]);
  });

  it("that cannot be removed is taken back out of inbound/ and reported once with the remedy", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    let isHeld = true;
    let attempts = 0;
    rig.calls.unlink = (path) => {
      if (path === join(rig.share, name) && isHeld) {
        attempts += 1;
        fail("EBUSY");
      }
      systemTakeCalls.unlink(path);
    };
    rig.settings.scanMs = 60_000;
    writeFileSync(join(rig.share, name), "<Stop/>");
    await rig.start();
    await rig.until(() => rig.warnings(/cannot be taken/).length === 1);
    expect(left(rig)).toEqual([]);
    expect(rig.known.size).toBe(0);
    // It rests: another scan leaves it alone, and takes others.
    await rig.endpoint.scanNow();
    isHeld = false;
    const other = "4712_20261105_080000.xml";
    writeFileSync(join(rig.share, other), "<Stop/>");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([other]);
    expect(attempts).toBe(1);
    expect(rig.warnings(/cannot be taken/)[0]).toMatchObject({ file: name, systemCode: "EBUSY" });
  });

  it("that could not be removed is taken when it can be", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    let failures = 0;
    rig.calls.unlink = (path) => {
      if (path === join(rig.share, name) && failures < 3) {
        failures += 1;
        fail("EACCES");
      }
      systemTakeCalls.unlink(path);
    };
    rig.settings.scanMs = 20;
    writeFileSync(join(rig.share, name), "<Stop/>");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.warnings(/cannot be taken/)).toHaveLength(1);
    expect(readdirSync(rig.share)).toEqual([]);
  });

  it("that cannot be read is left, reported once, and does not hold up the others", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.calls.open = (path, flags, mode) => {
      if (path === join(rig.share, name)) fail("EACCES");
      return systemTakeCalls.open(path, flags, mode);
    };
    writeFileSync(join(rig.share, name), "x");
    writeFileSync(join(rig.share, "4712_20261105_080000.xml"), "x");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1 && rig.warnings(/cannot be taken/).length === 1);
    expect(rig.names).toEqual(["4712_20261105_080000.xml"]);
    expect(readdirSync(rig.share)).toEqual([name]);
  });

  it("stays untouched in a folder in which we may not write, which is reported once", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.disk.access = async () => fail("EROFS");
    writeFileSync(join(rig.share, name), "x");
    await rig.start();
    const scans = rig.scans;
    for (let scan = 0; scan < 3; scan += 1) await rig.endpoint.scanNow();
    expect(rig.warnings(/cannot be used/).map(({ systemCode }) => systemCode)).toEqual(["EROFS"]);
    expect(rig.scans).toBe(scans);
    expect([left(rig), readdirSync(rig.share)]).toEqual([[], [name]]);
  });

  it("leaves no copy of an earlier run behind", async () => {
    await using rig = new FolderRig();
    mkdirSync(join(rig.inbound, ".taking"));
    writeFileSync(join(rig.inbound, ".taking", "0123456789ab-ba9876543210"), "half");
    await rig.start();
    expect(copies(rig)).toEqual([]);
    expect(rig.arrivals).toEqual([]);
  });
});
