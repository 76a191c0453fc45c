import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { localFolderDisk } from "./folder-deps.ts";

it.each([0, 1, 63, 64, 65, 1_000])(
  "a folder of the state directory with %i files gives all its entries",
  async (count) => {
    const folder = mkdtempSync(join(tmpdir(), "dropgate-entries-"));
    try {
      const names = Array.from({ length: count }, (_, file) => `${file}.xml`);
      for (const name of names) writeFileSync(join(folder, name), "");
      mkdirSync(join(folder, ".again"));
      const found: string[] = [];
      for await (const entry of await localFolderDisk.entries(folder)) found.push(entry.name);
      expect(found.toSorted()).toEqual([...names, ".again"].toSorted());
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

it("a folder of the state directory that is gone is a rejection, as it is of any other", async () => {
  const missing = join(tmpdir(), "dropgate-is-not-here");
  for (const ask of ["entries", "stat", "realpath"] as const)
    await expect(localFolderDisk[ask](missing)).rejects.toMatchObject({ code: "ENOENT" });
});
