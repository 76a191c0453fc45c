import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { createLimitedLog } from "../../lib/logs/limited-log.ts";
import { systemClock } from "../../lib/clock.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { pinFolder } from "../../lib/files/open-regular-file.ts";
import type { FilingTask } from "../places/file-away.ts";
import { FilingQueue } from "../places/filing-queue.ts";
import type { Arrival } from "../places/inbox.ts";
import { newAgainName, placeArrival } from "../places/place-arrival.ts";
import { soleReceiptFiles } from "../places/receipt-files.ts";
import { AwaitedReceipts, type ReceiptOwner } from "./awaited-receipts.ts";
import { FaultyPipeline, noFaults, stopXml, unreadable } from "../../../test/support/faulty-pipeline.ts";
import { sharedDocuments } from "../../../test/support/shared-documents.ts";

const name = "a_20261105_080000.xml";
const log = createLogger({ level: "silent" });
const refusedContent = "<Stop/>";
let rig: FaultyPipeline;
let companyId: number;

beforeEach(async () => {
  rig = await FaultyPipeline.start({}, sharedDocuments);
  companyId = await rig.addCompany("ACME");
});
afterEach(() => rig.end());

const receiptPath = (): string =>
  join(rig.locations.receiptsDirectory("ACME"), name.replace(/\.xml$/, ".receipt.xml"));

async function untilFiled(count: number): Promise<void> {
  await waitFor("the files to be filed", async () => {
    const entries = await rig.ledger(companyId);
    return entries.length === count && entries.every(({ isFiled }) => isFiled);
  });
}

async function process(content: string, count = 1): Promise<void> {
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, content)]);
  await untilFiled(count);
}

/** Gives a file its place as endpoints do, without handing it over. */
async function place(content: string): Promise<Arrival> {
  const from = join(rig.directory, "unfinished");
  writeFileSync(from, content);
  return await placeFrom(from, content.length);
}

/** What was begun about receipts is done: a file of another name goes the whole way behind it. */
async function settled(): Promise<void> {
  const count = (await rig.ledger(companyId)).length;
  await rig.pipeline.arriveAll([rig.arrival(companyId, "z_20261105_080000.xml", stopXml(["z"]))]);
  await untilFiled(count + 1);
}

async function placeFrom(from: string, size: number): Promise<Arrival> {
  const inbound = await pinFolder(rig.locations.inboundDirectory("ACME"));
  try {
    const arrival = { companyId, name, channel: "sftp", size } as const;
    return await placeArrival({ inbox: rig.pipeline }, { from, inbound, arrival });
  } finally {
    await inbound.close();
  }
}

test("the receipt of an earlier file of the name is gone when a file has its place", async () => {
  await process(stopXml(["a"], "first"));
  expect(readFileSync(receiptPath(), "utf8")).toContain("<Status>10</Status>");
  const placed = await place(stopXml(["a"], "other"));
  expect(existsSync(receiptPath())).toBe(false);
  await rig.pipeline.arriveAll([placed]);
  await untilFiled(2);
  expect(readFileSync(receiptPath(), "utf8")).toContain('ErrorMsgID="955"');
});

test("the same content again is answered with the first outcome again", async () => {
  await process(stopXml(["a"], "first"));
  const outcome = () => readFileSync(receiptPath(), "utf8").replace(/<StopResponse[^>]*>/, "");
  const first = outcome();
  const placed = await place(stopXml(["a"], "first"));
  expect(existsSync(receiptPath())).toBe(false);
  await rig.pipeline.arriveAll([placed]);
  await untilFiled(2);
  expect(outcome()).toBe(first);
});

test("the receipt of an earlier file that is decided about later does not appear in between", async () => {
  const release = await rig.pipeline.hold(companyId);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, refusedContent)]);
  const placed = await place(stopXml(["a"], "second"));
  release();
  await untilFiled(1);
  expect(existsSync(receiptPath())).toBe(false);
  const error = rig.locations.filedDirectory("ACME", "error", Date.now());
  expect(readdirSync(error)).toContain("a_20261105_080000.receipt.xml");
  await rig.pipeline.arriveAll([placed]);
  await untilFiled(2);
  expect(readFileSync(receiptPath(), "utf8")).toContain("<Status>10</Status>");
});

test("of two files of a name that wait the receipt is that of the last", async () => {
  const release = await rig.pipeline.hold(companyId);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, refusedContent)]);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, stopXml(["a"], "second"))]);
  release();
  await untilFiled(2);
  expect(readFileSync(receiptPath(), "utf8")).toContain("<Status>10</Status>");
});

test("a file that was reserved and never placed keeps no receipt back", async () => {
  const release = await rig.pipeline.hold(companyId);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, refusedContent)]);
  const path = join(rig.locations.inboundDirectory("ACME"), ".again", `0123456789ab-${name}`);
  rig.pipeline.reserve(path, { companyId, name });
  rig.pipeline.release(path);
  release();
  await untilFiled(1);
  expect(existsSync(receiptPath())).toBe(true);
});

