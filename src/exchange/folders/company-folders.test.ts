import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import { CompanyFolders, ensureCompanyTree } from "./company-folders.ts";

test("a folder that is replaced while several uploads look is closed once, and so is each that they opened", async () => {
  const company = await ensureCompanyTree(temporaryFolder(), "ACME");
  const open = new Set<number>();
  const faults: string[] = [];
  const opened: (() => void)[] = [];
  const broken = new Set<number>();
  let isHeld = false;
  let breaksNext = false;
  const disk: DiskCalls = {
    ...systemDisk,
    async open(...given) {
      const fd = await systemDisk.open(...given);
      open.add(fd);
      broken.delete(fd);
      if (breaksNext && String(given[0]).endsWith("inbound")) {
        broken.add(fd);
        breaksNext = false;
      }
      return fd;
    },
    async close(fd) {
      if (!open.delete(fd)) faults.push(`${fd} was closed twice`);
      await systemDisk.close(fd);
    },
    async fstat(fd) {
      // Where each call may take seconds, others come in between.
      if (isHeld) await new Promise<void>((resolve) => opened.push(resolve));
      if (broken.has(fd)) throw new Error("EIO");
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
  await expect.poll(() => opened.length).toBe(2);
  isHeld = false;
  for (const goOn of opened) goOn();
  const [one, other] = (await Promise.all(looking)) as [PinnedFolder, PinnedFolder];
  expect(one).toBe(other);
  // A server may know nothing more of one that was replaced.
  broken.add(one.fd);
  nowMs = 4_000;
  const again = await folders.inbound();
  expect(again).not.toBe(one);
  nowMs = 6_000;
  breaksNext = true;
  await expect(folders.inbound()).rejects.toThrow("EIO");
  expect(await folders.inbound()).toBe(again);
  await folders.close();
  expect(faults).toEqual([]);
  expect([...open]).toEqual([]);
});
