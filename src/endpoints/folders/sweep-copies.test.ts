import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
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

  it("that was set aside has its name back, and comes before one of its name that came after it", async () => {
    await using rig = new FolderRig();
    for (const folder of [".aside", ".again"]) mkdirSync(join(rig.inbound, folder), { recursive: true });
    const later = join(rig.inbound, ".again", `ba9876543210-${name}`);
    writeFileSync(later, "later");
    writeFileSync(join(rig.inbound, ".aside", `0123456789ab-${name}`), "first");
    await rig.start();
    await rig.until(() => rig.arrivals.length === 2);
    expect(rig.arrivals.map(({ path }) => path)).toEqual([join(rig.inbound, name), later]);
    const [first, second] = rig.arrivals.map(({ receivedAt }) => receivedAt ?? 0);
    expect(first).toBeLessThanOrEqual(second ?? 0);
    expect(readFileSync(join(rig.inbound, name), "utf8")).toBe("first");
  });

  it("comes before one of its name in `.again` also when a start that died has made a younger copy of it", async () => {
    await using rig = new FolderRig();
    mkdirSync(join(rig.inbound, ".again"), { recursive: true });
    const later = join(rig.inbound, ".again", `ba9876543210-${name}`);
    writeFileSync(later, "later");
    // Longer than a step of the clock of file systems.
    await pause(20);
    writeFileSync(join(rig.inbound, name), "first");
    expect(statSync(join(rig.inbound, name)).ctimeMs).toBeGreaterThan(statSync(later).ctimeMs);
    await rig.start();
    await rig.until(() => rig.arrivals.length === 2);
    expect(rig.arrivals.map(({ path }) => path)).toEqual([join(rig.inbound, name), later]);
    const [first, second] = rig.arrivals.map(({ receivedAt }) => receivedAt ?? 0);
    expect(first).toBeLessThanOrEqual(second ?? 0);
  });

  it("has its name back once when the process died while it was given back", async () => {
    await using rig = new FolderRig();
    mkdirSync(join(rig.inbound, ".aside"));
    const source = join(rig.inbound, ".aside", `0123456789ab-${name}`);
    writeFileSync(source, "x");
    linkSync(source, join(rig.inbound, name));
    await rig.start();
    await rig.until(() => rig.arrivals.length > 0);
    await rig.endpoint.scanNow();
    expect(rig.arrivals.map(({ path }) => path)).toEqual([join(rig.inbound, name)]);
    expect(readdirSync(join(rig.inbound, ".aside"))).toEqual([]);
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
