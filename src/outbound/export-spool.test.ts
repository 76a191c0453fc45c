import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { Spool } from "./export-spool.ts";

const bufferBytes = 256 * 1024;

describe("a spool", () => {
  test("has its files behind one another, and gives each back with its length and hash", async () => {
    const path = join(temporaryFolder(), "1.spool");
    const spool = await Spool.create(path);
    const first = await spool.write("a.xml", ["<a>", "ä", "</a>"]);
    const second = await spool.write("b.xml", []);
    const third = await spool.write("c.xml", ["<c/>"]);
    await spool.flush();
    expect([first, second, third]).toMatchObject([
      { name: "a.xml", offset: 0, length: 9 },
      { name: "b.xml", offset: 9, length: 0 },
      { name: "c.xml", offset: 9, length: 4 },
    ]);
    expect(Buffer.from(await spool.read(first)).toString()).toBe("<a>ä</a>");
    expect(Buffer.from(await spool.read(third)).toString()).toBe("<c/>");
    expect(third.sha256).toBe(createHash("sha256").update("<c/>").digest("hex"));
    expect(readFileSync(path, "utf8")).toBe("<a>ä</a><c/>");
    await spool.remove();
    expect(existsSync(path)).toBe(false);
  });

  test("holds a quarter of a megabyte in memory, and writes what comes after it in its place", async () => {
    const path = join(temporaryFolder(), "1.spool");
    const spool = await Spool.create(path);
    await spool.write("a.xml", ["a".repeat(bufferBytes - 1)]);
    expect(statSync(path).size).toBe(0);
    await spool.write("b.xml", ["b"]);
    expect(statSync(path).size).toBe(bufferBytes);
    const last = await spool.write("c.xml", ["c"]);
    await spool.flush();
    expect(last.offset).toBe(bufferBytes);
    expect(Buffer.from(await spool.read(last)).toString()).toBe("c");
    expect(statSync(path).size).toBe(bufferBytes + 1);
    await spool.remove();
  });

  test("takes the place of what an earlier run has left, and says when somebody has cut it", async () => {
    const path = join(temporaryFolder(), "1.spool");
    writeFileSync(path, "left over from before");
    const spool = await Spool.create(path);
    expect(statSync(path).size).toBe(0);
    const file = await spool.write("a.xml", ["abc"]);
    await spool.flush();
    truncateSync(path, 2);
    await expect(spool.read(file)).rejects.toThrow("1.spool has been cut");
    await spool.remove();
  });
});
