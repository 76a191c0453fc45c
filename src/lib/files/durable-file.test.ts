import { mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDirectoryDurably } from "./durable-file.ts";

describe("making a directory", () => {
  let dir: string;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "dropgate-durable-"));
  });

  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("makes all that is missing with mode 0750, and takes what is there", async () => {
    const path = join(dir, "a", "b", "c");
    await Promise.all([makeDirectoryDurably(path), makeDirectoryDurably(join(dir, "a", "d"))]);
    await makeDirectoryDurably(path);
    for (const at of ["a", "a/b", "a/b/c"]) expect((await stat(join(dir, at))).mode & 0o777).toBe(0o750);
    await symlink(join(dir, "a"), join(dir, "link"));
    await makeDirectoryDurably(join(dir, "link", "e"));
    expect((await stat(join(dir, "a", "e"))).isDirectory()).toBe(true);
  });

  it("rejects when a file has the name, or stands on the way", async () => {
    await writeFile(join(dir, "file"), "x");
    await expect(makeDirectoryDurably(join(dir, "file"))).rejects.toThrow("EEXIST");
    await expect(makeDirectoryDurably(join(dir, "file", "a"))).rejects.toThrow("ENOTDIR");
  });

  it("ends below a folder in which the system makes none", async () => {
    await expect(makeDirectoryDurably("/proc/none/of/these")).rejects.toThrow(
      "the folder /proc/none cannot be made: /proc takes no new folders; choose another place",
    );
  });
});
