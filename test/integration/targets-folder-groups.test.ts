/** A company's own folder whose files go by the thread, in groups. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { Target } from "../../src/outbound/target.ts";
import { createFolderTarget, type FolderTargetParts } from "../../src/targets/folder/folder-target.ts";
import { createFolderThread } from "../../src/targets/folder/folder-thread.ts";
import { deliveryOf, faultOf, fileOf, never } from "../support/deliveries.ts";
import { filesBelow } from "../support/files-below.ts";
import { describeTarget, type TargetSite } from "../support/target-conformance.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mayMount, startTinyDisk } from "../support/tiny-disk.ts";

const thread = createFolderThread();
afterAll(() => thread.close());

async function openSite(): Promise<TargetSite> {
  const folder = mkdtempSync(join(tmpdir(), "dropgate-folder-"));
  return {
    target: () => createFolderTarget({ path: folder, isOwn: true }, { thread, fewestForThread: 1 }),
    files: async () => filesBelow(folder),
    put: async (name, bytes) => writeFileSync(join(folder, name), bytes),
    clear: async () => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    },
    end: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

describeTarget("a company's own folder, by the thread", openSite, { hasNames: true, hasCredentials: false });

/** An own folder whose groups go to the thread, and how many files each of them had. */
function groupedTarget(path: string): { readonly target: Target; readonly sizes: readonly number[] } {
  const sizes: number[] = [];
  const counted: FolderTargetParts["thread"] = {
    place: (folder, files) => {
      sizes.push(files.length);
      return thread.place(folder, files);
    },
  };
  return { target: createFolderTarget({ path, isOwn: true }, { thread: counted }), sizes };
}

describe("a group of files for an own folder", () => {
  test("is placed together: a fault of one file stops no other", async () => {
    const base = temporaryFolder();
    const path = join(base, "ACME", "outbound");
    const { target, sizes } = groupedTarget(path);
    expect(faultOf(await target.deliver(deliveryOf([fileOf("before.xml", "same")]), never))).toBe(
      "delivered",
    );
    writeFileSync(join(path, "theirs.xml"), "theirs");
    mkdirSync(join(path, "folder.xml"));
    const longName = `${"n".repeat(196)}.xml`;
    const contents = [
      ...[...Array(8).keys()].map((at) => [`${at}.xml`, `content ${at}`] as const),
      ...([
        ["theirs.xml", "ours"],
        ["folder.xml", "ours"],
        ["before.xml", "same"],
        [longName, ""],
      ] as const),
    ];
    const outcomes = await Promise.all(
      contents.map(([name, content]) => target.deliver(deliveryOf([fileOf(name, content)]), never)),
    );
    const taken = new Set(["theirs.xml", "folder.xml"]);
    expect(outcomes).toEqual(
      contents.map(([name]) => (taken.has(name) ? { kind: "nameTaken", name } : { kind: "delivered" })),
    );
    expect(sizes).toEqual([contents.length]);
    for (const [name, content] of contents)
      if (!taken.has(name)) expect(readFileSync(join(path, name), "utf8")).toBe(content);
    expect(readFileSync(join(path, "theirs.xml"), "utf8")).toBe("theirs");
    expect(readdirSync(path).sort()).toEqual(contents.map(([name]) => name).sort());
  });

  test("makes the folder again when somebody has removed it", async () => {
    const path = join(temporaryFolder(), "ACME", "outbound");
    const { target, sizes } = groupedTarget(path);
    for (const round of [0, 1]) {
      const names = [...Array(6).keys()].map((at) => `${round}-${at}.xml`);
      const outcomes = await Promise.all(
        names.map((name) => target.deliver(deliveryOf([fileOf(name, name)]), never)),
      );
      expect(new Set(outcomes.map(faultOf))).toEqual(new Set(["delivered"]));
      expect(readdirSync(path).sort()).toEqual(names);
      rmSync(path, { recursive: true });
    }
    expect(sizes.at(-1)).toBe(6);
  });

  test.skipIf(!mayMount)(
    "that does not fit on the disk: said of each file that does not, and the others are there",
    async () => {
      const disk = startTinyDisk();
      onTestFinished(() => disk.end());
      const { target } = groupedTarget(disk.path);
      const names = [...Array(20).keys()].map((at) => `${at}.xml`);
      const bytes = Buffer.alloc(200_000, "x");
      const all = () =>
        Promise.all(names.map((name) => target.deliver(deliveryOf([fileOf(name, bytes)]), never)));
      const outcomes = (await all()).map(faultOf);
      expect(new Set(outcomes)).toEqual(new Set(["delivered", "noSpace"]));
      const there = names.filter((_, at) => outcomes[at] === "delivered");
      expect(readdirSync(disk.path).sort()).toEqual(there.sort());
      await disk.grow();
      expect(new Set((await all()).map(faultOf))).toEqual(new Set(["delivered"]));
      expect(readdirSync(disk.path)).toHaveLength(names.length);
    },
  );
});
