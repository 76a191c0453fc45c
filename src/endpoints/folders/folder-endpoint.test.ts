import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemFolderDisk } from "./folder-deps.ts";
import { systemTakeCalls } from "./take-calls.ts";
import { FolderRig, silentWatch } from "./testing/folder-rig.ts";

const name = "4711_20261105_080000.xml";

describe("a file in the company's own inbound/", () => {
  it("is handed over when it is the same in two looks, as a copy that nobody else can write", async () => {
    await using rig = new FolderRig();
    await rig.start();
    const path = join(rig.inbound, name);
    writeFileSync(path, "<Stop/>");
    linkSync(path, join(rig.root, "second link"));
    const fd = openSync(path, "r+");
    await rig.until(() => rig.arrivals.length === 1);
    writeSync(fd, "other!!", 0);
    closeSync(fd);
    writeFileSync(join(rig.root, "second link"), "again other");
    expect(rig.arrivals).toEqual([{ companyId: 1, name, path, channel: "folder", size: 7 }]);
    expect(readFileSync(path, "utf8")).toBe("<Stop/>");
    expect(statSync(path).mode & 0o777).toBe(0o440);
    expect(readdirSync(join(rig.inbound, ".aside"))).toEqual([]);
  });

  it("is not lost when it replaces one that is just being taken", async () => {
    await using rig = new FolderRig();
    const path = join(rig.inbound, name);
    const replace = (content: string) => {
      writeFileSync(join(rig.inbound, ".new"), content);
      renameSync(join(rig.inbound, ".new"), path);
    };
    let replaced = 0;
    rig.calls.rename = (from, to) => {
      if (from === path && replaced < 1) {
        replaced += 1;
        replace("second");
      }
      systemTakeCalls.rename(from, to);
    };
    writeFileSync(path, "first!");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(readFileSync(rig.arrivals[0]?.path ?? "", "utf8")).toBe("second");
    expect(readdirSync(join(rig.inbound, ".aside"))).toEqual([]);
  });

  it("is not lost either when it is replaced once more meanwhile", async () => {
    await using rig = new FolderRig();
    const path = join(rig.inbound, name);
    let replaced = 0;
    rig.calls.rename = (from, to) => {
      const isFirst = from === path && replaced < 1;
      if (isFirst) {
        replaced += 1;
        unlinkSync(path);
        writeFileSync(path, "second");
      }
      systemTakeCalls.rename(from, to);
      if (isFirst) writeFileSync(path, "third!");
    };
    writeFileSync(path, "first!");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 2);
    const contents = rig.arrivals.map(({ path: at }) => readFileSync(at, "utf8"));
    expect(contents.sort()).toEqual(["second", "third!"]);
  });

  it("is not taken as long as it grows", async () => {
    await using rig = new FolderRig();
    let looks = 0;
    rig.disk.lstat = async (path) => {
      const stats = await systemFolderDisk.lstat(path);
      looks += 1;
      if (looks <= 5) appendFileSync(join(rig.inbound, name), "more");
      return stats;
    };
    writeFileSync(join(rig.inbound, name), "begin");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.arrivals[0]?.size).toBe(5 + 5 * 4);
  });

  it("is not taken while a file of full size is filled, as Samba does", async () => {
    await using rig = new FolderRig();
    const path = join(rig.inbound, name);
    const fd = openSync(path, "w");
    ftruncateSync(fd, 4_000);
    let looks = 0;
    rig.disk.lstat = async (looked) => {
      const stats = await systemFolderDisk.lstat(looked);
      looks += 1;
      if (looks <= 4) {
        writeSync(fd, "x".repeat(1_000), (looks - 1) * 1_000);
        // The kernel's clock for mtimes is coarse; a later time stands for a later write.
        utimesSync(path, looks, looks);
      }
      return stats;
    };
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    closeSync(fd);
    expect(looks).toBeGreaterThanOrEqual(5);
    expect(rig.arrivals[0]?.size).toBe(4_000);
  });

  it("waits for two looks even when its mtime is years old", async () => {
    await using rig = new FolderRig();
    let looks = 0;
    rig.disk.lstat = (path) => {
      looks += 1;
      return systemFolderDisk.lstat(path);
    };
    writeFileSync(join(rig.inbound, name), "x");
    utimesSync(join(rig.inbound, name), 1, 1);
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(looks).toBe(2);
  });

  it("is taken when it is renamed into place, and not under its unfinished name", async () => {
    await using rig = new FolderRig();
    await rig.start();
    writeFileSync(join(rig.inbound, `${name}.part`), "x");
    await rig.endpoint.scanNow();
    renameSync(join(rig.inbound, `${name}.part`), join(rig.inbound, name));
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([name]);
  });

  it("is handed over with another ending too, so that it is refused with a receipt", async () => {
    await using rig = new FolderRig();
    writeFileSync(join(rig.inbound, "readme.txt"), "x");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual(["readme.txt"]);
  });

  it("is called recovered when it was there at the start, also under .again", async () => {
    await using rig = new FolderRig();
    writeFileSync(join(rig.inbound, name), "x");
    writeFileSync(join(rig.inbound, ".again", `0123456789ab-${name}`), "y");
    const known = join(rig.inbound, ".again", `ba9876543210-${name}`);
    writeFileSync(known, "z");
    rig.known.add(known);
    await rig.start();
    await rig.until(() => rig.arrivals.length === 2);
    expect(rig.handedOver).toHaveLength(1);
    expect(rig.arrivals.map(({ channel, name: called, path }) => [channel, called, path]).sort()).toEqual([
      ["recovered", name, join(rig.inbound, ".again", `0123456789ab-${name}`)],
      ["recovered", name, join(rig.inbound, name)],
    ]);
    const later = "4712_20261105_080000.xml";
    writeFileSync(join(rig.inbound, later), "x");
    await rig.until(() => rig.arrivals.length === 3);
    expect(rig.arrivals[2]?.channel).toBe("folder");
  });

  it("is found by the scan when no event tells of it", async () => {
    await using rig = new FolderRig();
    rig.watch = silentWatch;
    rig.settings.scanMs = 30;
    await rig.start();
    writeFileSync(join(rig.inbound, name), "x");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([name]);
  });

  it("is handed over once, however often the folder is scanned", async () => {
    await using rig = new FolderRig();
    writeFileSync(join(rig.inbound, name), "x");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    for (let scan = 0; scan < 3; scan += 1) await rig.endpoint.scanNow();
    writeFileSync(join(rig.inbound, "4712_20261105_080000.xml"), "x");
    await rig.until(() => rig.arrivals.length === 2);
    expect(rig.names).toEqual([name, "4712_20261105_080000.xml"]);
  });

  it("comes with all others that lie there: nothing of 10,000 files is decided before all are handed over", async () => {
    await using rig = new FolderRig();
    for (let stop = 10_000; stop < 20_000; stop += 1) {
      writeFileSync(join(rig.inbound, `${stop}_20261105_080000.xml`), "<Stop/>");
    }
    await rig.start();
    await rig.until(() => rig.arrivals.length === 10_000 && rig.holds === 0);
    expect(rig.handedOver.map((group) => group.length)).toEqual(Array(5).fill(2_000));
    expect(rig.heldDuring).toEqual(Array(5).fill(1));
    expect(new Set(rig.names).size).toBe(10_000);
  });

  it("is taken in a company that was added while the daemon runs", async () => {
    await using rig = new FolderRig();
    rig.folders = [];
    await rig.start();
    rig.folders = [rig.folder(rig.inbound, true)];
    writeFileSync(join(rig.inbound, name), "x");
    await rig.endpoint.scanNow();
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.arrivals[0]?.channel).toBe("folder");
  });

  it("causes no scan when it is one of our own uploads or moves", async () => {
    await using rig = new FolderRig();
    await rig.start();
    const scans = rig.scans;
    for (let stop = 1; stop <= 1_500; stop += 1) {
      const path = join(rig.inbound, `${stop}_20261105_080000.xml`);
      rig.known.add(path);
      writeFileSync(join(rig.inbound, ".upload"), "x");
      renameSync(join(rig.inbound, ".upload"), path);
      if (stop % 2 === 0) unlinkSync(path);
    }
    writeFileSync(join(rig.inbound, name), "x");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([name]);
    expect(rig.scans).toBe(scans);
  });
});

