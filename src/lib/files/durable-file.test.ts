import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asOrdinaryUser } from "../../../test/support/ordinary-user.ts";
import { makeDirectoryDurably, writeFileDurably } from "./durable-file.ts";

let base: string;
let dir: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "dropgate-durable-"));
  dir = join(base, "folder");
  await mkdir(dir);
});

afterEach(() => rm(base, { recursive: true, force: true }));

describe("writing a file", () => {
  it("opens its directory before it changes that: on CephFS a look at it is late afterwards", async () => {
    await asOrdinaryUser(dir, async () => {
      const path = join(dir, "file");
      await writeFileDurably(path, "former");
      await chmod(dir, 0o300);
      await expect(writeFileDurably(path, "text")).rejects.toThrow("EACCES");
      await chmod(dir, 0o700);
      expect(await readFile(path, "utf8")).toBe("former");
      expect(await readdir(dir)).toEqual(["file"]);
    });
  });

  it("leaves nothing beside a name that cannot be had", async () => {
    await makeDirectoryDurably(join(dir, "taken"));
    await expect(writeFileDurably(join(dir, "taken"), "text")).rejects.toThrow("EISDIR");
    expect(await readdir(dir)).toEqual(["taken"]);
  });
});

describe("making a directory", () => {
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
