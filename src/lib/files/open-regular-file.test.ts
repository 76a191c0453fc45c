import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSharedSync, systemDisk } from "./durable-file.ts";
import { openRegularFile, pinFolder } from "./open-regular-file.ts";

const nextTurn = promisify(setImmediate);

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "regular-")));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("a regular file is opened with its attributes", async () => {
  await writeFile(join(folder, "f"), "abc");
  const file = await openRegularFile(join(folder, "f"));
  expect(file?.stats.size).toBe(3);
  if (file !== undefined) await systemDisk.close(file.fd);
});

test("links, folders, FIFOs and devices are not opened, and a FIFO does not block", async () => {
  await symlink("/etc/passwd", join(folder, "link"));
  await mkdir(join(folder, "sub"));
  execFileSync("mkfifo", [join(folder, "fifo")]);
  for (const path of ["link", "sub", "fifo"].map((name) => join(folder, name)).concat("/dev/null")) {
    expect(await openRegularFile(path)).toBeUndefined();
  }
  await expect(openRegularFile(join(folder, "none"))).rejects.toMatchObject({ code: "ENOENT" });
});

test("a pinned folder stays the same when a link takes its place", async () => {
  await mkdir(join(folder, "a"));
  await mkdir(join(folder, "b"));
  const pinned = await pinFolder(folder, ["a"]);
  await rename(join(folder, "a"), join(folder, "moved"));
  await symlink(join(folder, "b"), join(folder, "a"));
  await writeFile(pinned.child("f"), "x");
  expect(await readFile(join(folder, "moved", "f"), "utf8")).toBe("x");
  await pinned.close();
  await expect(pinFolder(folder, ["a"])).rejects.toThrow(/ELOOP|ENOTDIR/);
});

test("syncs that are asked for in one turn are one, and those asked for while it runs share the next one", async () => {
  let count = 0;
  const waiting: (() => void)[] = [];
  const fsync = (): Promise<void> => {
    count += 1;
    return new Promise((resolve) => waiting.push(resolve));
  };
  const sync = createSharedSync(3, { fsync, fsyncNow: () => undefined });
  const first = Promise.all([sync(), sync()]);
  while (waiting.length === 0) await nextTurn();
  const others = Promise.all([sync(), sync(), sync()]);
  waiting.shift()?.();
  await first;
  while (waiting.length === 0) await nextTurn();
  waiting.shift()?.();
  await others;
  expect(count).toBe(2);
});

test("a sync that fails is told to those who asked for it and to nobody else", async () => {
  const running: PromiseWithResolvers<void>[] = [];
  const fsync = () => {
    const run = Promise.withResolvers<void>();
    running.push(run);
    return run.promise;
  };
  const sync = createSharedSync(3, { fsync, fsyncNow: () => undefined });
  const first = sync();
  while (running.length === 0) await nextTurn();
  const second = sync();
  running.shift()?.reject(new Error("EIO"));
  await expect(first).rejects.toThrow("EIO");
  while (running.length === 0) await nextTurn();
  running.shift()?.resolve();
  await second;
});
