import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { foreignEntries, foreignPlaces } from "./foreign-calls.ts";

test.each([
  [undefined, 2],
  ["16", 8],
  ["5", 2],
  ["1", 1],
  ["none", 2],
])("of a pool of %s threads such calls get %i", (size, places) => {
  expect(foreignPlaces(size)).toBe(places);
});

test("all entries of a folder are given, and a fault is the system's", async () => {
  const folder = temporaryFolder();
  const names = Array.from({ length: 70 }, (_, nth) => `${nth}.xml`);
  for (const name of names) writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, "inner"));
  const found: string[] = [];
  for await (const { name } of foreignEntries(folder)) found.push(name);
  expect(found.sort()).toEqual([...names, "inner"].sort());
  const read = async () => {
    for await (const entry of foreignEntries(join(folder, "none"))) throw new Error(entry.name);
  };
  await expect(read()).rejects.toMatchObject({ code: "ENOENT" });
});
