import { describe, expect, onTestFinished, test } from "vitest";
import { ledgerNumbers } from "../../../test/support/ledger-numbers.ts";
import type { CollectedReceipt } from "../../exchange/exchange-deps.ts";
import { ledgerOfEachTest } from "../../inbound/testing/ledger-fixture.ts";
import { createLogger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import { acceptRetry, findFile, listFileRepeats, requestRetry } from "../../store/ledger/files.ts";
import { ReceiptCollections } from "./receipt-collections.ts";

const fixture = ledgerOfEachTest();
const name = "s1_20261105_080000.xml";
const decidedAt = 1_700_000_001_000;

/** Collections that are written when a test says so; `at` is the time of the next. */
function collecting(store: Pick<Store, "writeSoon"> = fixture.store) {
  const clock = { at: decidedAt + 1_000, now: () => clock.at };
  const lines: string[] = [];
  const log = createLogger({ level: "info", destination: { write: (line) => lines.push(line) } });
  const collections = new ReceiptCollections({ store, ledgerNumbers, clock, log, everyMs: 3_600_000 });
  onTestFinished(() => collections.stop());
  const note = (id: number, more: Partial<CollectedReceipt> = {}) =>
    collections.note({
      ...{ companyId: fixture.companyId, reference: ledgerNumbers.seal(id), userName: "host1" },
      ...{ over: "sftp", isUnread: false, ...more },
    });
  return { collections, clock, note, lines };
}

async function decided(state: "applied" | "refused" = "applied", at = decidedAt): Promise<number> {
  const id = await fixture.wait(name);
  const location = `companies/ACME/archive/2026-11-05/${name}`;
  await fixture.decide(id, { state, location, text: "x", decidedAt: at });
  return id;
}

async function collectionOf(id: number) {
  const entry = await findFile(fixture.store.read, id);
  const { receiptCollectedAt: at, receiptCollectedBy: by, receiptCollectedOver: over } = entry ?? {};
  return { at, by, over, unread: entry?.receiptUnread };
}

const nobody = { at: null, by: null, over: null, unread: 0 };

describe("the collection of a receipt", () => {
  test("is kept with its entry: the first one, and none of another company or installation", async () => {
    const id = await decided();
    const { collections, clock, note } = collecting();
    note(id, { companyId: fixture.companyId + 1 });
    note(id, { reference: "5c1e0f2a-6d5b-41f7-9a3e-0b7f3c2d1e4f" });
    await collections.keep();
    expect(await collectionOf(id)).toEqual(nobody);
    note(id, { over: "ftp" });
    clock.at += 1;
    note(id, { userName: "host2", isUnread: true });
    await collections.keep();
    note(id, { userName: "host3" });
    await collections.stop();
    const first = { at: decidedAt + 1_000, by: "host1", over: "ftp", unread: 0 };
    expect(await collectionOf(id)).toEqual(first);
  });

  test("says when nobody had read it before it was deleted", async () => {
    const id = await decided();
    const { collections, note } = collecting();
    note(id, { isUnread: true });
    await collections.keep();
    expect(await collectionOf(id)).toMatchObject({ by: "host1", unread: 1 });
  });

  test("stays with the decision before when the file is tried again, and is none of the new one", async () => {
    const id = await decided("refused");
    const { collections, clock, note } = collecting();
    note(id);
    await collections.keep();
    await fixture.store.write("site", (tx) => requestRetry(tx, { id, now: decidedAt + 2_000 }));
    const [before] = await listFileRepeats(fixture.store.read, id);
    expect(before).toMatchObject({ receiptCollectedAt: decidedAt + 1_000, receiptCollectedBy: "host1" });
    clock.at = decidedAt + 3_000;
    note(id);
    await collections.keep();
    expect(await collectionOf(id)).toEqual(nobody);
    // Collected before the new decision, written after it.
    note(id);
    await fixture.store.write("site", (tx) => acceptRetry(tx, { id }));
    const location = `companies/ACME/archive/2026-11-05/${name}`;
    await fixture.decide(id, { state: "applied", location, text: "x", decidedAt: decidedAt + 4_000 });
    await collections.keep();
    expect(await collectionOf(id)).toEqual(nobody);
    clock.at = decidedAt + 5_000;
    note(id, { userName: "host2" });
    await collections.keep();
    expect(await collectionOf(id)).toMatchObject({ at: decidedAt + 5_000, by: "host2" });
  });

  test("that cannot be written is written later, and counts before one that came meanwhile", async () => {
    const ids = [await decided(), await decided()];
    let whenFailing: (() => void) | undefined = () => undefined;
    const writeSoon: Store["writeSoon"] = async (whose, work) => {
      if (whenFailing === undefined) return await fixture.store.writeSoon(whose, work);
      whenFailing();
      throw new Error("the disk is full");
    };
    const { collections, clock, note, lines } = collecting({ writeSoon });
    for (const id of ids) note(id);
    await collections.keep();
    whenFailing = () => {
      clock.at += 1;
      for (const id of ids) note(id, { userName: "host2" });
    };
    await collections.keep();
    expect(lines).toHaveLength(1);
    whenFailing = undefined;
    await collections.keep();
    for (const id of ids) expect(await collectionOf(id)).toMatchObject({ by: "host1" });
  });
});
