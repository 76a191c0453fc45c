/** Receipts that a dead node may have lost, compared and written again while the work of its company goes on. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { FaultyPipeline, stopXml } from "../../../test/support/faulty-pipeline.ts";
import { ledgerNumbers } from "../../../test/support/ledger-numbers.ts";
import { sharedDocuments } from "../../../test/support/shared-documents.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createLimitedLog } from "../../lib/logs/limited-log.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { soleReceiptFiles } from "../places/receipt-files.ts";
import type { AwaitedReceipts } from "../receipts/awaited-receipts.ts";
import { listLeftReceipts, OrphanedReceipts } from "./orphaned-receipts.ts";
import { createAwaitedReceipts } from "./rewrite-receipts.ts";

const name = "a_20261105_080000.xml";
const told: Record<string, unknown>[] = [];
const log = createLogger({
  level: "warn",
  destination: { write: (line: string) => told.push(JSON.parse(line) as Record<string, unknown>) },
});
const failing = createLimitedLog(log, { maxLines: 5, windowMs: 60_000 });

describe("receipts of a dead node's company", () => {
  let rig: FaultyPipeline;
  let companyId: number;
  let receipts: AwaitedReceipts;
  let now: number;
  let isHere: boolean;
  /** Whoever writes receipts at the moment has ended. */
  let idle: () => Promise<void>;

  beforeEach(async () => {
    rig = await FaultyPipeline.start({}, sharedDocuments);
    companyId = await rig.addCompany("ACME");
    told.length = 0;
    [now, isHere, idle] = [0, true, async () => undefined];
    vi.spyOn(performance, "now").mockImplementation(() => now);
    receipts = createAwaitedReceipts({ ...deps(), idle: () => idle() });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await rig.end();
  });

  const deps = () => ({
    ...{ store: rig.store, locations: rig.locations, ledgerNumbers, log, failing },
    ...{ receiptFiles: soleReceiptFiles, companyCodeOf: async () => "ACME" },
  });
  const owner = () => ({ companyId, name });
  const receiptPath = (of = name) =>
    join(rig.locations.receiptsDirectory("ACME"), of.replace(/\.xml$/, ".receipt.xml"));
  const read = (path: string) => readFileSync(path, "utf8");

  const take = (content: string, fileName = name) => rig.take(companyId, fileName, content);

  /** As they are when their node has just died, or some time ago. */
  async function left(orphanedAt = Date.now() + 1_000): Promise<OrphanedReceipts> {
    const company = { companyId, companyCode: "ACME", orphanedAt };
    const ownership = { fenceOf: () => (isHere ? { companyId, epoch: 1 } : undefined) };
    const found = await listLeftReceipts(rig, company);
    if (found === undefined) throw new Error("no node has died");
    return new OrphanedReceipts({ ...deps(), company, ownership, receipts }, found);
  }

  async function look(orphaned: OrphanedReceipts, afterMs = 0): Promise<void> {
    now += afterMs;
    await orphaned.look(new AbortController().signal);
  }

  it("are left alone when they are as the ledger has them", async () => {
    await take(stopXml(["a"], "first"));
    const orphaned = await left();
    expect(orphaned.isDone).toBe(false);
    await look(orphaned);
    expect(orphaned.isDone).toBe(true);
  });

  it("are written at once when they are torn, in receipts/ and beside the file", async () => {
    await take("<Stop>");
    const [entry] = await rig.ledger(companyId);
    const beside = rig.locations.fromLedger(entry?.location ?? "").replace(/\.xml$/, ".receipt.xml");
    const text = read(receiptPath());
    for (const path of [receiptPath(), beside]) writeFileSync(path, text.slice(0, 20));
    const orphaned = await left();
    await look(orphaned);
    expect([read(receiptPath()), read(beside)]).toEqual([text, text]);
    expect(orphaned.isDone).toBe(true);
  });

  it("are given back beside their file when a node died as it wrote them there, and what is left of that goes", async () => {
    await take("<Stop>");
    const [entry] = await rig.ledger(companyId);
    const beside = rig.locations.fromLedger(entry?.location ?? "").replace(/\.xml$/, ".receipt.xml");
    await rig.store.write(companyId, (tx) =>
      tx.updateTable("files").set({ receipt_collected_at: 1 }).execute(),
    );
    const [text, names] = [read(beside), readdirSync(dirname(beside))];
    const leave = (ending: string, content = text) =>
      writeFileSync(join(dirname(beside), `.again.0123abcd.gone${ending}`), content);
    leave(".new", text.slice(0, 20));
    leave(".former");
    rmSync(beside);
    const orphaned = await left();
    await look(orphaned);
    expect(readdirSync(dirname(beside))).toEqual(names);
    expect(read(beside)).toBe(text);
    leave("");
    leave(".former", "torn");
    const again = await left();
    isHere = false;
    await look(again);
    expect(readdirSync(dirname(beside))).toHaveLength(names.length + 2);
    isHere = true;
    await look(again);
    expect(readdirSync(dirname(beside))).toEqual(names);
    expect([orphaned.isDone, again.isDone]).toEqual([true, true]);
  });

  it("are written six seconds later when they are missing, unless they were collected by then", async () => {
    const collected = "b_20261105_080000.xml";
    await take(stopXml(["a"], "first"));
    await take(stopXml(["b"], "first"), collected);
    for (const one of [name, collected]) rmSync(receiptPath(one));
    const orphaned = await left();
    await look(orphaned);
    await look(orphaned, 5_900);
    expect(readdirSync(dirname(receiptPath()))).toEqual([]);
    await rig.store.write(companyId, (tx) =>
      tx.updateTable("files").set({ receipt_collected_at: 1 }).where("name", "=", collected).execute(),
    );
    await look(orphaned, 200);
    expect(existsSync(receiptPath())).toBe(true);
    expect(existsSync(receiptPath(collected))).toBe(false);
    expect(orphaned.isDone).toBe(true);
  });

  it("are not written while a file of the name is on its way, and are when that comes to nothing", async () => {
    await take(stopXml(["a"], "first"));
    rmSync(receiptPath());
    const orphaned = await left();
    receipts.add(owner());
    await look(orphaned);
    await look(orphaned, 6_100);
    expect(existsSync(receiptPath())).toBe(false);
    expect(orphaned.isDone).toBe(true);
    receipts.gone(owner());
    await waitFor("the receipt to be there", () => existsSync(receiptPath()));
  });

  it("are not written while a file of the name lies in inbound/ that nobody knows of yet", async () => {
    await take(stopXml(["a"], "first"));
    rmSync(receiptPath());
    const next = join(rig.locations.inboundDirectory("ACME"), ".again", `0123456789ab-${name}`);
    mkdirSync(dirname(next), { recursive: true });
    writeFileSync(next, "");
    const orphaned = await left();
    await look(orphaned);
    await look(orphaned, 6_100);
    expect(existsSync(receiptPath())).toBe(false);
    rmSync(next);
    await look(orphaned, 6_100);
    expect(existsSync(receiptPath())).toBe(true);
  });

  it("are left to the next node when a look is stopped, however long they have waited", async () => {
    await take(stopXml(["a"], "first"));
    rmSync(receiptPath());
    const orphaned = await left();
    await look(orphaned);
    now += 70_000;
    await orphaned.look(AbortSignal.abort());
    expect(orphaned.isDone).toBe(false);
    await look(orphaned);
    expect(existsSync(receiptPath())).toBe(true);
  });

  it("are not written over that of a file of the name which came meanwhile, however it came in between", async () => {
    await take(stopXml(["a"], "first"));
    writeFileSync(receiptPath(), "torn");
    const orphaned = await left();
    idle = async () => {
      receipts.add(owner());
      receipts.delete(owner());
      writeFileSync(receiptPath(), "of the file that came");
    };
    await look(orphaned);
    expect(read(receiptPath())).toBe("of the file that came");
    expect(orphaned.isDone).toBe(false);
    idle = async () => undefined;
    await take(stopXml(["a"], "other"));
    rmSync(receiptPath());
    for (let looks = 0; looks < 3; looks += 1) await look(orphaned, 6_100);
    expect(existsSync(receiptPath())).toBe(false);
    expect(orphaned.isDone).toBe(true);
  });

  it("are not written by a node that has lost the company", async () => {
    await take(stopXml(["a"], "first"));
    writeFileSync(receiptPath(), "torn");
    const orphaned = await left();
    isHere = false;
    await look(orphaned);
    expect(read(receiptPath())).toBe("torn");
    expect(orphaned.isDone).toBe(false);
  });

  it("are written but for one whose place is taken, which is told", async () => {
    const other = "b_20261105_080000.xml";
    await take(stopXml(["a"], "first"));
    await take(stopXml(["b"], "first"), other);
    rmSync(receiptPath());
    mkdirSync(receiptPath());
    rmSync(receiptPath(other));
    const orphaned = await left();
    await look(orphaned);
    await look(orphaned, 6_100);
    expect(existsSync(receiptPath(other))).toBe(true);
    expect(orphaned.isDone).toBe(true);
    expect(told).toMatchObject([
      { company: "ACME", path: receiptPath(), msg: expect.stringContaining("clear its path") },
    ]);
  });

  it("are written where one cannot be read, and that one with them", async () => {
    const other = "b_20261105_080000.xml";
    await take(stopXml(["a"], "first"));
    await take(stopXml(["b"], "first"), other);
    const texts = [name, other].map((of) => read(receiptPath(of)));
    rmSync(receiptPath());
    const socket = createServer().listen(receiptPath());
    onTestFinished(() => void socket.close());
    writeFileSync(receiptPath(other), "torn");
    await look(await left());
    expect([name, other].map((of) => read(receiptPath(of)))).toEqual(texts);
    expect(told).toMatchObject([
      { path: receiptPath(), msg: "a receipt cannot be read; writing it again", err: { code: "ENXIO" } },
    ]);
  });

  it("are written once more when a further node wrote them, unless a host has collected them since", async () => {
    const collected = "b_20261105_080000.xml";
    await take(stopXml(["a"], "first"));
    await take(stopXml(["b"], "first"), collected);
    const inodes = () => [name, collected].map((of) => statSync(receiptPath(of)).ino);
    const before = inodes();
    const orphaned = await left(Date.now() - 10_000);
    const inTheWay = [name, collected].map((of) => join(rig.locations.inboundDirectory("ACME"), of));
    for (const path of inTheWay) writeFileSync(path, "");
    await look(orphaned);
    expect(inodes()).toEqual(before);
    await rig.store.write(companyId, (tx) =>
      tx.updateTable("files").set({ receipt_collected_at: 1 }).where("name", "=", collected).execute(),
    );
    for (const path of inTheWay) rmSync(path);
    await look(orphaned, 6_100);
    expect(inodes().map((ino, at) => ino === before[at])).toEqual([false, true]);
    expect(orphaned.isDone).toBe(true);
  });

  it("are told of when they could not be written for a minute", async () => {
    await take(stopXml(["a"], "first"));
    rmSync(dirname(receiptPath()), { recursive: true });
    const orphaned = await left();
    await look(orphaned);
    writeFileSync(dirname(receiptPath()), "in the way");
    for (let looks = 0; looks < 10; looks += 1) await look(orphaned, 6_100);
    expect(orphaned.isDone).toBe(false);
    await look(orphaned, 6_100);
    expect(orphaned.isDone).toBe(true);
    const [entry] = await rig.ledger(companyId);
    expect(told.at(-1)).toMatchObject({ company: "ACME", entries: [entry?.id] });
    expect(told.at(-1)?.["msg"]).toContain("`dropgate file ENTRY` shows what they would say");
  });
});
