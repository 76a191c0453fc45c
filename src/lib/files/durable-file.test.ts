import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type * as Changes from "./changes.ts";
import { makeDirectoryDurably, writeFileDurably } from "./durable-file.ts";

const calls = vi.hoisted((): string[] => []);

vi.mock("./changes.ts", async (original) => {
  const real = await original<typeof Changes>();
  const noted =
    <Given extends unknown[], Result>(name: string, call: (...given: Given) => Result) =>
    (...given: Given): Result => {
      calls.push(name);
      return call(...given);
    };
  return {
    ...real,
    open: (path: string, flags: string | number, mode?: number) => {
      calls.push(typeof flags === "string" ? "make" : "open directory");
      return real.open(path, flags, mode);
    },
    append: noted("write", real.append),
    syncFile: noted("sync", real.syncFile),
    rename: noted("rename", real.rename),
    syncFolder: noted("sync directory", real.syncFolder),
  };
});

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "dropgate-durable-"));
  calls.length = 0;
});

afterEach(() => rm(dir, { recursive: true, force: true }));

describe("writing a file", () => {
  it("looks for its directory before it changes that, since on CephFS such a look is late afterwards", async () => {
    await writeFileDurably(join(dir, "file"), "former");
    calls.length = 0;
    await writeFileDurably(join(dir, "file"), "text");
    expect(calls).toEqual(["make", "write", "sync", "open directory", "rename", "sync directory"]);
    expect(await readFile(join(dir, "file"), "utf8")).toBe("text");
    expect(await readdir(dir)).toEqual(["file"]);
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
