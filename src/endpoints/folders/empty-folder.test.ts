import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { setShortCallsMayWait } from "../../lib/files/short-calls.ts";
import { EmptyFolder } from "./empty-folder.ts";
import { systemFolderDisk } from "./folder-deps.ts";
import { FolderRig, silentWatch } from "./testing/folder-rig.ts";

const name = "4711_20261105_080000.xml";

const times = { dev: 1, ino: 2, mtimeMs: 1_000_000, ctimeMs: 1_000_000 };
const long = { now: 1_003_000, nowMs: 50 };
const neverAsked = () => Promise.reject(new Error("the times of the folder were read once more"));

async function markedFolder(): Promise<EmptyFolder> {
  const folder = new EmptyFolder();
  await folder.listed({ before: times, isEmpty: true, ...long }, neverAsked);
  expect(folder.mayAsk(51)).toBe(true);
  return folder;
}

afterEach(() => setShortCallsMayWait(false));

describe("an empty folder", () => {
  it("is unchanged as long as its times are, for a minute", async () => {
    const folder = await markedFolder();
    expect(folder.isUnchanged({ ...times })).toBe(true);
    expect(folder.mayAsk(60_049)).toBe(true);
    expect(folder.mayAsk(60_050)).toBe(false);
  });

  it.each(["dev", "ino", "mtimeMs", "ctimeMs"] as const)("has changed when its %s has", async (name) => {
    const folder = await markedFolder();
    expect(folder.isUnchanged({ ...times, [name]: times[name] - 1 })).toBe(false);
  });

  it.each([
    ["that has just changed", 1_002_999],
    ["that has changed in the future", 900_000],
  ])("%s is listed again: a change within the same tick would not be seen", async (_title, now) => {
    const folder = new EmptyFolder();
    await folder.listed({ before: times, isEmpty: true, now, nowMs: 50 }, neverAsked);
    expect(folder.mayAsk(51)).toBe(false);
  });

  it("is not asked again when it is empty no more, or could not be read", async () => {
    const filled = await markedFolder();
    await filled.listed({ before: { ...times, mtimeMs: 1 }, isEmpty: false, ...long }, neverAsked);
    expect(filled.mayAsk(51)).toBe(false);
    const gone = await markedFolder();
    gone.forget();
    expect(gone.mayAsk(51)).toBe(false);
  });

  it("is always listed where a file has come without a change of the times", async () => {
    const folder = await markedFolder();
    await folder.listed({ before: times, isEmpty: false, ...long }, async () => times);
    await folder.listed({ before: times, isEmpty: true, ...long }, neverAsked);
    expect(folder.mayAsk(51)).toBe(false);
  });

  it("is not distrusted for a file that came while it was listed", async () => {
    const folder = await markedFolder();
    await folder.listed({ before: times, isEmpty: false, ...long }, async () => ({ ...times, mtimeMs: 2 }));
    await folder.listed({ before: times, isEmpty: true, ...long }, neverAsked);
    expect(folder.mayAsk(51)).toBe(true);
  });
});

describe("a file that no event tells of", () => {
  it("is found by the scan in a folder that was empty, which is not listed as long as its times are the same", async () => {
    await using rig = new FolderRig();
    rig.watch = silentWatch;
    rig.settings.scanMs = 20;
    // Long after the folder was made: a folder that has just changed is listed again.
    rig.nowMs = Date.now() + 3_600_000;
    let looks = 0;
    rig.disk.statNow = (path) => {
      looks += 1;
      rig.tell();
      return systemFolderDisk.statNow(path);
    };
    await rig.start();
    const { scans } = rig;
    await rig.until(() => looks >= 5);
    expect(rig.scans).toBe(scans);
    writeFileSync(join(rig.inbound, name), "<Stop/>");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([name]);
  });

  it("is found so too where each call may take seconds: its times are asked for in the pool, one look at a time", async () => {
    await using rig = new FolderRig();
    setShortCallsMayWait(true);
    rig.watch = silentWatch;
    rig.settings.scanMs = 20;
    rig.nowMs = Date.now() + 3_600_000;
    rig.disk.statNow = () => {
      throw new Error("a look on the thread that serves all");
    };
    let [looks, atOnce, mostAtOnce] = [0, 0, 0];
    rig.disk.stat = async (path) => {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      await pause(50);
      const stats = await systemFolderDisk.stat(path);
      [looks, atOnce] = [looks + 1, atOnce - 1];
      rig.tell();
      return stats;
    };
    await rig.start();
    const [{ scans }, before] = [rig, looks];
    await rig.until(() => looks >= before + 3);
    expect(rig.scans).toBe(scans);
    expect(mostAtOnce).toBe(1);
    writeFileSync(join(rig.inbound, name), "<Stop/>");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([name]);
  });

  it("is found by the scan in a further folder, whose times nobody relies on", async () => {
    await using rig = new FolderRig();
    rig.watch = silentWatch;
    rig.watchShare();
    rig.settings.scanMs = 20;
    rig.nowMs = Date.now() + 3_600_000;
    const stat = await systemFolderDisk.stat(rig.share);
    rig.disk.stat = async () => stat;
    rig.disk.statNow = () => stat;
    await rig.start();
    writeFileSync(join(rig.share, name), "<Stop/>");
    await rig.until(() => rig.arrivals.length === 1);
    expect(rig.names).toEqual([name]);
  });
});
