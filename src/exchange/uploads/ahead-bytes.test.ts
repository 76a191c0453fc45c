import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import { pinFolder } from "../../lib/files/open-regular-file.ts";
import { AheadBytes } from "./ahead-bytes.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

async function aheadBytes(unlink: DiskCalls["unlink"]) {
  const root = temporaryFolder();
  mkdirSync(join(root, "1"));
  const [opened, closed]: [number[], number[]] = [[], []];
  const disk: DiskCalls = {
    ...systemDisk,
    unlink,
    async open(...given) {
      const fd = await systemDisk.open(...given);
      opened.push(fd);
      return fd;
    },
    async close(fd) {
      closed.push(fd);
      await systemDisk.close(fd);
    },
  };
  const folder = await pinFolder(root, ["1"], systemDisk);
  return { bytes: new AheadBytes(disk, folder), folder, opened, closed, path: join(root, "1") };
}

test("bytes ahead are kept when a sweep has removed the name of their file before they did", async () => {
  const { bytes, folder, path } = await aheadBytes(async (name) => {
    await systemDisk.unlink(name);
    await systemDisk.unlink(name);
  });
  await bytes.put(3, Buffer.from("def"), 0);
  expect(String(await bytes.read(3, 3))).toBe("def");
  expect(readdirSync(path)).toEqual([]);
  await bytes.close();
  await folder.close();
});

test("their file is closed when its name cannot be removed, and the client is told", async () => {
  const { bytes, folder, opened, closed } = await aheadBytes(() => Promise.reject(systemError("EIO")));
  await expect(bytes.put(3, Buffer.from("def"), 0)).rejects.toThrow("EIO");
  expect(opened).toHaveLength(1);
  expect(closed).toEqual(opened);
  await bytes.close();
  await folder.close();
});
