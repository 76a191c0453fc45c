import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { readChangeClock } from "./change-clock.ts";

it("tells the time of the file system, in which the changes of its files are told", async () => {
  const folder = temporaryFolder();
  const [own, other] = [join(folder, "own"), join(folder, "other")];
  writeFileSync(own, "");
  writeFileSync(other, "x");
  const { ctimeMs, dev } = statSync(other);
  const clock = await readChangeClock(own);
  expect(clock?.dev).toBe(dev);
  expect(clock?.nowMs).toBeGreaterThanOrEqual(ctimeMs);
  expect(clock?.nowMs).toBeLessThan(ctimeMs + 60_000);
});

it("rejects without its file", async () => {
  await expect(readChangeClock(join(temporaryFolder(), "gone"))).rejects.toThrow("ENOENT");
});
