import { describe, expect, it } from "vitest";
import {
  acceptRetry,
  enterFile,
  findFile,
  listFileRepeats,
  markFiled,
  recordDecision,
  requestRetry,
} from "../../store/ledger/files.ts";
import { recordReceiptCollections } from "../../store/ledger/receipt-collections.ts";
import { ledgerOfEachTest } from "../testing/ledger-fixture.ts";
import { timeLines } from "./file-times.ts";

const closedAt = 1_700_000_000_000;

describe("the times of a file", () => {
  const ledger = ledgerOfEachTest();

  async function entered(moments: { beganAt?: number; enteredAt?: number } = {}): Promise<number> {
    const { companyId } = ledger;
    const file = { companyId, name: "s1_20261105_080000.xml", nameTime: null, size: 1, location: "in/1" };
    const arrival = { channel: "sftp", userName: "host", receivedAt: closedAt };
    return await ledger.store.write("site", (tx) => enterFile(tx, { ...file, ...arrival, ...moments }));
  }

  async function decide(id: number, at: { parsed: number | null; decided: number; filed: number | null }) {
    const about = {
      stopFunction: "01",
      stopNbr: "S1",
      documentId: null,
      firstId: null,
      sha256: null,
      size: 1,
    };
    const counts = { faults: [], created: 0, updated: 0, deleted: 0, location: "error/1" };
    await ledger.store.write("site", async (tx) => {
      const decision = { parsedAt: at.parsed, decidedAt: at.decided };
      await recordDecision(tx, { id, state: "refused", ...about, ...counts, ...decision });
      await markFiled(tx, [id], at.filed);
    });
  }

  async function linesOf(id: number): Promise<readonly string[]> {
    const entry = await findFile(ledger.store.read, id);
    if (entry === undefined) throw new Error("there is no such entry");
    return timeLines(entry, await listFileRepeats(ledger.store.read, id));
  }

  it("are those of its host, of dropgate with its steps, and of whoever collected the receipt", async () => {
    const id = await entered({ beganAt: closedAt - 3_240, enteredAt: closedAt + 2 });
    expect(await linesOf(id)).toEqual([
      "Its host took 3.2 s to send it, from the begin of its upload to its close.",
    ]);
    await decide(id, { parsed: closedAt + 32, decided: closedAt + 33, filed: closedAt + 45 });
    const spent =
      "dropgate took 45 ms from its close to its receipt: ledger 2 ms, parsed 30 ms, decided 1 ms, filed 12 ms.";
    expect((await linesOf(id)).slice(1)).toEqual([
      spent,
      "Nobody has read its receipt over SFTP or FTP so far.",
    ]);
    const collection = { companyId: ledger.companyId, fileId: id, at: closedAt + 60_000, by: "host" };
    await ledger.store.write("site", (tx) =>
      recordReceiptCollections(tx, [{ ...collection, over: "ftp", isUnread: false }]),
    );
    expect((await linesOf(id)).at(-1)).toBe(
      "Its receipt was read first 2023-11-14T22:14:20.000Z by user host over FTP.",
    );
  });

  it("after a retry are those since its request, and tell a receipt that was deleted unread", async () => {
    const id = await entered({ enteredAt: closedAt });
    await decide(id, { parsed: null, decided: closedAt + 1, filed: closedAt + 2 });
    expect((await linesOf(id)).at(0)).toBe(
      "dropgate took 2 ms from its close to its receipt: ledger 0 ms, decided 1 ms, filed 1 ms.",
    );
    const asked = closedAt + 100_000;
    await ledger.store.write("site", async (tx) => {
      await requestRetry(tx, { id, now: asked });
      await acceptRetry(tx, { id });
    });
    expect(await linesOf(id)).toEqual([]);
    await decide(id, { parsed: asked + 500, decided: asked + 600, filed: asked + 150_000 });
    const by = { companyId: ledger.companyId, fileId: id, at: asked + 150_001, by: "host" };
    await ledger.store.write("site", (tx) =>
      recordReceiptCollections(tx, [{ ...by, over: "sftp", isUnread: true }]),
    );
    const [spent, collected] = await linesOf(id);
    expect(spent).toBe(
      "dropgate took 3 min from the request of the retry to its receipt: parsed 500 ms, decided 100 ms, filed 2 min.",
    );
    expect(collected).toMatch(/^Its receipt was deleted, unread, \S+ by user host over SFTP\.$/);
  });

  it("are none of an entry from before they were recorded", async () => {
    const id = await entered();
    await decide(id, { parsed: null, decided: closedAt + 1, filed: null });
    expect(await linesOf(id)).toEqual([]);
  });
});
