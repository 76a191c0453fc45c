import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { type FolderDisk, ownDisk } from "./folder-disk.ts";
import { placeFiles } from "./place-files.ts";

const filesOf = (names: readonly string[]) =>
  names.map((name) => ({ name, temporaryName: `.${name}.part`, bytes: Buffer.from(`content of ${name}`) }));

test("the files of a group are synced side by side, so that a slow disk is waited for once", async () => {
  const folder = temporaryFolder();
  const names = ["a", "b", "c", "d"];
  const all = Promise.withResolvers<void>();
  let syncing = 0;
  const slow: FolderDisk = {
    ...ownDisk,
    sync: async (fd) => {
      syncing += 1;
      if (syncing === names.length) all.resolve();
      await all.promise;
      await ownDisk.sync(fd);
    },
  };
  const results = await placeFiles(slow, folder, filesOf(names));
  expect(results.map(({ status }) => status)).toEqual(names.map(() => "fulfilled"));
  expect(readdirSync(folder).sort()).toEqual(names);
});

test("no file has its name before all are synced, and each fault is that of its file", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "taken"), "theirs");
  const steps: string[] = [];
  const noted: FolderDisk = {
    ...ownDisk,
    sync: async (fd) => {
      const { size } = await ownDisk.fstat(fd);
      steps.push("sync");
      if (size === "content of faulty".length) throw Object.assign(new Error("no"), { code: "EIO" });
    },
    link: async (from, to) => {
      steps.push("link");
      await ownDisk.link(from, to);
    },
  };
  const results = await placeFiles(noted, folder, filesOf(["a", "faulty", "taken", "b"]));
  expect(steps).toEqual(["sync", "sync", "sync", "sync", "link", "link", "link"]);
  expect(results).toMatchObject([
    { status: "fulfilled", value: "placed" },
    { status: "rejected", reason: { code: "EIO" } },
    { status: "fulfilled", value: "taken" },
    { status: "fulfilled", value: "placed" },
  ]);
  expect(readdirSync(folder).sort()).toEqual(["a", "b", "taken"]);
  expect(readFileSync(join(folder, "taken"), "utf8")).toBe("theirs");
});
