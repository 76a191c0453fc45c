import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultyPipeline, stopXml } from "../../../test/support/faulty-pipeline.ts";
import { sharedDocuments } from "../../../test/support/shared-documents.ts";
import { ledgerNumbers } from "../../../test/support/ledger-numbers.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { soleReceiptFiles } from "../places/receipt-files.ts";
import { recheckReceipts } from "../recovery/rewrite-receipts.ts";

const name = "a_20261105_080000.xml";
const log = createLogger({ level: "silent" });
let rig: FaultyPipeline;
let companyId: number;

beforeEach(async () => {
  rig = await FaultyPipeline.start({}, sharedDocuments);
  companyId = await rig.addCompany("ACME");
});
afterEach(() => rig.end());

const take = (content: string, fileName = name) => rig.take(companyId, fileName, content);

/** As a crash after the commit of the decision leaves the entry. */
async function unfile(...ids: readonly number[]): Promise<void> {
  await rig.store.write("site", (tx) =>
    tx
      .updateTable("files")
      .set({ is_filed: 0 })
      .where("id", "in", [...ids])
      .execute(),
  );
}

async function untilFiled(): Promise<void> {
  await waitFor("all to be filed", async () => (await rig.ledger(companyId)).every(({ isFiled }) => isFiled));
}

const receipt = () => rig.receiptOf(companyId, name);
const receiptPath = () =>
  join(rig.locations.receiptsDirectory("ACME"), name.replace(/\.xml$/, ".receipt.xml"));

describe("the receipt of a name whose files are filed away again at a start", () => {
  it("stays that of the file that was decided about later and is filed", async () => {
    await take(stopXml(["a"], "first"));
    await take(stopXml(["a"], "other"));
    expect(receipt()).toContain('ErrorMsgID="955"');
    await unfile(1);
    await rig.restart();
    await untilFiled();
    expect(receipt()).toContain('ErrorMsgID="955"');
  });

  it("is that of the last decision, also when the clock was set back between the two", async () => {
    let now = Date.UTC(2026, 10, 5, 9);
    rig.clock = { now: () => now };
    await take(stopXml(["a"], "first"));
    now -= 3_600_000;
    await take(stopXml(["a"], "other"));
    const [first, other] = await rig.ledger(companyId);
    expect(other?.decidedAt).toBeGreaterThan(first?.decidedAt ?? 0);
    for (const ids of [[1, 2], [1]]) {
      await unfile(...ids);
      await rig.restart();
      await untilFiled();
      expect(receipt()).toContain('ErrorMsgID="955"');
    }
  });

  it("is that of the last decision, also when the ledger has that entry before the other", async () => {
    await take("<Stop>");
    await take(stopXml(["a"], "other"));
    await rig.store.write("site", (tx) =>
      tx.updateTable("files").set({ state: "refused", decided_at: 1 }).where("id", "=", 2).execute(),
    );
    await rig.store.write("site", (tx) =>
      tx.updateTable("files").set({ state: "applied" }).where("id", "=", 1).execute(),
    );
    await unfile(1, 2);
    await rig.restart();
    await untilFiled();
    expect(receipt()).toContain('Ledger="');
    expect(receipt()).toContain(`Ledger="${ledgerNumbers.seal(1)}"`);
  });

  it("is not there while a file of the name waits, and is that of the file then", async () => {
    await take(stopXml(["a"], "first"));
    await unfile(1);
    rig.faults = {
      read: () => ({ kind: "unreadable", systemCode: "EIO", message: "as the test wants it" }),
      decide: () => undefined,
    };
    await rig.pipeline.arriveAll([rig.arrival(companyId, name, stopXml(["a"], "other"))]);
    await rig.restart();
    await waitFor("the first to be filed", async () => (await rig.ledger(companyId))[0]?.isFiled === true);
    expect(existsSync(receiptPath())).toBe(false);
    rig.faults = { read: () => undefined, decide: () => undefined };
    await untilFiled();
    expect(receipt()).toContain('ErrorMsgID="955"');
  });

  it("belongs to all names that differ in the case of the ending alone", async () => {
    rig.settings = { ...rig.settings, rulesFor: () => ({ names: "lenient", lateFiles: "refuse" }) };
    await take(stopXml(["a"], "first"));
    await take("<Stop>", name.replace(/xml$/, "XML"));
    expect(receipt()).toContain("<Status>99</Status>");
    await unfile(1);
    await rig.restart();
    await untilFiled();
    expect(receipt()).toContain("<Status>99</Status>");
  });
});

describe("receipts that a power failure took", () => {
  it("are written once for each name: that of the last decision", async () => {
    await take(stopXml(["a"], "first"));
    await take(stopXml(["a"], "other"));
    const last = receipt();
    const deps = { store: rig.store, locations: rig.locations, ledgerNumbers, log };
    const recheck = () =>
      recheckReceipts(
        { ...deps, receiptFiles: soleReceiptFiles, companyCodeOf: async () => "ACME" },
        Date.now() - 60_000,
      );
    expect(await recheck()).toBe(0);
    rmSync(receiptPath());
    expect(await recheck()).toBe(1);
    writeFileSync(receiptPath(), "");
    expect(await recheck()).toBe(1);
    expect(receipt()).toBe(last);
  });

  it("are written again but for one whose place is taken, which is told", async () => {
    const other = "b_20261105_080000.xml";
    await take(stopXml(["a"], "first"));
    await take(stopXml(["b"], "first"), other);
    const told: Record<string, unknown>[] = [];
    const telling = createLogger({
      level: "error",
      destination: { write: (line: string) => told.push(JSON.parse(line) as Record<string, unknown>) },
    });
    rmSync(receiptPath());
    mkdirSync(receiptPath());
    const otherPath = receiptPath().replace("a_2026", "b_2026");
    rmSync(otherPath);
    const deps = { store: rig.store, locations: rig.locations, ledgerNumbers, log: telling };
    const written = await recheckReceipts(
      { ...deps, receiptFiles: soleReceiptFiles, companyCodeOf: async () => "ACME" },
      Date.now() - 60_000,
    );
    expect(written).toBe(1);
    expect(existsSync(otherPath)).toBe(true);
    expect(told).toMatchObject([
      { company: "ACME", path: receiptPath(), msg: expect.stringContaining("clear its path") },
    ]);
  });
});
