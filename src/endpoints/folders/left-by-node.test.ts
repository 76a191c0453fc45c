/** Files that another node has left in `inbound/` when it died. */
import { mkdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { systemTakeCalls } from "./take-calls.ts";
import { copies, FolderRig } from "./testing/folder-rig.ts";

const name = "4711_20261105_080000.xml";

describe("a file that another node has left", () => {
  it("settles from its last change on, in the time of the file system", async () => {
    await using rig = new FolderRig();
    rig.settings.settleMs = 3_600_000;
    const old = "4712_20261105_080000.xml";
    for (const each of [name, old]) writeFileSync(join(rig.inbound, each), "<Stop/>");
    const { ctimeMs, dev } = statSync(join(rig.inbound, old));
    rig.changeClock = async () => ({ dev, nowMs: ctimeMs + rig.settings.settleMs + 1_000 });
    await rig.start();
    await rig.until(() => rig.arrivals.length === 2);
    expect(rig.names).toEqual([name, old]);
    // What comes later settles as always.
    writeFileSync(join(rig.inbound, "4713_20261105_080000.xml"), "<Stop/>");
    await rig.endpoint.scanNow();
    expect(rig.arrivals).toHaveLength(2);
  });

  it.each([
    ["of another file system", (dev: number) => ({ dev: dev + 1, nowMs: Number.MAX_SAFE_INTEGER })],
    ["that is not to be trusted", () => undefined],
    [
      "that cannot be read",
      () => {
        throw new Error("the share is gone");
      },
    ],
  ])("settles from now on by a clock %s", async (_, clock) => {
    await using rig = new FolderRig();
    rig.settings.settleMs = 3_600_000;
    writeFileSync(join(rig.inbound, name), "<Stop/>");
    const { dev } = statSync(join(rig.inbound, name));
    rig.changeClock = async () => clock(dev);
    await rig.start();
    expect(rig.arrivals).toEqual([]);
    expect(rig.endpoint.standings(1)).toMatchObject([{ fault: undefined }]);
  });

  it("in `.again`, after the first scan, comes within the time between two looks", async () => {
    await using rig = new FolderRig();
    rig.changeClock = async () => undefined;
    rig.againEveryMs = 20;
    await rig.start();
    const again = join(rig.inbound, ".again");
    mkdirSync(again, { recursive: true });
    writeFileSync(join(again, name), "<Stop/>");
    await waitFor("it to come", async () => {
      await rig.endpoint.scanNow();
      return rig.arrivals.length > 0;
    });
    expect(rig.arrivals.map(({ path }) => path)).toEqual([join(again, name)]);
  });

  it("in `.again` is left when another node has entered it, and it was filed away, since it was looked at", async () => {
    await using rig = new FolderRig();
    rig.mayTakeForMs = () => 60_000;
    const again = join(rig.inbound, ".again");
    const [filed, other] = [name, "4712_20261105_080001.xml"].map((one) => join(again, one));
    for (const path of [filed, other]) writeFileSync(String(path), "<Stop/>");
    const looks: string[] = [];
    const { lstat } = rig.disk;
    rig.disk.lstat = async (path) => {
      const stats = await lstat(path);
      looks.push(path);
      // Both are found by the scan, and looked at a second time when they have settled.
      if (path === other && looks.filter((one) => one === other).length === 2) unlinkSync(String(filed));
      return stats;
    };
    await rig.start();
    await rig.until(() => rig.arrivals.length > 0);
    expect(looks.filter((one) => one === filed)).toHaveLength(2);
    expect(rig.arrivals.map(({ path }) => path)).toEqual([other]);
    expect([...rig.known]).toEqual([other]);
  });

  it("stays for its entry when another node has entered it while it settled", async () => {
    await using rig = new FolderRig();
    const [path, other] = [name, "4712_20261105_080000.xml"].map((one) => join(rig.inbound, one));
    for (const one of [path, other]) writeFileSync(String(one), "x");
    await rig.start();
    rig.known.add(String(path));
    await rig.until(() => rig.arrivals.length > 0);
    expect(rig.arrivals.map((arrival) => arrival.path)).toEqual([other]);
  });

  it("stays for its entry when another node has entered it while its copy was made", async () => {
    await using rig = new FolderRig();
    const path = join(rig.inbound, name);
    writeFileSync(path, "x");
    const { ino } = statSync(path);
    let copiesMade = 0;
    rig.calls.fsync = (fd) => {
      systemTakeCalls.fsync(fd);
      copiesMade += copies(rig).length;
      rig.known.add(path);
    };
    await rig.start();
    await waitFor("the copy to be made and left", () => copiesMade > 0 && copies(rig).length === 0);
    await rig.endpoint.scanNow();
    expect(rig.arrivals).toEqual([]);
    expect(statSync(path).ino).toBe(ino);
    expect([...rig.known]).toEqual([path]);
  });
});
