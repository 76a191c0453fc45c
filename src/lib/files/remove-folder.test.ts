import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { removeFolder } from "./remove-folder.ts";

test("a folder goes with all in it, each of which is told; what a link leads to stays", async () => {
  const [folder, other] = [join(temporaryFolder(), "folder"), temporaryFolder()];
  writeFileSync(join(other, "kept"), "");
  for (const name of ["one", "two"]) {
    mkdirSync(join(folder, name, "empty"), { recursive: true });
    for (let i = 0; i < 10; i += 1) writeFileSync(join(folder, name, String(i)), "");
  }
  symlinkSync(other, join(folder, "link"));
  let removed = 0;
  await removeFolder(folder, () => {
    removed += 1;
  });
  // 20 files, a link, and five folders.
  expect(removed).toBe(26);
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(other)).toEqual(["kept"]);
});

test("one that is not there is as good as removed", async () => {
  await expect(removeFolder(join(temporaryFolder(), "none"))).resolves.toBeUndefined();
});

test("a fault at one entry keeps no other, and is told when they are gone", async () => {
  const folder = join(temporaryFolder(), "folder");
  mkdirSync(folder);
  for (let i = 0; i < 20; i += 1) writeFileSync(join(folder, String(i)), "");
  const fault = new Error("at the first");
  let removed = 0;
  const removing = removeFolder(folder, () => {
    removed += 1;
    if (removed === 1) throw fault;
  });
  await expect(removing).rejects.toBe(fault);
  expect(readdirSync(folder)).toEqual([]);
});
