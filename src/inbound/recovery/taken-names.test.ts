/** What a node leaves that woke up amid a move of a file that another node had filed meanwhile, and died then. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { ledgerNumbers } from "../../../test/support/ledger-numbers.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { createLimitedLog } from "../../lib/logs/limited-log.ts";
import { soleReceiptFiles } from "../places/receipt-files.ts";
import type { AwaitedReceipts } from "../receipts/awaited-receipts.ts";
import { ledgerOfEachTest } from "../testing/ledger-fixture.ts";
import { createAwaitedReceipts } from "./rewrite-receipts.ts";
import { TakenNames } from "./taken-names.ts";

const name = "4711_20261105_080000.xml";
const mark = "0123abcd";
const log = createLogger({ level: "silent" });
const failing = createLimitedLog(log, { maxLines: 5, windowMs: 60_000 });

describe("a name that a node had taken away before it died", () => {
  const fixture = ledgerOfEachTest();
  let receipts: AwaitedReceipts;
  let taken: TakenNames;
  let isHere: boolean;

  beforeEach(() => {
    const { store, locations, companyId } = fixture;
    const companyCodeOf = async () => "ACME";
    receipts = createAwaitedReceipts({
      ...{ store, locations, ledgerNumbers, companyCodeOf, failing, receiptFiles: soleReceiptFiles },
      idle: async () => undefined,
    });
    const company = { companyId, companyCode: "ACME", orphanedAt: undefined };
    isHere = true;
    const ownership = { fenceOf: () => (isHere ? { companyId, epoch: 1 } : undefined) };
    taken = new TakenNames({ company, ownership, store, locations, ledgerNumbers, receipts, log, failing });
    for (const folder of [inbound(".again"), dirname(receiptPath())]) mkdirSync(folder, { recursive: true });
  });

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

  it("of a receipt has none written while a file of the name is on its way, but when that is not placed", async () => {
    await decided();
    const text = readFileSync(receiptPath(), "utf8");
    rmSync(receiptPath());
    writeFileSync(join(dirname(receiptPath()), `.again.${mark}.gone`), text);
    receipts.reserve(inbound(name), { companyId: fixture.companyId, name });
    await twice();
    expect(existsSync(receiptPath())).toBe(false);
    receipts.release(inbound(name));
    await expect.poll(() => existsSync(receiptPath())).toBe(true);
    expect(readFileSync(receiptPath(), "utf8")).toBe(text);
  });

  it("of a half-written receipt is removed", async () => {
    writeFileSync(join(dirname(receiptPath()), `.again.${mark}.gone.new`), "<StopRes");
    await twice();
    expect(readdirSync(dirname(receiptPath()))).toEqual([]);
  });
});
