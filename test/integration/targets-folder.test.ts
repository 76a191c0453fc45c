/** The folder target on real file systems, full, read-only and missing ones among them. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { foreignDisk, ownDisk, type FolderDisk } from "../../src/targets/folder/folder-disk.ts";
import { createFolderTarget } from "../../src/targets/folder/folder-target.ts";
import { deliveryOf, faultOf, fileOf, messageOf, never } from "../support/deliveries.ts";
import { filesBelow } from "../support/files-below.ts";
import { asOrdinaryUser } from "../support/ordinary-user.ts";
import { describeTarget, type TargetSite } from "../support/target-conformance.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";
import { mayMount, startTinyDisk } from "../support/tiny-disk.ts";

async function openSite(isOwn: boolean): Promise<TargetSite> {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-folder-"));
  return {
    target: () => createFolderTarget({ path: folder, isOwn }),
    files: async () => filesBelow(folder),
    put: async (name, bytes) => writeFileSync(join(folder, name), bytes),
    clear: async () => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    },
    end: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const traits = { hasNames: true, hasCredentials: false };
describeTarget("a company's own folder", () => openSite(true), traits);
describeTarget("another folder", () => openSite(false), traits);

const deliverOne = async (path: string, disk?: FolderDisk, isOwn = false) =>
  await createFolderTarget({ path, isOwn }, disk === undefined ? {} : { disk }).deliver(
    deliveryOf([fileOf("a.xml", "ours")]),
    never,
  );

describe("a folder target", () => {
  test("makes a company's own folder, and no other", async () => {
    const base = temporaryFolder();
    expect(faultOf(await deliverOne(join(base, "ACME", "outbound"), undefined, true))).toBe("delivered");
    expect(statSync(join(base, "ACME", "outbound")).mode & 0o777).toBe(0o750);
    const outcome = await deliverOne(join(base, "share"));
    expect(outcome).toMatchObject({ fault: "missingFolder", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain(join(base, "share"));
    expect(readdirSync(base)).toEqual(["ACME"]);
  });

  test("files are for owner and group alone, those of an export and its folder too", async () => {
    const base = temporaryFolder();
    const files = [fileOf("a.xml", "a"), fileOf("manifest.xml", "m")];
    for (const isOwn of [true, false]) {
      const directory = `night-${isOwn}`;
      const target = createFolderTarget({ path: base, isOwn });
      expect(faultOf(await target.deliver(deliveryOf(files, { directory }), never))).toBe("delivered");
      const modes = [directory, `${directory}/a.xml`, `${directory}/manifest.xml`].map(
        (name) => statSync(join(base, name)).mode & 0o7777,
      );
      expect(modes).toEqual([0o750, 0o640, 0o640]);
    }
  });

  test("goes on when the folder was missing and is there again", async () => {
    const path = join(temporaryFolder(), "share");
    const target = createFolderTarget({ path });
    const delivery = deliveryOf([fileOf("a.xml", "a")]);
    expect(faultOf(await target.deliver(delivery, never))).toBe("missingFolder");
    mkdirSync(path);
    expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    rmSync(path, { recursive: true });
    mkdirSync(path);
    expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    expect(readdirSync(path)).toEqual(["a.xml"]);
  });

  test("a file in the place of the folder, or of the folder for a delivery, is a fault", async () => {
    const base = temporaryFolder();
    writeFileSync(join(base, "night-1"), "");
    expect(faultOf(await deliverOne(join(base, "night-1")))).toBe("missingFolder");
    const target = createFolderTarget({ path: base });
    const delivery = deliveryOf([fileOf("a.xml", "a")], { directory: "night-1" });
    expect(await target.deliver(delivery, never)).toMatchObject({ fault: "content", scope: "delivery" });
  });

  test("follows no link: neither of a delivery's folder nor of a name", async () => {
    const [base, elsewhere] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(elsewhere, join(base, "night-1"));
    writeFileSync(join(elsewhere, "same"), "ours");
    symlinkSync(join(elsewhere, "same"), join(base, "a.xml"));
    const target = createFolderTarget({ path: base });
    const inner = deliveryOf([fileOf("x.xml", "x")], { directory: "night-1" });
    expect(await target.deliver(inner, never)).toMatchObject({ kind: "failed", fault: "content" });
    expect(faultOf(await deliverOne(base))).toBe("nameTaken");
    expect(readdirSync(elsewhere)).toEqual(["same"]);
  });

  test("a name that is a folder or a pipe is taken, and nobody waits for a writer", async () => {
    const base = temporaryFolder();
    mkdirSync(join(base, "folder.xml"));
    execFileSync("mkfifo", [join(base, "pipe.xml")]);
    const target = createFolderTarget({ path: base });
    for (const name of ["folder.xml", "pipe.xml"]) {
      const outcome = await target.deliver(deliveryOf([fileOf(name, "")]), never);
      expect(outcome).toEqual({ kind: "nameTaken", name });
    }
  });

  test("sweeps its own temporary files when they are older than an hour, and nobody else's", async () => {
    const base = temporaryFolder();
    const old = new Date(Date.now() - 3_700_000);
    const own = ".a.xml.0123456789abcdef.part";
    const others = [".a.xml.part", "a.xml.0123456789abcdef.part", ".hidden", "b.tmp"];
    for (const name of [own, ...others]) {
      writeFileSync(join(base, name), "");
      utimesSync(join(base, name), old, old);
    }
    writeFileSync(join(base, ".b.xml.0123456789abcdef.part"), "in hand");
    expect(faultOf(await deliverOne(base))).toBe("delivered");
    expect(readdirSync(base).sort()).toEqual([...others, "a.xml", ".b.xml.0123456789abcdef.part"].sort());
  });

  test("removes what an earlier process of the same state directory left, at once, and what it writes itself stays", async () => {
    const base = temporaryFolder();
    const directory = "night-1";
    const instanceMark = "00c0ffee";
    // As after a crash: what was written never gets its name, and is never removed.
    const dying: FolderDisk = {
      ...foreignDisk,
      link: () => new Promise(() => undefined),
      unlink: async () => undefined,
    };
    const targetOf = (processMark: string, disk = foreignDisk, mark = instanceMark) =>
      createFolderTarget({ path: base, instanceMark: mark }, { disk, processMark });
    const temporary = () =>
      readdirSync(base, { recursive: true }).filter((name) => String(name).endsWith(".part"));
    const one = deliveryOf([fileOf("a.xml", "a")]);
    const two = deliveryOf([fileOf("a.xml", "a"), fileOf("manifest.xml", "m")], { directory });
    const [before, other] = [targetOf("0001", dying), targetOf("0001", dying, "0badcafe")];
    for (const target of [before, other]) {
      void target.deliver(one, never);
      void target.deliver(two, never);
    }
    await waitFor("four files to be left over", () => temporary().length === 4);
    const now = targetOf("0002");
    const inHand: unknown[] = [];
    const looking = fileOf("b.xml", "b", () => void inHand.push(...temporary()));
    expect(faultOf(await now.deliver(one, never))).toBe("delivered");
    expect(faultOf(await now.deliver(two, never))).toBe("delivered");
    expect(faultOf(await now.deliver(deliveryOf([looking]), never))).toBe("delivered");
    const ofOther = /\.0badcafe0001[0-9a-f]{4}\.part$/;
    expect(temporary()).toEqual([expect.stringMatching(ofOther), expect.stringMatching(ofOther)]);
    expect(inHand).toHaveLength(2);
  });

  test.skipIf(!mayMount)("that must be a mount: files wait while nothing is mounted there", async () => {
    const base = temporaryFolder();
    const path = join(base, "share");
    mkdirSync(path);
    const target = createFolderTarget({ path, mustBeMount: true });
    const delivery = deliveryOf([fileOf("a.xml", "a")], { directory: "night-1" });
    const outcome = await target.deliver(delivery, never);
    expect(outcome).toMatchObject({ fault: "missingFolder", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain("nothing is mounted there");
    expect(faultOf(await target.probe(never))).toBe("missingFolder");
    expect(readdirSync(path)).toEqual([]);
    const disk = startTinyDisk(path);
    onTestFinished(() => disk.end());
    expect(faultOf(await target.probe(never))).toBe("delivered");
    expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    expect(readdirSync(join(path, "night-1"))).toEqual(["a.xml"]);
    await disk.end();
    expect(faultOf(await target.deliver(deliveryOf([fileOf("b.xml", "b")]), never))).toBe("missingFolder");
    expect(readdirSync(path)).toEqual([]);
  });

  test.skipIf(!mayMount)(
    "that must be a mount, and is unmounted by force meanwhile: it is tried again",
    async () => {
      const path = join(temporaryFolder(), "share");
      mkdirSync(path);
      const disk = startTinyDisk(path);
      onTestFinished(() => disk.end());
      const target = createFolderTarget({ path, mustBeMount: true });
      const leaving = fileOf("a.xml", "a", () => disk.end());
      expect(faultOf(await target.deliver(deliveryOf([leaving]), never))).toBe("missingFolder");
    },
  );

  test("without the right to write: said, and waiting for it", async () => {
    const base = temporaryFolder();
    const path = join(base, "share");
    mkdirSync(path);
    await asOrdinaryUser(path, async () => {
      chmodSync(path, 0o555);
      const target = createFolderTarget({ path });
      const delivery = deliveryOf([fileOf("a.xml", "a")]);
      const outcome = await target.deliver(delivery, never);
      expect(outcome).toMatchObject({ fault: "notAllowed", isPermanent: false, scope: "target" });
      expect(messageOf(outcome)).toContain("right to write");
      expect(faultOf(await target.probe(never))).toBe("notAllowed");
      chmodSync(path, 0o755);
      expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    });
  });

  test.each([
    ["EPERM", ownDisk],
    ["ENOTSUP", foreignDisk],
  ])("on a file system without links (%s) it renames, and still overwrites nothing", async (code, disk) => {
    const base = temporaryFolder();
    const without: FolderDisk = {
      ...disk,
      link: () => Promise.reject(Object.assign(new Error("no links"), { code })),
    };
    expect(faultOf(await deliverOne(base, without))).toBe("delivered");
    expect(faultOf(await deliverOne(base, without))).toBe("delivered");
    writeFileSync(join(base, "a.xml"), "theirs");
    expect(faultOf(await deliverOne(base, without))).toBe("nameTaken");
    expect(readFileSync(join(base, "a.xml"), "utf8")).toBe("theirs");
    expect(readdirSync(base)).toEqual(["a.xml"]);
  });

  test("bytes, name and folder are durable before it says delivered, the others before the last", async () => {
    const calls: string[] = [];
    const disk: FolderDisk = {
      ...ownDisk,
      sync: async (fd) => {
        await ownDisk.sync(fd);
        calls.push((await ownDisk.fstat(fd)).isDirectory() ? "folder synced" : "bytes synced");
      },
      link: async (from, to) => {
        await ownDisk.link(from, to);
        calls.push("named");
      },
    };
    const target = createFolderTarget({ path: temporaryFolder() }, { disk });
    const files = [fileOf("a.xml", "a"), fileOf("manifest.xml", "m")];
    expect(faultOf(await target.deliver(deliveryOf(files), never))).toBe("delivered");
    const one = ["bytes synced", "named", "folder synced"];
    expect(calls).toEqual([...one, ...one]);
  });

  test.each([
    ["EIO", "unreachable"],
    ["ESTALE", "unreachable"],
    ["EDQUOT", "noSpace"],
    ["EMFILE", "busy"],
    ["EXOTIC", "protocol"],
  ])("%s while syncing is %s, and no temporary file is left", async (code, fault) => {
    const base = temporaryFolder();
    const failing: FolderDisk = {
      ...ownDisk,
      sync: () => Promise.reject(Object.assign(new Error(`it fails with ${code}`), { code })),
    };
    const outcome = await deliverOne(base, failing);
    expect(outcome).toMatchObject({ fault, isPermanent: false });
    expect(messageOf(outcome)).toContain(code);
    expect(readdirSync(base)).toEqual([]);
  });

  test("a share that does not answer holds up neither the abort nor the loop", async () => {
    const hanging: FolderDisk = { ...foreignDisk, open: () => new Promise(() => undefined) };
    const target = createFolderTarget({ path: temporaryFolder() }, { disk: hanging });
    const controller = new AbortController();
    const delivering = target.deliver(deliveryOf([fileOf("a.xml", "a")]), controller.signal);
    controller.abort(new Error("stopping"));
    await expect(delivering).rejects.toThrow("stopping");
  });

  test("a share that does not answer is asked nothing more until it does, so that it does not take all threads", async () => {
    const { promise: answer, resolve } = Promise.withResolvers<void>();
    let asked = 0;
    const hanging: FolderDisk = {
      ...foreignDisk,
      open: async (path, flags, mode) => {
        asked += 1;
        await answer;
        return await foreignDisk.open(path, flags, mode);
      },
    };
    const target = createFolderTarget({ path: temporaryFolder() }, { disk: hanging });
    const deliver = (signal: AbortSignal) => target.deliver(deliveryOf([fileOf("a.xml", "a")]), signal);
    const controller = new AbortController();
    const first = deliver(controller.signal);
    await waitFor("the first call", () => asked === 1);
    controller.abort(new Error("its time is over"));
    await expect(first).rejects.toThrow("its time is over");
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const outcome = await deliver(never);
      expect(outcome).toMatchObject({ fault: "unreachable", isPermanent: false, scope: "target" });
      expect(messageOf(outcome)).toContain("check the mount");
    }
    expect(asked).toBe(1);
    resolve();
    await waitFor("the share to be used again", async () => faultOf(await deliver(never)) === "delivered");
  });

  test.skipIf(!mayMount)("a full disk, and a read-only one: said, nothing left, and going on", async () => {
    const disk = startTinyDisk();
    onTestFinished(() => disk.end());
    const target = createFolderTarget({ path: disk.path });
    const delivery = deliveryOf([fileOf("large.xml", Buffer.alloc(3_000_000, "x"))]);
    expect(await target.deliver(delivery, never)).toMatchObject({
      fault: "noSpace",
      isPermanent: false,
      scope: "target",
    });
    expect(readdirSync(disk.path)).toEqual([]);
    await disk.grow();
    expect(faultOf(await target.deliver(delivery, never))).toBe("delivered");
    await disk.makeReadOnly();
    const outcome = await target.deliver(deliveryOf([fileOf("b.xml", "b")]), never);
    expect(outcome).toMatchObject({ fault: "notAllowed", isPermanent: false, scope: "target" });
    expect(messageOf(outcome)).toContain("read-only");
  });
});
