/** Which receipts count as collected, by the ledger entry that they answer. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ExchangeFixture, openFixture } from "../../../test/support/exchange-fixture.ts";
import { writeStopResponse } from "../../documents/writing/stop-response.ts";
import type { ExchangeSession } from "../exchange-session.ts";
import { referenceIn } from "./receipt-reference.ts";

const ledger = "5c1e0f2a-6d5b-41f7-9a3e-0b7f3c2d1e4f";
const none = { created: 0, updated: 0, deleted: 0 };
const fault = {
  code: "xsdMismatch",
  message: `<StopResponse Ledger="forged"> ${"x".repeat(2_000)}`,
} as const;
const file = { sha256: "a".repeat(64), receivedAt: 1_700_000_000_000, ledger };
const receipt = writeStopResponse({ file, documentId: 'Ledger="forged"', faults: [fault], ...none });

let fixture: ExchangeFixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

async function plant(path: string, text = receipt): Promise<void> {
  await mkdir(dirname(join(fixture.home, path)), { recursive: true });
  await writeFile(join(fixture.home, path), text);
}

async function read(
  session: ExchangeSession,
  path: string,
  [from, to, chunk = 100]: readonly [from: number, to: number, chunk?: number],
) {
  const handle = await session.openRead(path);
  for (let at = from; at < to; ) {
    const { length } = await handle.read(at, Math.min(chunk, to - at));
    if (length === 0) break;
    at += length;
  }
  await handle.close();
}

const all = [0, receipt.length] as const;
const collected = { companyId: 1, reference: ledger, userName: "host7", over: "sftp" };

describe("a receipt counts as collected", () => {
  test.each(["receipts/a.receipt.xml", "error/2026-11-05/a.receipt.xml"])(
    "when it is read to its end, by the entry that it names: %s",
    async (path) => {
      await plant(path);
      await read(fixture.session(), `/${path}`, all);
      await read(fixture.session(8), `/${path}`, [...all, 32_768]);
      const both = ["host7", "host8"].map((userName) => ({ ...collected, userName, isUnread: false }));
      expect(fixture.receipts).toEqual(both);
    },
  );

  test("when it was read in several parts, the one with the begin first or last", async () => {
    await plant("receipts/a.receipt.xml");
    await read(fixture.session(), "/receipts/a.receipt.xml", [0, 1_000]);
    expect(fixture.receipts).toEqual([]);
    await read(fixture.session(), "/receipts/a.receipt.xml", [1_000, receipt.length]);
    await plant("receipts/b.receipt.xml");
    await read(fixture.session(), "/receipts/b.receipt.xml", [600, receipt.length]);
    await read(fixture.session(), "/receipts/b.receipt.xml", [0, 600]);
    expect(fixture.receipts).toEqual(Array(2).fill({ ...collected, isUnread: false }));
  });

  test("when it is deleted", async () => {
    await plant("receipts/a.receipt.xml");
    await fixture.session().remove("/receipts/a.receipt.xml");
    expect(fixture.receipts).toEqual([{ ...collected, isUnread: true }]);
  });
});

describe("nothing counts as collected", () => {
  test("when a part was read, the link broke, or the file is none of dropgate's receipts", async () => {
    await plant("receipts/a.receipt.xml");
    await read(fixture.session(), "/receipts/a.receipt.xml", [0, receipt.length - 1]);
    const broken = fixture.session(8);
    const handle = await broken.openRead("/receipts/a.receipt.xml");
    for (let at = 0; at < receipt.length; ) at += (await handle.read(at, 10_000)).length;
    await broken.end();
    await plant("receipts/old.receipt.xml", "<StopResponse><DocumentID>1</DocumentID></StopResponse>");
    await plant("receipts/empty.receipt.xml", "");
    await plant("error/2026-11-05/a.xml");
    await plant("outbound/a.receipt.xml");
    const paths = ["receipts/old.receipt.xml", "receipts/empty.receipt.xml", "error/2026-11-05/a.xml"];
    for (const path of [...paths, "outbound/a.receipt.xml"]) {
      await read(fixture.session(9), `/${path}`, all);
      await fixture.session().remove(`/${path}`);
    }
    expect(fixture.receipts).toEqual([]);
  });
});

test("a reference stands in the first element alone", () => {
  expect(referenceIn(Buffer.from(receipt).subarray(0, 512))).toBe(ledger);
  expect(referenceIn(Buffer.from(`<Stop/><x Ledger="${ledger}">`))).toBeUndefined();
});
