import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { monotonicMs } from "../../lib/clock.ts";
import { isOwnCopy } from "./copy-mode.ts";
import { type FilingTask, fileGroupAway } from "./file-away.ts";

interface Ground {
  readonly task: FilingTask;
  readonly aside: string;
}

function ground(content: string): Ground {
  const folder = temporaryFolder();
  for (const name of ["inbound", "archive", "receipts"]) mkdirSync(join(folder, name));
  const task = {
    ...{ id: 7, companyId: 1 },
    reference: "sealed",
    from: join(folder, "inbound", "a.xml"),
    to: join(folder, "archive", "a.xml"),
    sha256: createHash("sha256").update(content).digest("hex"),
    receipt: "<receipt/>",
    receiptPaths: [join(folder, "receipts", "a.receipt.xml")],
  };
  return { task, aside: join(folder, "archive", "a.sealed.xml") };
}

test("a file that was moved before a crash is found moved; one that came under its name since then is left alone", () => {
  const { task } = ground("first");
  writeFileSync(task.to, "first");
  writeFileSync(task.from, "second");
  expect(fileGroupAway([task])).toEqual([{ id: 7, kind: "filed" }]);
  expect(readFileSync(task.from, "utf8")).toBe("second");
  expect(readFileSync(task.to, "utf8")).toBe("first");
});

test.each([undefined, 60_000])(
  "a copy has the mode of filed files in its place, and is none any more; within %s ms",
  (withinMs) => {
    const { task } = ground("ours");
    writeFileSync(task.from, "ours", { mode: 0o440 });
    expect(isOwnCopy(statSync(task.from))).toBe(true);
    const goodUntil = withinMs === undefined ? undefined : monotonicMs() + withinMs;
    fileGroupAway([{ ...task, goodUntil }]);
    expect(statSync(task.to).mode & 0o777).toBe(0o640);
    expect(isOwnCopy(statSync(task.to))).toBe(false);
  },
);

test("a file in whose place another lies has the reference in its name that hosts see, and not its number", () => {
  const { task, aside } = ground("ours");
  writeFileSync(task.to, "of somebody else");
  writeFileSync(task.from, "ours");
  fileGroupAway([task]);
  expect(readdirSync(dirname(aside)).sort()).toEqual(["a.sealed.xml", "a.xml"]);
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

test("what a crash left under a temporary name is replaced, and a link to bytes that arrived is not written through", () => {
  const { task } = ground("ours");
  writeFileSync(task.to, "ours");
  linkSync(task.to, join(dirname(task.to), ".7.tmp"));
  const receipts = join(dirname(task.to), "..", "receipts");
  writeFileSync(join(receipts, ".7.receipt.tmp"), "half of a longer receipt than the one to come");
  expect(fileGroupAway([{ ...task, receiptPaths: [join(receipts, "a.receipt.xml")] }])).toHaveLength(1);
  expect(readFileSync(task.to, "utf8")).toBe("ours");
  expect(readdirSync(receipts)).toEqual(["a.receipt.xml"]);
  expect(readFileSync(join(receipts, "a.receipt.xml"), "utf8")).toBe("<receipt/>");
});

test("the receipt of a file that was moved aside stands beside it, and replaces no other's", () => {
  const { task, aside } = ground("ours");
  const beside = join(dirname(task.to), "a.receipt.xml");
  writeFileSync(task.to, "of somebody else");
  writeFileSync(beside, "receipt of somebody else");
  writeFileSync(task.from, "ours");
  expect(fileGroupAway([{ ...task, receiptPaths: [beside] }])).toEqual([
    { id: 7, kind: "filed", actual: aside },
  ]);
  expect(readFileSync(beside, "utf8")).toBe("receipt of somebody else");
  expect(readdirSync(dirname(aside)).map((name) => basename(name))).toContain("a.sealed.receipt.xml");
});

test.each([
  ["<StopResponse></StopResponse>", false],
  ["bytes of a file of that name", true],
])("of the stale receipt %s it stays: %s", (content, stays) => {
  const { task } = ground("ours");
  writeFileSync(task.from, "ours");
  const staleReceiptPath = join(dirname(task.to), "b.receipt.xml");
  writeFileSync(staleReceiptPath, content);
  fileGroupAway([{ ...task, staleReceiptPath }]);
  expect(existsSync(staleReceiptPath)).toBe(stays);
});

test("a receipt that the disk takes a part of is not put into place", () => {
  const { task } = ground("ours");
  writeFileSync(task.from, "ours");
  const { receiptPaths } = task;
  // A limit on the size of files lets a write take a part, as a full disk does.
  const script = `
    process.on("SIGXFSZ", () => undefined);
    const { fileGroupAway } = await import(${JSON.stringify(join(import.meta.dirname, "file-away.ts"))});
    console.log(JSON.stringify(fileGroupAway([{ ...JSON.parse(process.argv[1]), receipt: "x".repeat(3000) }])));`;
  const node = `"$0" --experimental-strip-types --no-warnings --input-type=module -e "$1" "$2"`;
  const run = spawnSync(
    "bash",
    ["-c", `ulimit -f 2; ${node} | cat`, process.execPath, script, JSON.stringify(task)],
    { encoding: "utf8", timeout: 20_000 },
  );
  expect([run.stdout, run.stderr].join("")).toContain('"systemCode":"EFBIG"');
  expect(receiptPaths.some((path) => existsSync(path))).toBe(false);
});
