/** Old files that cannot go: a full disk, one that may not be written, a busy file (docs/retention.md#what-stays-of-a-file). */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { receiptNameOf } from "../../src/domain/files/stop-file-name.ts";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import {
  a,
  b,
  expectCorrect,
  filed,
  fixture,
  isThere,
  prune,
  receiptPath,
  told,
} from "../support/aging-files.ts";
import { filesBelow } from "../support/files-below.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mayMount, startTinyDisk } from "../support/tiny-disk.ts";

ledgerOfEachTest(fixture);

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

test.runIf(mayMount)(
  "one file that cannot be removed keeps none behind it, and goes when it can be",
  async () => {
    const { location } = await filed(a);
    const behind = Array.from({ length: 120 }, (_, number) => `${100 + number}_20261105_080000.xml`);
    for (const name of behind) await filed(name, { day: 1 });
    // What something is mounted on is busy.
    const path = join(fixture.stateDir, location);
    expect(spawnSync("mount", ["--bind", path, path]).status).toBe(0);
    const pass = { retention: { archive: 1 }, day: 30 };
    try {
      expect((await prune(pass))["archive"]?.[0]).toBe(behind.length);
      expect(told.filter((line) => line.includes("EBUSY"))).toHaveLength(1);
      await filed(b, { day: 2 });
      expect((await prune(pass))["archive"]?.[0]).toBe(1);
      await expectCorrect({ applied: behind.length + 2 });
    } finally {
      spawnSync("umount", [path]);
    }
    expect((await prune(pass))["archive"]?.[0]).toBe(1);
    expect(isThere(location)).toBe(false);
  },
);

test("a receipt that cannot be moved is left where it is, and the rest of the pass goes on", async () => {
  const moveTo = temporaryFolder();
  await filed(a);
  mkdirSync(join(moveTo, "ACME"));
  writeFileSync(join(moveTo, "ACME/receipts"), "x");
  const pass = { retention: { archive: 1, receipts: 1, moveTo }, day: 30 };
  expect(Object.keys(await prune(pass))).toEqual(["archive"]);
  expect(told.join()).toContain("old receipts cannot be moved");
  expect(readdirSync(join(fixture.stateDir, "companies/ACME/receipts"))).toEqual([receiptNameOf(a)]);
  rmSync(join(moveTo, "ACME/receipts"));
  expect(Object.keys(await prune(pass))).toEqual(["receipts"]);
});
