/** What a node leaves that woke up amid a move of a file that another node had filed meanwhile, and died then. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { ledgerNumbers } from "../../../test/support/ledger-numbers.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { createLimitedLog } from "../../lib/logs/limited-log.ts";
import { FilingThread } from "../places/filing-thread.ts";
import { type ReceiptFiles, SharedReceiptFiles } from "../places/receipt-files.ts";
import type { AwaitedReceipts } from "../receipts/awaited-receipts.ts";
import { ledgerOfEachTest } from "../testing/ledger-fixture.ts";
import { createAwaitedReceipts } from "./rewrite-receipts.ts";
import { TakenNames } from "./taken-names.ts";

const name = "4711_20261105_080000.xml";
const mark = "0123abcd";
const lines: string[] = [];
const log = createLogger({ level: "warn", destination: { write: (line) => void lines.push(line) } });
const failing = createLimitedLog(log, { maxLines: 5, windowMs: 60_000 });
const faults = () => lines.filter((line) => line.includes("cannot be"));

describe("a name that a node had taken away before it died", () => {
  const fixture = ledgerOfEachTest();
  let receipts: AwaitedReceipts;
  let taken: TakenNames;
  let isHere: boolean;
  let receiptFiles: ReceiptFiles;
  const filingThread = new FilingThread();
  afterAll(() => filingThread.close());

  beforeEach(() => {
    const { store, locations, companyId } = fixture;
    const companyCodeOf = async () => "ACME";
    lines.length = 0;
    const goodForMs = () => (isHere ? 60_000 : 0);
    receiptFiles = new SharedReceiptFiles(filingThread, goodForMs);
    receipts = createAwaitedReceipts({
      ...{ store, locations, ledgerNumbers, companyCodeOf, failing, receiptFiles },
      idle: async () => undefined,
    });
    const company = { companyId, companyCode: "ACME", orphanedAt: undefined };
    isHere = true;
    const ownership = { fenceOf: () => (isHere ? { companyId, epoch: 1, goodForMs } : undefined) };
    taken = new TakenNames({
      ...{ company, ownership, store, locations, ledgerNumbers, receipts, filingThread, log, failing },
    });
    for (const folder of [inbound(".again"), dirname(receiptPath())]) mkdirSync(folder, { recursive: true });
  });

  afterEach(() => expect(faults()).toEqual([]));

  const inbound = (...parts: string[]) => join(fixture.locations.inboundDirectory("ACME"), ...parts);
  const receiptPath = () =>
    join(fixture.locations.receiptsDirectory("ACME"), name.replace(/xml$/, "receipt.xml"));
  const archived = () => join(fixture.stateDir, "companies/ACME/archive/2026-11-05", name);
  const namesIn = (folder: string) => readdirSync(folder).filter((one) => one !== ".again");

  /** A file that is decided, and filed unless told otherwise, with its receipt. */
  async function decided({ isFiled = true } = {}): Promise<number> {
    const id = await fixture.wait(name, { text: "ours" });
    rmSync(inbound(name));
    const location = `companies/ACME/archive/2026-11-05/${name}`;
    await fixture.decide(id, { state: "applied", location, text: "ours", isFiled });
    writeFileSync(receiptPath(), "");
    await receipts.writeAgain({ companyId: fixture.companyId, name });
    return id;
  }

  const look = () => taken.look(new AbortController().signal);
  async function twice(): Promise<void> {
    await look();
    await look();
  }

  it("is given back at the second look when it is that of a file which came since", async () => {
    const id = await decided();
    writeFileSync(inbound(`.${id}.${mark}.gone`), "newer");
    await look();
    expect(namesIn(inbound())).toEqual([`.${id}.${mark}.gone`]);
    await look();
    expect(namesIn(inbound())).toEqual([name]);
    expect(readFileSync(inbound(name), "utf8")).toBe("newer");
  });

  it("is given back to `.again` when a third file has the name", async () => {
    const id = await decided();
    writeFileSync(inbound(`.${id}.${mark}.gone`), "newer");
    writeFileSync(inbound(name), "newest");
    await twice();
    expect(readFileSync(inbound(name), "utf8")).toBe("newest");
    const again = readdirSync(inbound(".again"));
    expect(again).toEqual([expect.stringMatching(new RegExp(`^[0-9a-f]{12}-${name}$`))]);
    expect(readFileSync(inbound(".again", String(again[0])), "utf8")).toBe("newer");
  });

  it("is found when it comes after a time in which nothing did", async () => {
    const id = await decided();
    for (let nth = 0; nth < 4; nth += 1) await look();
    writeFileSync(inbound(`.${id}.${mark}.gone`), "newer");
    await twice();
    expect(namesIn(inbound())).toEqual([name]);
  });

  it("is given back once where the node had died while it gave it back", async () => {
    const id = await decided();
    writeFileSync(inbound(name), "newer");
    linkSync(inbound(name), inbound(`.${id}.${mark}.gone`));
    await twice();
    expect([namesIn(inbound()), readdirSync(inbound(".again"))]).toEqual([[name], []]);
    expect(statSync(inbound(name)).nlink).toBe(1);
  });

  it("of `.again` is given back there when a third file has the name", async () => {
    const again = `0123456789ab-${name}`;
    const id = await fixture.wait(name, { text: "ours" });
    await fixture.decide(id, {
      state: "applied",
      location: "companies/ACME/archive/2026-11-05/x.xml",
      text: "ours",
    });
    rmSync(inbound(name));
    await fixture.store.write("site", async (tx) => {
      const source = `companies/ACME/inbound/.again/${again}`;
      await tx.updateTable("files").set({ source }).where("id", "=", id).execute();
    });
    writeFileSync(inbound(".again", `.${id}.${mark}.gone`), "newer");
    writeFileSync(inbound(".again", again), "newest");
    await twice();
    const texts = readdirSync(inbound(".again")).map((one) => readFileSync(inbound(".again", one), "utf8"));
    expect(texts.sort()).toEqual(["newer", "newest"]);
    expect(readdirSync(inbound(".again")).every((one) => one.endsWith(`-${name}`))).toBe(true);
  });

  it("is given back under its name when the entry was tried again since, from another place", async () => {
    const id = await decided();
    await fixture.store.write("site", async (tx) => {
      const source = `companies/ACME/error/2026-11-05/${name}`;
      await tx.updateTable("files").set({ source, is_filed: 0 }).where("id", "=", id).execute();
    });
    writeFileSync(inbound(`.${id}.${mark}.gone`), "newer");
    await twice();
    expect(readFileSync(inbound(name), "utf8")).toBe("newer");
  });

  it("keeps no other back when it cannot be ended", async () => {
    const id = await decided();
    mkdirSync(inbound(`.${id}.00000000.gone`));
    writeFileSync(inbound(`.${id}.${mark}.gone`), "newer");
    await twice();
    expect(readFileSync(inbound(name), "utf8")).toBe("newer");
    expect(faults()).toHaveLength(1);
    lines.length = 0;
  });

  it("is removed when it is a further one of the file that was filed", async () => {
    const id = await decided();
    linkSync(archived(), inbound(`.${id}.${mark}.gone`));
    await twice();
    expect(namesIn(inbound())).toEqual([]);
    expect(statSync(archived()).nlink).toBe(1);
  });

  it("is left to the task while the file is not filed, and when the ledger does not know it", async () => {
    const id = await decided({ isFiled: false });
    const names = [`.${id}.${mark}.gone`, `.999.${mark}.gone`];
    for (const one of names) writeFileSync(inbound(one), "newer");
    await twice();
    expect(namesIn(inbound()).sort()).toEqual([...names].sort());
  });

  it("is left to the node that has the company by then", async () => {
    const id = await decided();
    writeFileSync(inbound(`.${id}.${mark}.gone`), "newer");
    await look();
    isHere = false;
    await look();
    expect(namesIn(inbound())).toEqual([`.${id}.${mark}.gone`]);
  });

  it("is left alone when it is no name of that kind", async () => {
    const names = [".upload.gone", `.7.${mark}.tmp`, "7.gone"];
    for (const one of names) writeFileSync(inbound(one), "of another");
    await twice();
    expect(namesIn(inbound()).sort()).toEqual([...names].sort());
  });

  it.each([".again.0123abcd.gone", ".again.0123abcd.gone.former", ".7.0123abcd.gone.former"])(
    "of a receipt, %s, has the receipt written again",
    async (left) => {
      await decided();
      const text = readFileSync(receiptPath(), "utf8");
      expect(text).toContain("<StopResponse");
      rmSync(receiptPath());
      writeFileSync(join(dirname(receiptPath()), left), text);
      await twice();
      expect(readFileSync(receiptPath(), "utf8")).toBe(text);
      expect(readdirSync(dirname(receiptPath()))).toHaveLength(1);
    },
  );

  const pruned = (id: number) => join(dirname(receiptPath()), `.${id}.pruned`);

  it("of a receipt that was taken aside as too old is given back", async () => {
    const id = await decided();
    const text = readFileSync(receiptPath(), "utf8");
    renameSync(receiptPath(), pruned(id));
    await look();
    expect(existsSync(receiptPath())).toBe(false);
    await look();
    expect([readFileSync(receiptPath(), "utf8"), existsSync(pruned(id))]).toEqual([text, false]);
  });

  it("of a receipt that was taken aside as too old gives way to a newer one", async () => {
    const id = await decided();
    renameSync(receiptPath(), pruned(id));
    writeFileSync(receiptPath(), "newer");
    await twice();
    expect([readFileSync(receiptPath(), "utf8"), existsSync(pruned(id))]).toEqual(["newer", false]);
  });

  it("of a receipt that was taken aside as too old stays for the next owner", async () => {
    const id = await decided();
    renameSync(receiptPath(), pruned(id));
    isHere = false;
    await twice();
    expect([existsSync(receiptPath()), existsSync(pruned(id))]).toEqual([false, true]);
  });

  it("of a receipt has none written while a file of the name is on its way, but after that", async () => {
    await decided();
    const text = readFileSync(receiptPath(), "utf8");
    rmSync(receiptPath());
    writeFileSync(join(dirname(receiptPath()), `.again.${mark}.gone`), text);
    receipts.reserve(inbound(name), { companyId: fixture.companyId, name });
    await twice();
    expect(existsSync(receiptPath())).toBe(false);
    receipts.release(inbound(name));
    await look();
    expect(existsSync(receiptPath())).toBe(true);
    expect(readFileSync(receiptPath(), "utf8")).toBe(text);
  });

  it("of a receipt stays for the next owner when the lease is over before that is written", async () => {
    await decided();
    const text = readFileSync(receiptPath(), "utf8");
    rmSync(receiptPath());
    const left = join(dirname(receiptPath()), `.again.${mark}.gone`);
    writeFileSync(left, text);
    const write = receiptFiles.write.bind(receiptFiles);
    receiptFiles.write = (path, written) => {
      isHere = false;
      return write(path, written);
    };
    await twice();
    expect([existsSync(receiptPath()), existsSync(left)]).toEqual([false, true]);
  });

  it("of a receipt keeps nothing back when that cannot be written", async () => {
    const id = await decided();
    const left = join(dirname(receiptPath()), `.again.${mark}.gone`);
    writeFileSync(left, readFileSync(receiptPath(), "utf8"));
    rmSync(receiptPath());
    mkdirSync(receiptPath());
    await twice();
    expect(faults()).toHaveLength(1);
    lines.length = 0;
    rmSync(receiptPath(), { recursive: true });
    writeFileSync(inbound(`.${id}.${mark}.gone`), "newer");
    await twice();
    expect(readFileSync(inbound(name), "utf8")).toBe("newer");
    expect(readFileSync(receiptPath(), "utf8")).toContain("<StopResponse");
    expect(existsSync(left)).toBe(false);
  });

  it("of the receipt of an earlier file of the name has none written where the later one was collected", async () => {
    await decided();
    const text = readFileSync(receiptPath(), "utf8");
    rmSync(receiptPath());
    writeFileSync(join(dirname(receiptPath()), `.again.${mark}.gone.former`), text);
    const later = await fixture.wait(name, { text: "later" });
    rmSync(inbound(name));
    const location = `companies/ACME/archive/2026-11-06/${name}`;
    await fixture.decide(later, { state: "applied", location, text: "later", isFiled: true });
    await fixture.store.write("site", async (tx) => {
      await tx.updateTable("files").set({ receipt_collected_at: 1 }).where("id", "=", later).execute();
    });
    await twice();
    expect(readdirSync(dirname(receiptPath()))).toEqual([]);
  });

  it("of a receipt that was collected is removed", async () => {
    const id = await decided();
    const text = readFileSync(receiptPath(), "utf8");
    rmSync(receiptPath());
    writeFileSync(join(dirname(receiptPath()), `.${id}.${mark}.gone.former`), text);
    await fixture.store.write("site", async (tx) => {
      await tx.updateTable("files").set({ receipt_collected_at: 1 }).where("id", "=", id).execute();
    });
    await twice();
    expect(readdirSync(dirname(receiptPath()))).toEqual([]);
  });

  it.each([
    ["half of it", "<StopRes"],
    ["all of it", undefined],
  ])("of a receipt on its way to its place, %s, is removed", async (_, part) => {
    await decided();
    const text = readFileSync(receiptPath(), "utf8");
    rmSync(receiptPath());
    writeFileSync(join(dirname(receiptPath()), `.again.${mark}.gone.new`), part ?? text);
    await twice();
    expect(readdirSync(dirname(receiptPath()))).toEqual([]);
  });
});