test("a receipt that was removed for a file that then gets no place is there again", async () => {
  await process(stopXml(["a"], "first"));
  const receipt = readFileSync(receiptPath(), "utf8");
  // A folder in place of the file: it cannot be linked.
  mkdirSync(join(rig.directory, "unfinished"));
  await expect(placeFrom(join(rig.directory, "unfinished"), 1)).rejects.toThrow("EPERM");
  await waitFor("the receipt", () => existsSync(receiptPath()) || undefined);
  expect(readFileSync(receiptPath(), "utf8")).toBe(receipt);
});

test("a receipt that was left out for a file that then gets no place is written, unless the next one is on its way", async () => {
  const release = await rig.pipeline.hold(companyId);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, refusedContent)]);
  const paths = ["0123456789ab", "0123456789ac"].map((mark) =>
    join(rig.locations.inboundDirectory("ACME"), ".again", `${mark}-${name}`),
  );
  const [first = "", second = ""] = paths;
  rig.pipeline.reserve(first, { companyId, name });
  release();
  await untilFiled(1);
  expect(existsSync(receiptPath())).toBe(false);
  // The one that comes at once in its place keeps it back likewise.
  rig.pipeline.release(first);
  rig.pipeline.reserve(second, { companyId, name });
  await settled();
  expect(existsSync(receiptPath())).toBe(false);
  rig.pipeline.release(second);
  await waitFor("the receipt", () => existsSync(receiptPath()) || undefined);
  expect(readFileSync(receiptPath(), "utf8")).toContain("<Status>99</Status>");
});

test("a receipt that its host has deleted does not come back with an upload that fails", async () => {
  await process(stopXml(["a"], "first"));
  rmSync(receiptPath());
  mkdirSync(join(rig.directory, "unfinished"));
  await expect(placeFrom(join(rig.directory, "unfinished"), 1)).rejects.toThrow("EPERM");
  await settled();
  expect(existsSync(receiptPath())).toBe(false);
});

test("a file that has come to inbound/ by itself is in the ledger only when the earlier receipt is gone", async () => {
  await process(stopXml(["a"], "first"));
  const release = await rig.pipeline.hold(companyId);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, stopXml(["a"], "other"), "folder")]);
  expect(await rig.ledger(companyId)).toHaveLength(2);
  expect(existsSync(receiptPath())).toBe(false);
  release();
  await untilFiled(2);
  expect(existsSync(receiptPath())).toBe(true);
});

test("a receipt that cannot be removed refuses an upload, and holds up no file of a folder", async () => {
  mkdirSync(receiptPath(), { recursive: true });
  await expect(place(stopXml(["a"]))).rejects.toThrow("EISDIR");
  expect(readdirSync(rig.locations.inboundDirectory("ACME"))).toEqual([".again"]);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, stopXml(["a"]), "folder")]);
  await waitFor("the decision", async () => (await rig.states(companyId))[name] === "applied");
  rmSync(receiptPath(), { recursive: true });
});

test("after a start no receipt is there of what lies in inbound/", async () => {
  await process(stopXml(["a"], "first"));
  const receipts = rig.locations.receiptsDirectory("ACME");
  const other = join(receipts, "b_20261105_080000.receipt.xml");
  writeFileSync(other, "of b");
  const again = join(receipts, "c_20261105_080000.receipt.xml");
  writeFileSync(again, "of c");
  const inbound = rig.locations.inboundDirectory("ACME");
  writeFileSync(join(inbound, name), "of a crash");
  writeFileSync(join(inbound, ".again", "0123456789ab-c_20261105_080000.xml"), "of a crash");
  await rig.restart();
  expect(existsSync(receiptPath())).toBe(false);
  expect(existsSync(again)).toBe(false);
  expect(readFileSync(other, "utf8")).toBe("of b");
});

