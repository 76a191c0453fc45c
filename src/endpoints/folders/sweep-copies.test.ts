import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../../test/support/wait-for.ts";
import { systemTakeCalls } from "./take-calls.ts";
import { FolderRig } from "./testing/folder-rig.ts";

const name = "4711_20261105_080000.xml";

/** What is left of a file that a run has copied and set aside; the copy has no place yet. */
function leaveExchange(inbound: string, content: string): { readonly copy: string; readonly source: string } {
  const mark = "0123456789ab";
  for (const folder of [".taking", ".aside"]) mkdirSync(join(inbound, folder));
  const copy = join(inbound, ".taking", `earlier-${mark}`);
  const source = join(inbound, ".aside", `${mark}-${name}`);
  for (const path of [copy, source]) writeFileSync(path, content);
  return { copy, source };
}

describe("a file in inbound/", () => {
  it("that was set aside when the process died is recovered", async () => {
    await using rig = new FolderRig();
    mkdirSync(join(rig.inbound, ".aside"));
    writeFileSync(join(rig.inbound, ".aside", `0123456789ab-${name}`), "x");
    await rig.start();
    await rig.until(() => rig.arrivals.length > 0);
    expect(rig.arrivals[0]).toMatchObject({ name, channel: "recovered" });
    expect(readFileSync(rig.arrivals[0]?.path ?? "", "utf8")).toBe("x");
  });

  it("comes once when the process died between the place of its copy and the end of the source", async () => {
    await using rig = new FolderRig();
    const { copy } = leaveExchange(rig.inbound, "x");
    linkSync(copy, join(rig.inbound, name));
    await rig.start();
    await rig.until(() => rig.arrivals.length > 0);
    await rig.endpoint.scanNow();
    expect(rig.arrivals).toMatchObject([{ name, path: join(rig.inbound, name), channel: "recovered" }]);
    for (const folder of [".taking", ".aside", ".again"])
      expect(readdirSync(join(rig.inbound, folder))).toEqual([]);
  });

  it("comes once when the process died before its copy had its place", async () => {
    await using rig = new FolderRig();
    leaveExchange(rig.inbound, "x");
    await rig.start();
    await rig.until(() => rig.arrivals.length > 0);
    await rig.endpoint.scanNow();
    expect(rig.arrivals).toMatchObject([{ name, channel: "recovered" }]);
    expect(readdirSync(join(rig.inbound, ".taking"))).toEqual([]);
  });

  describe("whose taking a crash has cut off comes before one of its name that came after it", () => {
    const cameAtMs = Date.now() - 3_600_000;
    const laterIn = (inbound: string) => join(inbound, ".again", `ba9876543210-${name}`);

    /** A file of the name that came a minute later, in `.again`; it lies there for as long. */
    function leaveLater(inbound: string): void {
      const path = laterIn(inbound);
      writeFileSync(path, "later", { mode: 0o440 });
      utimesSync(path, new Date(cameAtMs + 60_000), new Date(cameAtMs + 60_000));
    }

    /** A copy as dropgate makes it. */
    function leaveCopy(inbound: string, path: string): void {
      mkdirSync(join(inbound, ".taking"), { recursive: true });
      writeFileSync(path, "first", { mode: 0o440 });
      utimesSync(path, new Date(cameAtMs), new Date(cameAtMs));
    }

    const mark = "0123456789ab";
    const left: Readonly<Record<string, (inbound: string) => void>> = {
      "with its source aside": (inbound) => {
        leaveExchange(inbound, "first");
        rmSync(join(inbound, ".taking", `earlier-${mark}`));
        leaveCopy(inbound, join(inbound, ".taking", `earlier-${mark}`));
      },
      "with its source aside and its copy in its place": (inbound) => {
        left["with its source aside"]?.(inbound);
        linkSync(join(inbound, ".taking", `earlier-${mark}`), join(inbound, name));
      },
      "with its copy in its place": (inbound) => {
        leaveCopy(inbound, join(inbound, ".taking", `earlier-${mark}`));
        linkSync(join(inbound, ".taking", `earlier-${mark}`), join(inbound, name));
      },
      "with its copy in its place alone": (inbound) => leaveCopy(inbound, join(inbound, name)),
    };

    it.each(Object.entries(left))("%s", async (_, leave) => {
      await using rig = new FolderRig();
      leaveLater(rig.inbound);
      leave(rig.inbound);
      await rig.start();
      await rig.until(() => rig.arrivals.length === 2);
      await rig.endpoint.scanNow();
      expect(rig.arrivals.map(({ path, receivedAt }) => [readFileSync(path, "utf8"), receivedAt])).toEqual([
        ["first", cameAtMs],
        ["later", cameAtMs + 60_000],
      ]);
      expect(rig.names).toEqual([name, name]);
      expect(rig.arrivals.map(({ path }) => path)).toEqual([join(rig.inbound, name), laterIn(rig.inbound)]);
      for (const folder of [".taking", ".aside"])
        expect(existsSync(join(rig.inbound, folder)) ? readdirSync(join(rig.inbound, folder)) : []).toEqual(
          [],
        );
    });
  });

  it("that an earlier run has left keeps the time at which it came, in its copy too", async () => {
    await using rig = new FolderRig();
    writeFileSync(join(rig.inbound, name), "x");
    const cameAtMs = Math.trunc(statSync(join(rig.inbound, name)).ctimeMs);
    // Longer than a step of the clock of file systems.
    await pause(20);
    await rig.start();
    await rig.until(() => rig.arrivals.length === 1);
    const path = rig.arrivals[0]?.path ?? "";
    expect(path).toBe(join(rig.inbound, name));
    expect(Math.round(statSync(path).mtimeMs)).toBe(cameAtMs);
    expect(statSync(path).mode & 0o777).toBe(0o440);
  });

  it.each([".aside", ".taking"])("comes once when the sweep itself fails at first, in %s", async (folder) => {
    await using rig = new FolderRig();
    const { copy } = leaveExchange(rig.inbound, "x");
    linkSync(copy, join(rig.inbound, name));
    const { unlink } = rig.disk;
    let faults = 1;
    rig.disk.unlink = async (path) => {
      if (path.includes(folder) && faults > 0) {
        faults -= 1;
        throw Object.assign(new Error("EIO"), { code: "EIO" });
      }
      await unlink(path);
    };
    await rig.start();
    expect(faults).toBe(0);
    await rig.endpoint.scanNow();
    await rig.until(() => rig.arrivals.length > 0);
    await rig.endpoint.scanNow();
    expect(rig.names).toEqual([name]);
    for (const one of [".taking", ".aside", ".again"])
      expect(readdirSync(join(rig.inbound, one))).toEqual([]);
  });

  it("comes once, before a later one of its stop, when the time was over amid its exchange, and the company stays here", async () => {
    await using rig = new FolderRig();
    let forMs = 100;
    rig.mayTakeForMs = () => forMs;
    const aside = join(rig.inbound, ".aside");
    rig.calls.fsync = (fd) => {
      systemTakeCalls.fsync(fd);
      if (forMs > 100 || !existsSync(aside) || readdirSync(aside).length === 0) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
      forMs = 60_000;
    };
    await rig.start();
    writeFileSync(join(rig.inbound, name), "x");
    await rig.endpoint.scanNow();
    await waitFor("the exchange to be late", () => forMs > 100);
    const later = "4711_20261105_080100.xml";
    writeFileSync(join(rig.inbound, later), "y");
    await pause(100);
    expect([readdirSync(aside).length, rig.arrivals.length]).toEqual([1, 0]);
    await rig.endpoint.scanNow();
    await rig.until(() => rig.arrivals.length > 1);
    await rig.endpoint.scanNow();
    expect(rig.arrivals.map((arrival) => arrival.name)).toEqual([name, later]);
    for (const one of [".taking", ".aside", ".again"])
      expect(readdirSync(join(rig.inbound, one))).toEqual([]);
  });

  it("is kept beside its copy when its writer has added to it before the process died", async () => {
    await using rig = new FolderRig();
    const { copy, source } = leaveExchange(rig.inbound, "x");
    linkSync(copy, join(rig.inbound, name));
    appendFileSync(source, " and more");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 2);
    const contents = rig.arrivals.map(({ path }) => readFileSync(path, "utf8"));
    expect(contents.sort()).toEqual(["x", "x and more"]);
  });
});
