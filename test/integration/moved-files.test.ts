/** Old files that are moved to a disk that is full, or may not be written (docs/retention.md#move-instead-of-remove). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { a, expectCorrect, filed, isThere, prune, receiptPath, told } from "../support/aging-files.ts";
import { filesBelow } from "../support/files-below.ts";
import { mayMount, startTinyDisk } from "../support/tiny-disk.ts";

describe.runIf(mayMount)("a disk to which old files are moved", () => {
  const text = "x".repeat(2 * 1024 * 1024);

  test("that is full keeps no part of a copy, and gets the file when it has room", async () => {
    const disk = startTinyDisk();
    try {
      const { location } = await filed(a, { text });
      const pass = { retention: { archive: 1, receipts: 1, moveTo: disk.path }, day: 30 };
      await prune(pass);
      expect(told.join()).toContain("ENOSPC");
      expect(isThere(location)).toBe(true);
      expect([...filesBelow(disk.path).keys()].filter((path) => path.includes("archive"))).toEqual([]);
      await expectCorrect({ applied: 1 });
      await disk.grow();
      expect(await prune(pass)).toMatchObject({ archive: [1, text.length] });
      expect(readFileSync(join(disk.path, "ACME/archive/2026-11-05", a), "utf8")).toBe(text);
      await expectCorrect({ applied: 1 });
    } finally {
      await disk.end();
    }
  });

  test("that may not be written gets nothing, and nothing is lost", async () => {
    const disk = startTinyDisk();
    try {
      const { location } = await filed(a);
      await disk.makeReadOnly();
      const pass = { retention: { archive: 1, receipts: 1, moveTo: disk.path }, day: 30 };
      expect(await prune(pass)).toEqual({});
      expect(told.join()).toContain("EROFS");
      expect([isThere(location), isThere(receiptPath(a))]).toEqual([true, true]);
      await expectCorrect({ applied: 1 });
    } finally {
      await disk.end();
    }
  });
});