describe("what is no finished file", () => {
  it("is never opened and is reported once: link, folder, FIFO, device, socket", async () => {
    await using rig = new FolderRig();
    const at = (file: string) => join(rig.inbound, file);
    symlinkSync("/etc/passwd", at("link.xml"));
    mkdirSync(at("folder.xml"));
    mkdirSync(at("done"));
    execFileSync("mkfifo", [at("fifo.xml")]);
    if (process.getuid?.() === 0) execFileSync("mknod", [at("device.xml"), "c", "1", "3"]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(at("socket.xml"), resolve));
    await rig.start();
    await rig.endpoint.scanNow();
    writeFileSync(at(name), "x");
    await rig.until(() => rig.arrivals.length === 1);
    server.close();
    expect(rig.names).toEqual([name]);
    const reported = rig.warnings(/left alone/).map(({ file, kind }) => `${file} ${kind}`);
    const expected = ["fifo.xml FIFO", "folder.xml folder", "link.xml link", "socket.xml socket"];
    if (process.getuid?.() === 0) expected.push("device.xml device");
    expect(reported.sort()).toEqual(expected.sort());
  });

  it("is left alone under an unfinished name, and reported once when it is older than a day", async () => {
    await using rig = new FolderRig();
    const unfinished = [".hidden.xml", "a.xml.part", "b.filepart", "c.TMP", "d.writing", "e.uploading", "f~"];
    for (const file of unfinished) writeFileSync(join(rig.inbound, file), "x");
    await rig.start();
    rig.nowMs = 86_399_999;
    await rig.endpoint.scanNow();
    expect(rig.warnings(/unfinished/)).toEqual([]);
    rig.nowMs = 86_400_000;
    await rig.endpoint.scanNow();
    await rig.endpoint.scanNow();
    expect(
      rig
        .warnings(/unfinished/)
        .map(({ file }) => file)
        .sort(),
    ).toEqual(unfinished.sort());
    expect(rig.arrivals).toEqual([]);
  });

  it("is reported when its name is not UTF-8", async () => {
    await using rig = new FolderRig();
    writeFileSync(
      Buffer.concat([Buffer.from(`${rig.inbound}/`), Buffer.from([0xe4]), Buffer.from(".xml")]),
      "x",
    );
    await rig.start();
    expect(rig.warnings(/left alone/).map(({ kind }) => kind)).toEqual(["nameNotUtf8"]);
    expect(rig.arrivals).toEqual([]);
  });
});

