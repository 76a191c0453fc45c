/** What the endpoint tells of its folders: when they were looked at, what is wrong, and what stays. */
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemFolderDisk } from "./folder-deps.ts";
import { fail, FolderRig, silentWatch } from "./testing/folder-rig.ts";

const early = "4711_20261105_080000.xml";
const later = "4711_20261105_090000.xml";

/** The names that stay in a folder, each with why. */
function stayingIn(rig: FolderRig, path: string): Readonly<Record<string, unknown>> {
  const files = rig.endpoint.standings(1).find((one) => one.path === path)?.files ?? [];
  return Object.fromEntries(files.map(({ name, why }) => [name, why]));
}

it("the company's own folder comes first, and another company has none of these", async () => {
  await using rig = new FolderRig();
  rig.folders = [rig.folder(rig.share, false), rig.folder(rig.inbound, true)];
  rig.nowMs = 5_000;
  await rig.start();
  const common = { companyId: 1, lookedAt: 5_000, scanningSince: undefined, scanMs: 3_600_000 };
  const rest = { fault: undefined, files: [], more: 0 };
  expect(rig.endpoint.standings(1)).toEqual([
    { ...common, ...rest, path: rig.inbound, isInbox: true },
    { ...common, ...rest, path: rig.share, isInbox: false },
  ]);
  expect(rig.endpoint.standings(2)).toEqual([]);
});

it("each entry that stays has its reason, those that have stayed longest first", async () => {
  await using rig = new FolderRig();
  rig.watch = silentWatch;
  rig.watchShare();
  rig.isIncomplete = (text) => !text.endsWith(">");
  rig.nowMs = 50_000;
  writeFileSync(join(rig.share, early), "<Stop>half");
  writeFileSync(join(rig.share, later), "<Stop/>");
  writeFileSync(join(rig.share, "4712.xml.part"), "");
  utimesSync(join(rig.share, "4712.xml.part"), 10, 10);
  symlinkSync("/dev/null", join(rig.share, "link.xml"));
  await rig.start();
  await rig.until(() => rig.lines.some(({ msg }) => msg.startsWith("a file waits for an earlier one")));
  const [standing] = rig.endpoint.standings(1);
  expect(standing?.files).toEqual([
    { name: "4712.xml.part", since: 10_000, why: { kind: "unfinished" } },
    {
      name: early,
      since: 50_000,
      why: { kind: "incomplete", isEmpty: false, refusedAt: 50_000 + rig.settings.incompleteGraceMs },
    },
    { name: "link.xml", since: 50_000, why: { kind: "noFile", remedy: expect.stringContaining("a link") } },
    { name: later, since: undefined, why: { kind: "behind", before: early } },
  ]);
});

it("what is taken or removed stays no longer", async () => {
  await using rig = new FolderRig();
  rig.watch = silentWatch;
  rig.watchShare();
  rig.isIncomplete = (text) => !text.endsWith(">");
  writeFileSync(join(rig.share, early), "<Stop>half");
  writeFileSync(join(rig.share, "4712.xml.part"), "");
  await rig.start();
  await rig.until(() => rig.warnings(/ends in the middle/).length === 1);
  expect(Object.keys(stayingIn(rig, rig.share)).toSorted()).toEqual([early, "4712.xml.part"]);
  rmSync(join(rig.share, early));
  rmSync(join(rig.share, "4712.xml.part"));
  await rig.endpoint.scanNow();
  await rig.endpoint.scanNow();
  expect(stayingIn(rig, rig.share)).toEqual({});
});

it("an upload under way in the company's own folder is nobody's business, until it is left behind", async () => {
  await using rig = new FolderRig();
  rig.watch = silentWatch;
  rig.nowMs = Date.now();
  writeFileSync(join(rig.inbound, ".upload"), "");
  await rig.start();
  expect(stayingIn(rig, rig.inbound)).toEqual({});
  rig.nowMs += rig.settings.unfinishedReportAfterMs;
  await rig.endpoint.scanNow();
  expect(stayingIn(rig, rig.inbound)).toEqual({ ".upload": { kind: "unfinished" } });
});

it("a file that cannot be read has its fault, its remedy, and since when", async () => {
  await using rig = new FolderRig();
  rig.watch = silentWatch;
  rig.watchShare();
  rig.nowMs = 7_000;
  const path = join(rig.share, early);
  writeFileSync(path, "<Stop/>");
  rig.disk.lstat = async (asked) => (asked === path ? fail("EACCES") : systemFolderDisk.lstat(asked));
  writeFileSync(join(rig.share, later), "<Stop/>");
  await rig.start();
  await rig.until(() => rig.warnings(/cannot be taken/).length === 1);
  expect(stayingIn(rig, rig.share)[early]).toEqual({
    ...{ kind: "failed", systemCode: "EACCES", reason: "EACCES" },
    remedy: expect.stringContaining("give the user of dropgate the right"),
  });
});

it("a folder that is not there has its fault until it is", async () => {
  await using rig = new FolderRig();
  rig.watch = silentWatch;
  const absent = join(rig.root, "absent");
  rig.watchShare(absent);
  rig.nowMs = 1_000;
  await rig.start();
  const standing = () => rig.endpoint.standings(1)[0];
  expect(standing()).toMatchObject({
    lookedAt: undefined,
    fault: { systemCode: "ENOENT", since: 1_000, remedy: expect.stringContaining("make the folder") },
  });
  rig.nowMs = 2_000;
  mkdirSync(absent);
  await rig.endpoint.scanNow();
  expect(standing()).toMatchObject({ lookedAt: 2_000, fault: undefined });
});

it("a share that does not answer is told by the scan that does not end", async () => {
  await using rig = new FolderRig();
  rig.watch = silentWatch;
  rig.watchShare();
  rig.nowMs = 3_000;
  const { promise, resolve } = Promise.withResolvers<string>();
  rig.disk.realpath = () => promise;
  const started = rig.start();
  await expect.poll(() => rig.endpoint.standings(1)[0]?.scanningSince).toBe(3_000);
  resolve(rig.share);
  await started;
  expect(rig.endpoint.standings(1)[0]).toMatchObject({ lookedAt: 3_000, scanningSince: undefined });
});
