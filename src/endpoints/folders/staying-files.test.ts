/** Files that stay in their folder: cut off, not to be taken, or without room. */
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemTakeCalls } from "./take-calls.ts";
import { systemFolderDisk } from "./folder-deps.ts";
import { copies, fail, FolderRig, left, otherFileSystem, silentWatch } from "./testing/folder-rig.ts";

const name = "4711_20261105_080000.xml";

const early = "4711_20261105_080000.xml";
const later = "4711_20261105_090000.xml";
const other = "4712_20261105_090000.xml";
const isCutOff = (text: string) => !text.endsWith(">");

describe("a file in a further folder that ends in the middle", () => {
  it("stays with its writer until it is whole, is reported once, and is then taken with all of it", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.isIncomplete = isCutOff;
    const path = join(rig.share, early);
    const fd = openSync(path, "w");
    writeSync(fd, "<Stop><StopNbr>4711</Sto");
    await rig.start();
    await rig.until(() => rig.warnings(/ends in the middle/).length === 1);
    await rig.endpoint.scanNow();
    expect(readdirSync(rig.share)).toEqual([early]);
    expect([left(rig), copies(rig)]).toEqual([[], []]);
    writeSync(fd, "pNbr></Stop>");
    closeSync(fd);
    await rig.until(() => rig.arrivals.length === 1);
    expect(readFileSync(rig.arrivals[0]?.path ?? "", "utf8")).toBe("<Stop><StopNbr>4711</StopNbr></Stop>");
    expect(rig.warnings(/ends in the middle/)).toHaveLength(1);
  });

  it("keeps back later files of its stop, here and in the pipeline, and no others", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.isIncomplete = isCutOff;
    writeFileSync(join(rig.share, early), "<Stop>");
    writeFileSync(join(rig.share, early), "");
    writeFileSync(join(rig.share, later), "<Stop></Stop>");
    writeFileSync(join(rig.share, other), "<Stop></Stop>");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1 && rig.warnings(/is empty/).length === 1);
    await rig.until(() => rig.lines.some(({ msg }) => /waits for an earlier one/.test(msg)));
    expect(rig.names).toEqual([other]);
    expect([...rig.keptBack]).toEqual([early]);
    writeFileSync(join(rig.share, early), "<Stop></Stop>");
    await rig.until(() => rig.arrivals.length === 3);
    expect(rig.arrivals.slice(1).map(({ name: taken }) => taken)).toEqual([early, later]);
    expect([...rig.keptBack]).toEqual([]);
  });

  it("is copied and parsed again only when something was done to it", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.watch = silentWatch;
    rig.settings.scanMs = 10;
    let parsed = 0;
    rig.isIncomplete = (text) => {
      parsed += 1;
      return isCutOff(text);
    };
    let looks = 0;
    const { lstat } = rig.disk;
    rig.disk.lstat = async (path) => {
      looks += 1;
      rig.tell();
      return await lstat(path);
    };
    const path = join(rig.share, early);
    writeFileSync(path, "<Stop>half");
    await rig.start();
    await rig.until(() => looks >= 6);
    expect(parsed).toBe(1);
    // The same size, and the same time of its content.
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "<Stop>HALF");
    utimesSync(path, atime, mtime);
    await rig.until(() => parsed === 2 || looks >= 20);
    expect(parsed).toBe(2);
    writeFileSync(path, "<Stop></Stop>");
    await rig.until(() => rig.arrivals.length === 1);
  });

  it("is taken as it is when its grace is over, as of when it was found so", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.isIncomplete = isCutOff;
    rig.settings.scanMs = 30;
    rig.nowMs = 5_000;
    writeFileSync(join(rig.share, early), "<Stop>half");
    await rig.start();
    await rig.until(() => rig.warnings(/ends in the middle/).length === 1);
    rig.nowMs += rig.settings.incompleteGraceMs;
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.arrivals[0]).toMatchObject({ name: early, size: 10, receivedAt: 5_000 });
  });

  it("is not waited for when its name is refused anyway", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.isIncomplete = isCutOff;
    writeFileSync(join(rig.share, "readme.txt"), "half");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual(["readme.txt"]);
  });

  it("does not ask the parser about a file that ends with its root", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    let asked = 0;
    rig.isIncomplete = () => {
      asked += 1;
      return false;
    };
    const text = '<?xml version="1.0" encoding="UTF-16"?><!-- <Stop> --><Stops><Stop></Stop></Stops>\n';
    writeFileSync(join(rig.share, early), text);
    writeFileSync(
      join(rig.share, other),
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]),
    );
    // A writer that writes stop by stop.
    writeFileSync(join(rig.share, "4713_20261105_090000.xml"), "<Stops><Stop></Stop>");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 3);
    expect(asked).toBe(1);
  });
});