describe("a dropped file whose name has a control character", () => {
  it("is left alone and reported once, and its neighbours are taken", async () => {
    await using rig = new FolderRig();
    const odd = ["1\n_20261105_080000.xml", "tab\t.xml", "bell\u0007.xml", "next\u0085.xml"];
    for (const file of odd) writeFileSync(join(rig.inbound, file), "x");
    await rig.start();
    writeFileSync(join(rig.inbound, "late\r.xml"), "x");
    writeFileSync(join(rig.inbound, name), "x");
    await rig.until(() => rig.arrivals.length === 1);
    await rig.endpoint.scanNow();
    expect(rig.names).toEqual([name]);
    const reported = rig.warnings(/left alone/).map(({ file, kind }) => `${file} ${kind}`);
    expect(reported.sort()).toEqual([...odd, "late\r.xml"].map((file) => `${file} controlCharacter`).sort());
  });
});

describe("the watch", () => {
  it("that fails is reported once, with the remedy, and scans go on", async () => {
    await using rig = new FolderRig();
    let watches = 0;
    rig.watch = (_path, handlers) => {
      watches += 1;
      handlers.failed(Object.assign(new Error("no space left"), { code: "ENOSPC" }));
      return { close: async () => undefined };
    };
    await rig.start();
    writeFileSync(join(rig.inbound, name), "x");
    await rig.endpoint.scanNow();
    await rig.until(() => rig.arrivals.length === 1);
    const warnings = rig.warnings(/cannot be watched/);
    expect(warnings.map(({ remedy }) => remedy)).toEqual(["raise fs.inotify.max_user_watches"]);
    expect(watches).toBe(1);
  });

  it("and the scan look at no file that the pipeline knows", async () => {
    await using rig = new FolderRig();
    for (let stop = 0; stop < 100; stop += 1) {
      const path = join(rig.inbound, `${stop}_20261105_080000.xml`);
      writeFileSync(path, "x");
      rig.known.add(path);
    }
    let looks = 0;
    rig.disk.lstat = (path) => {
      looks += 1;
      return systemFolderDisk.lstat(path);
    };
    await rig.start();
    expect(looks).toBe(0);
    writeFileSync(join(rig.inbound, name), "x");
    await rig.until(() => rig.arrivals.length === 1);
    expect(looks).toBe(2);
  });

  it("comes back with a folder that was removed and made again", async () => {
    await using rig = new FolderRig();
    rig.watchShare();
    await rig.start();
    rmSync(rig.share, { recursive: true });
    await rig.endpoint.scanNow();
    await rig.endpoint.scanNow();
    expect(rig.warnings(/cannot be used/)).toHaveLength(1);
    mkdirSync(rig.share);
    await rig.endpoint.scanNow();
    expect(rig.lines.filter(({ msg }) => /can be used again/.test(msg))).toHaveLength(1);
    // By an event alone: no scan is due.
    writeFileSync(join(rig.share, name), "x");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([name]);
  });
});

describe("stop", () => {
  it("waits for the hand-over in flight and takes nothing more", async () => {
    await using rig = new FolderRig();
    writeFileSync(join(rig.inbound, name), "x");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    await rig.endpoint.stop(AbortSignal.timeout(5_000));
    const next = "4712_20261105_080000.xml";
    writeFileSync(join(rig.inbound, next), "x");
    const scans = rig.scans;
    await rig.endpoint.scanNow();
    await rig.endpoint.stop(AbortSignal.timeout(5_000));
    expect(readdirSync(rig.inbound)).toContain(next);
    expect(rig.scans).toBe(scans);
    expect(rig.names).toEqual([name]);
  });
});
