/** What a node does with files of a company that another node has taken over, when it goes on amid its calls. */
import {
  appendFileSync,
  chownSync,
  linkSync,
  utimesSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { systemCodeOf } from "../../lib/errors.ts";
import { monotonicMs } from "../../lib/clock.ts";
import { asOrdinaryUser } from "../../../test/support/ordinary-user.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { fileGroupAway } from "../../inbound/places/file-away.ts";
import { HoldOverError, removeName } from "../../inbound/places/shared-moves.ts";
import { fileStateOf } from "./candidates.ts";
import { placeFiles, type PlaceRequest } from "./place-files.ts";
import { sweepCopies } from "./sweep-copies.ts";
import { systemFolderDisk } from "./folder-deps.ts";
import { systemTakeCalls, type TakeCalls } from "./take-calls.ts";

const name = "4711_20261105_080000.xml";
const mark = "0123456789ab";
const sweeping = { disk: systemFolderDisk, runId: "later", assertHeld: () => undefined };
const minuteAhead = () => monotonicMs() + 60_000;

/** A settled file of `inbound/` and its copy. */
function settled(until: number) {
  const inbound = temporaryFolder();
  for (const folder of [".taking", ".again"]) mkdirSync(join(inbound, folder));
  const [source, copy] = [join(inbound, name), join(inbound, ".taking", `former-${mark}`)];
  writeFileSync(source, "old");
  writeFileSync(copy, "old");
  const file = { name, state: fileStateOf(lstatSync(source)), from: copy, againName: `${mark}-${name}` };
  const request: PlaceRequest = {
    ...{ directory: inbound, inbound, again: join(inbound, ".again"), aside: join(inbound, ".aside"), until },
    files: [{ ...file, stop: "4711" }],
  };
  return { inbound, source, copy, request };
}

test("a node that has no more time touches no file", () => {
  const { inbound, copy, request } = settled(monotonicMs() - 1);
  expect(placeFiles(systemTakeCalls, request)).toEqual([{ kind: "changed" }]);
  expect(readFileSync(join(inbound, name), "utf8")).toBe("old");
  expect(existsSync(copy)).toBe(true);
  expect(readdirSync(join(inbound, ".aside"))).toEqual([]);
});

test("a new file of the name is left alone by a node that takes back its own, which another one has filed meanwhile", () => {
  const { source, request } = settled(minuteAhead());
  const calls = {
    ...systemTakeCalls,
    fsync() {
      // The other node has decided about the file, and the host has sent a new one of the name.
      unlinkSync(source);
      writeFileSync(source, "new");
      throw Object.assign(new Error("EIO"), { code: "EIO" });
    },
  };
  expect(() => placeFiles(calls, request)).toThrow("EIO");
  expect(readFileSync(source, "utf8")).toBe("new");
});

test("a copy cannot be given a place while another node looks whether it has one", async () => {
  const { inbound, copy } = settled(minuteAhead());
  mkdirSync(join(inbound, ".aside"));
  systemTakeCalls.rename(join(inbound, name), join(inbound, ".aside", `${mark}-${name}`));
  const attempts: string[] = [];
  const disk: typeof systemFolderDisk = {
    ...systemFolderDisk,
    lstat: async (path) => {
      const stats = await systemFolderDisk.lstat(path);
      try {
        // The former node goes on at this moment.
        systemTakeCalls.link(copy, join(inbound, name));
        attempts.push("linked");
      } catch (error) {
        attempts.push(String(systemCodeOf(error)));
      }
      return stats;
    },
  };
  await sweepCopies({ ...sweeping, disk }, inbound);
  expect(new Set(attempts)).toEqual(new Set(["ENOENT"]));
  const places = [
    ...readdirSync(join(inbound, ".again")),
    ...readdirSync(inbound).filter((one) => one === name),
  ];
  expect(places).toHaveLength(1);
});

/** The call as given the first time, and that of the system from then on. */
function onceOnly(rename: TakeCalls["rename"]): TakeCalls["rename"] {
  let isFirst = true;
  return (from, to) => {
    const call = isFirst ? rename : systemTakeCalls.rename;
    isFirst = false;
    call(from, to);
  };
}

/** The kernel lets a user without rights link only what it could write itself. */
const isLinkRefused =
  process.geteuid?.() === 0 && readFileSync("/proc/sys/fs/protected_hardlinks", "utf8").trim() === "1";

describe.skipIf(!isLinkRefused)("a source of another user", () => {
  /** Sources are written and owned by root; the work is done without its rights. */
  async function withForeignSource(work: (ground: ReturnType<typeof settled>) => Promise<void>) {
    const ground = settled(minuteAhead());
    await asOrdinaryUser(ground.inbound, async () => {
      process.seteuid?.(0);
      chownSync(ground.source, 0, 0);
      process.seteuid?.(65_534);
      await work(ground);
    });
  }

  it("that its writer has added to goes to `.again` when it cannot have its name back", async () => {
    await withForeignSource(async ({ inbound, copy, source, request }) => {
      const calls: TakeCalls = {
        ...systemTakeCalls,
        rename(from, to) {
          process.seteuid?.(0);
          appendFileSync(source, " and more");
          process.seteuid?.(65_534);
          systemTakeCalls.rename(from, to);
        },
      };
      expect(() => linkSync(source, `${source}.second`)).toThrow("EPERM");
      calls.rename = onceOnly(calls.rename);
      expect(placeFiles(calls, request)).toEqual([{ kind: "again" }]);
      expect(readdirSync(join(inbound, ".aside"))).toEqual([]);
      expect(readFileSync(join(inbound, ".again", `${mark}-${name}`), "utf8")).toBe("old and more");
      expect(existsSync(copy)).toBe(false);
    });
  });

  it.each([
    ["", false],
    [", also after a crash between its copy and its own end", true],
  ])(
    "is filed away by a node among several, which may not overwrite, and so links%s",
    async (_, isCopied) => {
      await withForeignSource(async ({ inbound, source }) => {
        const [to, receipt] = ["filed", "receipt"].map((folder) => join(inbound, folder, name));
        const task = {
          ...{ id: 7, companyId: 1, reference: "sealed", from: source, to: String(to), sha256: null },
          ...{ receipt: "<receipt/>", receiptPaths: [String(receipt)], goodUntil: minuteAhead() },
        };
        mkdirSync(join(inbound, "filed"));
        writeFileSync(join(inbound, "filed", ".7.0123abcd.tmp"), "ol");
        if (isCopied) {
          const { atime, mtime } = lstatSync(source);
          writeFileSync(String(to), "old");
          utimesSync(String(to), atime, mtime);
        }
        expect(fileGroupAway([task])).toEqual([{ id: 7, kind: "filed" }]);
        expect([existsSync(source), readFileSync(String(to), "utf8")]).toEqual([false, "old"]);
        expect(readdirSync(join(inbound, "filed"))).toEqual([name]);
      });
    },
  );

  it("that a node has taken away by mistake is given back, to `.again`", async () => {
    await withForeignSource(async ({ inbound, source, copy }) => {
      removeName(source, lstatSync(copy), ".7.0123abcd.gone");
      expect(existsSync(source)).toBe(false);
      const again = readdirSync(join(inbound, ".again"));
      expect(again.map((one) => readFileSync(join(inbound, ".again", one), "utf8"))).toEqual(["old"]);
    });
  });

  it("that was set aside before a crash does not end the scan", async () => {
    await withForeignSource(async ({ inbound, copy, source }) => {
      mkdirSync(join(inbound, ".aside"));
      systemTakeCalls.rename(source, join(inbound, ".aside", `${mark}-${name}`));
      unlinkSync(copy);
      await sweepCopies(sweeping, inbound);
      expect(readFileSync(join(inbound, ".again", `${mark}-${name}`), "utf8")).toBe("old");
      expect(readdirSync(join(inbound, ".aside"))).toEqual([]);
    });
  });
});

test("a source stays aside, with its copy, when the call that gives it its name back fails", () => {
  const { inbound, source, copy, request } = settled(minuteAhead());
  let isFirst = true;
  const calls: TakeCalls = {
    ...systemTakeCalls,
    rename(from, to) {
      if (isFirst) appendFileSync(source, " and more");
      isFirst = false;
      systemTakeCalls.rename(from, to);
    },
    link(from, to) {
      if (to === source) throw Object.assign(new Error("EIO: link"), { code: "EIO" });
      systemTakeCalls.link(from, to);
    },
  };
  const fault = { code: "EIO", message: "EIO: link" };
  expect(placeFiles(calls, request)).toEqual([{ kind: "late", fault }]);
  expect([existsSync(copy), readdirSync(join(inbound, ".aside"))]).toEqual([true, [`${mark}-${name}`]]);
});

test("a source that had its name back before a crash comes once", async () => {
  const { inbound, source } = settled(minuteAhead());
  mkdirSync(join(inbound, ".aside"));
  linkSync(source, join(inbound, ".aside", `${mark}-${name}`));
  expect(await sweepCopies(sweeping, inbound)).toBe(true);
  for (const folder of [".aside", ".again", ".taking"])
    expect(readdirSync(join(inbound, folder))).toEqual([]);
  expect(lstatSync(source).nlink).toBe(1);
});

test("a source that the former node has set aside after the first look at it is swept with its copy", async () => {
  const { inbound, source, copy } = settled(minuteAhead());
  mkdirSync(join(inbound, ".aside"));
  let asked = 0;
  const assertHeld = () => {
    asked += 1;
    // Before the first change: all has been listed.
    if (asked > 1) return;
    systemTakeCalls.rename(source, join(inbound, ".aside", `${mark}-${name}`));
    systemTakeCalls.link(copy, source);
  };
  await sweepCopies({ ...sweeping, assertHeld }, inbound);
  for (const folder of [".aside", ".again", ".taking"])
    expect(readdirSync(join(inbound, folder))).toEqual([]);
  expect([readFileSync(source, "utf8"), lstatSync(source).nlink]).toEqual(["old", 1]);
});

test("a sweep changes nothing more once the company is another node's", async () => {
  const { inbound, source, copy } = settled(minuteAhead());
  const aside = join(inbound, ".aside", `${mark}-${name}`);
  mkdirSync(join(inbound, ".aside"));
  systemTakeCalls.rename(source, aside);
  const assertHeld = () => {
    throw new HoldOverError();
  };
  await expect(sweepCopies({ ...sweeping, assertHeld }, inbound)).rejects.toThrow(HoldOverError);
  expect([existsSync(copy), existsSync(aside), existsSync(source)]).toEqual([true, true, false]);
});
