import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import { pinFolder } from "../../lib/files/open-regular-file.ts";
import { PartFile, type PartFileDeps } from "./part-file.ts";

const mebi = 2 ** 20;

/** A part on the real disk, which counts the syncs, and on which large writes take no time. */
async function opened(changes: Partial<PartFileDeps> & { readonly fdatasync?: DiskCalls["fdatasync"] } = {}) {
  const counts = { syncs: 0, backgroundSyncs: 0, spaceChecks: 0 };
  const count = (what: keyof typeof counts): void => {
    counts[what] += 1;
  };
  const path = temporaryFolder();
  const folder = await pinFolder(path);
  const disk: DiskCalls = {
    ...systemDisk,
    write: async (fd, bytes, at) =>
      bytes.byteLength < mebi ? await systemDisk.write(fd, bytes, at) : bytes.byteLength,
    fsync: async () => count("syncs"),
    fsyncNow: () => count("syncs"),
    fdatasync: async (fd) => {
      count("backgroundSyncs");
      await changes.fdatasync?.(fd);
    },
  };
  const space = { assertEnough: async () => count("spaceChecks") };
  const lost: unknown[] = [];
  const part = new PartFile({ disk, space, folder, name: "a.xml", ...changes }, (error) => lost.push(error));
  onTestFinished(async () => {
    await part.close();
    await folder.close();
  });
  return { part, counts, lost, path: join(path, "a.xml") };
}

const chunk = (bytes: Uint8Array, start = 0) => ({
  ...{ buffer: Buffer.from(bytes), start, length: bytes.byteLength },
});
const large = Buffer.alloc(16 * mebi);

describe("an unfinished file is made durable", () => {
  test("though nothing was written to it: new, or continued", async () => {
    const made = await opened();
    await made.part.sync(true);
    expect([made.counts.syncs, readFileSync(made.path).byteLength]).toEqual([1, 0]);
    const fd = await systemDisk.open(made.path, 2);
    const continued = await opened({ resumed: { fd, size: 0 } });
    await continued.part.sync(false);
    expect(continued.counts.syncs).toBe(1);
  });

  test("again after each change, and not without one", async () => {
    const { part, counts, path } = await opened();
    await part.made();
    const changes = [
      () => part.write(chunk(Buffer.from("abc"))),
      () => part.truncate(2),
      () => part.write(chunk(Buffer.from("d"), 2)),
    ];
    for (const [index, change] of changes.entries()) {
      await change();
      for (const isShort of [true, false]) await part.sync(isShort);
      expect(counts.syncs).toBe(index + 1);
    }
    expect(readFileSync(path, "utf8")).toBe("abd");
  });

  test("beside its writes after each 32 MiB, but for a sync that is still under way", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { part, counts } = await opened({ fdatasync: () => promise });
    await part.write(chunk(large));
    expect(counts.backgroundSyncs).toBe(0);
    for (let turn = 0; turn < 4; turn += 1) await part.write(chunk(large));
    expect(counts.backgroundSyncs).toBe(1);
    resolve();
    await part.sync(false);
    await part.write(chunk(large));
    expect(counts.backgroundSyncs).toBe(2);
  });
});

test("a background sync that fails is told, and the next one is tried", async () => {
  const fault = new Error("EIO");
  const { part, counts, lost } = await opened({ fdatasync: () => Promise.reject(fault) });
  for (let turn = 0; turn < 2; turn += 1) await part.write(chunk(large));
  await part.sync(false);
  expect(lost).toEqual([fault]);
  for (let turn = 0; turn < 2; turn += 1) await part.write(chunk(large));
  expect(counts.backgroundSyncs).toBe(2);
});

test("the room on the disk is looked at after each 64 MiB", async () => {
  const { part, counts } = await opened();
  const checks: number[] = [];
  for (let turn = 0; turn < 8; turn += 1) {
    await part.write(chunk(large));
    checks.push(counts.spaceChecks);
  }
  expect(checks).toEqual([0, 0, 0, 1, 1, 1, 1, 2]);
});

test("nothing is read of a file that is not made yet, and no more than was asked for of one that is", async () => {
  const { part } = await opened();
  expect(Buffer.from(await part.read(0, 2)).toString("hex")).toBe("0000");
  await part.write(chunk(Buffer.from("abcdef")));
  expect(Buffer.from(await part.read(1, 3)).toString()).toBe("bcd");
  expect(Buffer.from(await part.read(4, 9)).toString()).toBe("ef");
  expect((await part.read(0, 0)).byteLength).toBe(0);
});
