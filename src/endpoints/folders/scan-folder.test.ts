import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { type FolderDisk, systemFolderDisk } from "./folder-deps.ts";
import { type Entry, scanNames } from "./scan-folder.ts";

const names = ["a.xml", "b.xml", "c.xml"];

function diskWith(lstat: FolderDisk["lstat"]): { disk: FolderDisk; folder: string } {
  const folder = temporaryFolder();
  for (const name of names) writeFileSync(join(folder, name), "x");
  mkdirSync(join(folder, "d.xml"));
  return { disk: { ...systemFolderDisk, lstat }, folder };
}

test("an entry is looked at as soon as its status is known, so that memory does not hold the status of all", async () => {
  const late = Promise.withResolvers<void>();
  const { disk, folder } = diskWith(async (path) => {
    if (basename(path) === "a.xml") await late.promise;
    return await systemFolderDisk.lstat(path);
  });
  const visited: string[] = [];
  const others = Promise.withResolvers<void>();
  const visit = (name: string) => {
    visited.push(name);
    if (visited.length === 3) others.resolve();
  };
  const scanning = scanNames(disk, folder, [...names, "d.xml"], { visit });
  await others.promise;
  expect(visited).toEqual(["b.xml", "c.xml", "d.xml"]);
  late.resolve();
  await scanning;
  expect(visited).toContain("a.xml");
});

test("an entry on which lstat fails is faulty, and one that is gone is none", async () => {
  const { disk, folder } = diskWith(async (path) => {
    if (basename(path) === "b.xml") throw Object.assign(new Error("no"), { code: "EIO" });
    return await systemFolderDisk.lstat(path);
  });
  const found = new Map<string, Entry["kind"]>();
  const visit = (name: string, { kind }: Entry) => void found.set(name, kind);
  await scanNames(disk, folder, ["b.xml", "gone.xml", "d.xml", "a.xml"], { visit });
  expect([...found].sort()).toEqual([
    ["a.xml", "file"],
    ["b.xml", "faulty"],
    ["d.xml", "special"],
  ]);
});

test("when lstat fails on all of several entries, the folder is at fault and none of them is faulty", async () => {
  const { disk, folder } = diskWith(() => Promise.reject(Object.assign(new Error("no"), { code: "EIO" })));
  const visited: string[] = [];
  const visit = (name: string) => void visited.push(name);
  await expect(scanNames(disk, folder, names, { visit })).rejects.toThrow("no");
  expect(visited).toEqual([]);
  await scanNames(disk, folder, ["a.xml"], { visit });
  expect(visited).toEqual(["a.xml"]);
});