describe("a file in a further folder that cannot be taken", () => {
  it("keeps back the later files of its stop until it can be", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.settings.scanMs = 20;
    let failures = 0;
    rig.calls.unlink = (path) => {
      if (path === join(rig.share, early) && failures < 2) {
        failures += 1;
        fail("EBUSY");
      }
      systemTakeCalls.unlink(path);
    };
    for (const file of [early, later, other]) writeFileSync(join(rig.share, file), "<Stop></Stop>");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 3);
    expect(rig.arrivals.map(({ name: taken }) => taken)).toEqual([other, early, later]);
  });

  it.each([
    ["at first", 0],
    ["when it is looked at again", 1],
  ])(
    "keeps back the later files of its stop, and no others, when it cannot even be looked at %s",
    async (_when, first) => {
      await using rig = new FolderRig();
      rig.watchShare();
      rig.watch = silentWatch;
      rig.settings.scanMs = 20;
      let looks = 0;
      let isFailing = true;
      rig.disk.lstat = async (path) => {
        if (path === join(rig.share, early)) looks += 1;
        if (path === join(rig.share, early) && looks > first && isFailing) fail("EIO");
        return await systemFolderDisk.lstat(path);
      };
      for (const file of [early, later, other]) writeFileSync(join(rig.share, file), "<Stop></Stop>");
      await rig.start();
      await rig.until(() => rig.lines.some(({ msg }) => /waits for an earlier one/.test(msg)));
      await rig.until(() => rig.arrivals.length === 1);
      expect(rig.names).toEqual([other]);
      expect(rig.warnings(/cannot be taken/)).toMatchObject([{ file: early, systemCode: "EIO" }]);
      isFailing = false;
      await rig.until(() => rig.arrivals.length === 3);
      expect(rig.arrivals.map(({ name: taken }) => taken)).toEqual([other, early, later]);
    },
  );

  it("lets them go on when it could not be for as long as a file may wait", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.settings.scanMs = 20;
    rig.calls.open = (path, flags, mode) => {
      if (path === join(rig.share, early)) fail("EACCES");
      return systemTakeCalls.open(path, flags, mode);
    };
    for (const file of [early, later]) writeFileSync(join(rig.share, file), "<Stop></Stop>");
    await rig.start();
    await rig.until(() => rig.warnings(/cannot be taken/).length === 1);
    rig.nowMs = rig.settings.giveUpAfterMs;
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([later]);
    expect(rig.warnings(/no longer wait/)).toHaveLength(1);
  });

  it("is linked instead of copied when it is over the limit, and stays on another file system", async (test) => {
    await using rig = new FolderRig();
    const away = otherFileSystem(rig);
    if (away === undefined) return test.skip("/dev/shm is no other file system here");
    try {
      rig.settings.maxFileBytes = 10;
      rig.watchShare();
      rig.folders.push(rig.folder(away, false));
      let reads = 0;
      rig.calls.read = (fd, into) => {
        reads += 1;
        return systemTakeCalls.read(fd, into);
      };
      for (const folder of [rig.share, away]) writeFileSync(join(folder, early), "x".repeat(11));
      await rig.start();
      await rig.until(() => rig.arrivals.length === 1 && rig.warnings(/cannot be taken/).length === 1);
      expect(reads).toBe(0);
      expect([readdirSync(rig.share), readdirSync(away)]).toEqual([[], [early]]);
      expect(rig.warnings(/cannot be taken/)[0]?.remedy).toMatch(/maxFileBytes/);
    } finally {
      rmSync(away, { recursive: true });
    }
  });
});

describe("a folder for whose files there is no room", () => {
  it.each(["share", "inbound"] as const)(
    "keeps them where they are (%s), tells it once, and they come later",
    async (where) => {
      await using rig = new FolderRig();
      if (where === "share") rig.watchShare();
      rig.settings.scanMs = 20;
      let asked = 0;
      rig.whyNoRoom = () => {
        asked += 1;
        rig.tell();
        return "the disk has less than 2.0 GB free";
      };
      const folder = where === "share" ? rig.share : rig.inbound;
      writeFileSync(join(folder, name), "<Stop></Stop>");
      await rig.start();
      await rig.until(() => asked >= 3);
      expect(rig.arrivals).toEqual([]);
      expect(readdirSync(folder)).toContain(name);
      expect(rig.warnings(/stay where they are/)).toMatchObject([
        { reason: "the disk has less than 2.0 GB free" },
      ]);
      rig.whyNoRoom = () => undefined;
      await rig.until(() => rig.arrivals.length === 1);
      expect(rig.lines.filter(({ msg }) => /are taken again/.test(msg))).toHaveLength(1);
    },
  );

  it("takes one that others wait for all the same: those behind it leave no room for as long as it stays", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    rig.isIncomplete = isCutOff;
    writeFileSync(join(rig.share, early), "<Stop>half");
    await rig.start();
    await rig.until(() => rig.warnings(/ends in the middle/).length === 1);
    rig.whyNoRoom = () => "1 files wait to be processed already";
    writeFileSync(join(rig.share, other), "<Stop></Stop>");
    await rig.until(() => rig.warnings(/stay where they are/).length === 1);
    writeFileSync(join(rig.share, early), "<Stop></Stop>");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([early]);
    expect(readdirSync(rig.share)).toEqual([other]);
    expect([...rig.keptBack]).toEqual([]);
  });
});
