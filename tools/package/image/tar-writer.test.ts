import { mkdtemp, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../test/support/run-program.ts";
import { type TarEntry, tarOf } from "./tar-writer.ts";

const long = `${"folder/".repeat(20)}${"n".repeat(90)}`;
const entries: readonly TarEntry[] = [
  { path: "etc", kind: "folder", mode: 0o755 },
  { path: "etc/host", kind: "file", mode: 0o640, owner: 10_001, content: Buffer.from("grün\n") },
  { path: "etc/link", kind: "link", mode: 0o777, target: "host" },
  { path: long, kind: "file", mode: 0o755, content: Buffer.alloc(512, "x") },
];

test("tar unpacks what was packed, with modes, links, long paths and times", async () => {
  const folder = await mkdtemp(join(tmpdir(), "dropgate-tar-"));
  try {
    await writeFile(join(folder, "a.tar"), tarOf(entries, 1_700_000_000));
    const listed = await runProgram("tar", ["-tvf", join(folder, "a.tar"), "--numeric-owner"]);
    expect(listed.output).toMatch(/-rw-r----- 10001\/10001 +6 .* etc\/host/);
    const done = await runProgram("tar", ["-xf", join(folder, "a.tar"), "--no-same-owner", "-C", folder]);
    expect(done.exitCode, done.output).toBe(0);
    expect(await readFile(join(folder, "etc/host"), "utf8")).toBe("grün\n");
    expect(await readlink(join(folder, "etc/link"))).toBe("host");
    expect(await stat(join(folder, long))).toMatchObject({ size: 512, mtimeMs: 1_700_000_000_000 });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the bytes are the same at each run, and a path that does not fit is refused", () => {
  expect(tarOf(entries, 5).equals(tarOf(entries, 5))).toBe(true);
  expect(tarOf(entries, 5).equals(tarOf(entries, 6))).toBe(false);
  expect(() => tarOf([{ path: "n".repeat(101), kind: "file", mode: 0o644 }], 5)).toThrow("too long");
});
