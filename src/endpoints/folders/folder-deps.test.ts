import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { setShortCallsMayWait } from "../../lib/files/short-calls.ts";
import { localFolderDisk } from "./folder-deps.ts";

afterEach(() => setShortCallsMayWait(false));

it.each(
  [0, 1, 63, 64, 65, 1_000].flatMap((count) => [false, true].map((mayWait) => [count, mayWait] as const)),
)(
  "a folder of the state directory with %i files gives all its entries (calls may wait: %s)",
  async (count, mayWait) => {
    setShortCallsMayWait(mayWait);
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
  for (const mayWait of [false, true]) {
    setShortCallsMayWait(mayWait);
    for (const ask of ["entries", "stat", "realpath"] as const)
      await expect(localFolderDisk[ask](missing)).rejects.toMatchObject({ code: "ENOENT" });
  }
});

it("a look at the state directory is made on the spot, and in the pool where it may take seconds", async () => {
  for (const mayWait of [false, true]) {
    setShortCallsMayWait(mayWait);
    for (const ask of ["stat", "realpath"] as const) {
      let isAnswered = false;
      const asked = localFolderDisk[ask](tmpdir()).then(() => {
        isAnswered = true;
      });
      // Answers of the pool come in a later turn.
      for (let step = 0; step < 20; step += 1) await Promise.resolve();
      expect(isAnswered).toBe(!mayWait);
      await asked;
    }
  }
});
