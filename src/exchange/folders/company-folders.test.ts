import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import { CompanyFolders, ensureCompanyTree } from "./company-folders.ts";

test("a folder that is replaced while several uploads look is closed once, and so is each that they opened", async () => {
  const company = await ensureCompanyTree(temporaryFolder(), "ACME");
  const open = new Set<number>();
  const faults: string[] = [];
  const opened: (() => void)[] = [];
  let [isHeld, isBroken] = [false, false];
  const disk: DiskCalls = {
    ...systemDisk,
    async open(...given) {
      const fd = await systemDisk.open(...given);
      open.add(fd);
      return fd;
    },
    async close(fd) {
      if (!open.delete(fd)) faults.push(`${fd} was closed twice`);
      await systemDisk.close(fd);
    },
    async fstat(fd) {
      // Where each call may take seconds, others come in between.
      if (isHeld) await new Promise<void>((resolve) => opened.push(resolve));
      if (isBroken) throw new Error("EIO");
      return await systemDisk.fstat(fd);
    },
  };
  let nowMs = 0;
  const folders = new CompanyFolders(company, { disk, clock: { now: () => nowMs } });
  await folders.inbound();
  renameSync(join(company, "inbound"), join(company, "replaced"));
  mkdirSync(join(company, "inbound"));
  nowMs = 2_000;
  isHeld = true;
  const looking = [folders.inbound(), folders.inbound()];
  await expect.poll(() => opened.length).toBe(4);
  isHeld = false;
  for (const goOn of opened) goOn();
  const [one, other] = await Promise.all(looking);
  expect(one).toBe(other);
  isBroken = true;
  nowMs = 4_000;
  await expect(folders.inbound()).rejects.toThrow("EIO");
  isBroken = false;
  await folders.close();
  expect(faults).toEqual([]);
  expect([...open]).toEqual([]);
});
