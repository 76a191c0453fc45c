import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { type FilingTask, fileGroupAway } from "./file-away.ts";

interface Ground {
  readonly task: FilingTask;
  readonly aside: string;
}

function ground(content: string): Ground {
  const folder = temporaryFolder();
  for (const name of ["inbound", "archive", "receipts"]) mkdirSync(join(folder, name));
  const task = {
    id: 7,
    from: join(folder, "inbound", "a.xml"),
    to: join(folder, "archive", "a.xml"),
    sha256: createHash("sha256").update(content).digest("hex"),
    receipt: "<receipt/>",
    receiptPaths: [join(folder, "receipts", "a.receipt.xml")],
  };
  return { task, aside: join(folder, "archive", "a.7.xml") };
}

test("a file that was moved before a crash is found moved; one that came under its name since then is left alone", () => {
  const { task } = ground("first");
  writeFileSync(task.to, "first");
  writeFileSync(task.from, "second");
  expect(fileGroupAway([task])).toEqual([{ id: 7, kind: "filed" }]);
  expect(readFileSync(task.from, "utf8")).toBe("second");
  expect(readFileSync(task.to, "utf8")).toBe("first");
});

test("a file that was moved aside before a crash is found there, not taken for the one in its place", () => {
  const { task, aside } = ground("ours");
  writeFileSync(task.to, "of somebody else");
  writeFileSync(task.from, "ours");
  expect(fileGroupAway([task])).toEqual([{ id: 7, kind: "filed", actual: aside }]);
  expect(fileGroupAway([task])).toEqual([{ id: 7, kind: "filed", actual: aside }]);
  writeFileSync(task.from, "sent since then");
  expect(fileGroupAway([task])).toEqual([{ id: 7, kind: "filed", actual: aside }]);
  expect(existsSync(task.from)).toBe(true);
  expect(readFileSync(task.to, "utf8")).toBe("of somebody else");
});
