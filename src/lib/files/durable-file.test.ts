import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileURLToPath } from "node:url";
import { asOrdinaryUser } from "../../../test/support/ordinary-user.ts";
import { runProgram } from "../../../test/support/run-program.ts";
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

  it("syncs the file before it has its name, and its directory after that", async () => {
    const steps = join(base, "steps");
    const script = join(base, "write.ts");
    const program = fileURLToPath(new URL("durable-file.ts", import.meta.url));
    await writeFile(
      script,
      `import { writeFileDurably } from ${JSON.stringify(program)};\nawait writeFileDurably(process.argv[2], "text");\n`,
    );
    const env = { ...process.env, DROPGATE_STEPS_FILE: steps, DROPGATE_KILL_POINT: "" };
    const run = await runProgram(process.execPath, [script, join(dir, "file")], { env });
    expect(run).toMatchObject({ exitCode: 0 });
    const made = [...(await readFile(steps, "utf8")).matchAll(/ (\w+)@/g)].map(([, kind]) => kind);
    expect(made).toEqual(["create", "write", "fsync", "rename", "syncFolder"]);
    expect(await readFile(join(dir, "file"), "utf8")).toBe("text");
  });

  it("leaves nothing beside when it cannot be written", async () => {
    await expect(writeFileDurably(join(dir, "file"), 7 as unknown as string)).rejects.toThrow(TypeError);
    expect(await readdir(dir)).toEqual([]);
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