test("a receipt whose file is filed late, after a fault, does not replace the one of a later file", async () => {
  const folder = temporaryFolder();
  const taskOf = (id: number): FilingTask => ({
    ...{ id, companyId: 1 },
    reference: String(id),
    from: join(folder, `from${id}`),
    to: join(folder, `day${id}`, "a.xml"),
    sha256: null,
    receipt: `receipt ${id}`,
    receiptPaths: [join(folder, "receipts", "a.receipt.xml")],
  });
  for (const id of [1, 2]) writeFileSync(join(folder, `from${id}`), "x");
  writeFileSync(join(folder, "day1"), "in the way");
  const queue = new FilingQueue({
    store: { write: async () => undefined as never, writeSoon: async () => undefined as never },
    toLedger: (path) => path,
    isAwaited: () => false,
    clock: systemClock,
    log,
    failing: createLimitedLog(log),
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const filed: number[] = [];
    for (const id of [1, 2]) queue.add(taskOf(id), "1/a.receipt.xml", { done: () => void filed.push(id) });
    await queue.drain();
    expect(filed).toEqual([2]);
    rmSync(join(folder, "day1"));
    vi.advanceTimersByTime(10_000);
    await queue.drain();
    expect(filed).toEqual([2, 1]);
    expect(existsSync(join(folder, "day1", "a.xml"))).toBe(true);
    expect(readFileSync(join(folder, "receipts", "a.receipt.xml"), "utf8")).toBe("receipt 2");
  } finally {
    vi.useRealTimers();
    await queue.close();
  }
});

test("at a start the receipt of a name that is too long for `.again` is gone as well, while its file waits", async () => {
  const long = `${"n".repeat(245)}.xml`;
  const receipt = join(rig.locations.receiptsDirectory("ACME"), receiptNameOf(long));
  await rig.pipeline.arriveAll([rig.arrival(companyId, long, refusedContent)]);
  await untilFiled(1);
  expect(existsSync(receipt)).toBe(true);
  rig.faults = { ...noFaults, read: () => unreadable("EIO") };
  const path = join(rig.locations.inboundDirectory("ACME"), ".again", newAgainName(long));
  writeFileSync(path, refusedContent);
  const arrival = { companyId, name: long, path, channel: "sftp", size: refusedContent.length } as const;
  await rig.pipeline.arriveAll([arrival]);
  // As after a power failure that took the removal of the receipt.
  writeFileSync(receipt, "<StopResponse/>");
  await rig.restart();
  expect(existsSync(receipt)).toBe(false);
  rig.faults = noFaults;
  await untilFiled(2);
  expect(readFileSync(receipt, "utf8")).toContain("<Status>99</Status>");
});

test("a file that is in line twice for one entry has its receipt: what was left out for the second is written when that is gone", async () => {
  const release = await rig.pipeline.hold(companyId);
  await rig.pipeline.arriveAll([rig.arrival(companyId, name, stopXml(["a"]))]);
  const [entry] = await rig.ledger(companyId);
  if (entry === undefined) throw new Error("there is no entry");
  await rig.pipeline.retry({ ...entry, retriedAt: undefined });
  release();
  await untilFiled(1);
  await waitFor("its receipt", () => existsSync(receiptPath()));
  expect(readFileSync(receiptPath(), "utf8")).toContain("<Status>10</Status>");
});

test("a receipt that another node may have removed comes again when its file is gone, unless it was collected", async () => {
  const restored: boolean[] = [];
  const receipts = new AwaitedReceipts({
    ...{ locations: rig.locations, receiptFiles: soleReceiptFiles, companyCodeOf: async () => "ACME" },
    idle: async () => undefined,
    restore: async (_owner, { isCollectedToo }) => {
      restored.push(isCollectedToo);
      return "written";
    },
    failing: createLimitedLog(log, { maxLines: 1, windowMs: 1_000 }),
  });
  const owner = { companyId, name };
  const onItsWay = (end: (owner: ReceiptOwner) => void, removedElsewhere: boolean) => {
    receipts.add(owner);
    if (removedElsewhere) receipts.removedElsewhere(owner);
    end(owner);
  };
  onItsWay((one) => receipts.gone(one), true);
  expect(restored).toEqual([false]);
  // Decided about: its own receipt is there.
  onItsWay((one) => receipts.delete(one), true);
  onItsWay((one) => receipts.gone(one), false);
  receipts.removedElsewhere(owner);
  onItsWay((one) => receipts.gone(one), false);
  expect(restored).toEqual([false]);
  receipts.stop();
  // As the end of an upload that outlasts the lease gives its reservation back.
  onItsWay((one) => receipts.gone(one), true);
  expect(restored).toEqual([false]);
});

test("receipts of files that wait are looked for side by side, and no more of them when the company is lost", async () => {
  const inbound = rig.locations.inboundDirectory("ACME");
  for (let second = 0; second < 60; second += 1)
    writeFileSync(join(inbound, `w_20261105_0800${String(second).padStart(2, "0")}.xml`), "<Stop/>");
  const asked: string[] = [];
  const ends: (() => void)[] = [];
  const receipts = new AwaitedReceipts({
    ...{ locations: rig.locations, companyCodeOf: async () => "ACME", idle: async () => undefined },
    receiptFiles: {
      ...soleReceiptFiles,
      async remove(path) {
        asked.push(path);
        await new Promise<void>((resolve) => ends.push(resolve));
        return false;
      },
    },
    restore: async () => "written",
    failing: createLimitedLog(log, { maxLines: 1, windowMs: 1_000 }),
  });
  const lost = new AbortController();
  const clearing = receipts.clearWaiting(lost.signal, "ACME");
  await waitFor("several to be asked for", () => ends.length > 1);
  const before = asked.length;
  lost.abort();
  for (const end of ends) end();
  await clearing;
  expect(asked).toHaveLength(before);
  expect(before).toBeLessThan(60);
});
