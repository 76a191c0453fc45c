import { describe, expect, it } from "vitest";
import { ledgerNumbers } from "../../test/support/ledger-numbers.ts";
import type { StopChange } from "../domain/stop-change.ts";
import { parseStopFileName } from "../domain/stop-file-name.ts";
import { listFiles } from "../store/file-queries.ts";
import { acceptRetry, markFiled, requestRetry } from "../store/files.ts";
import { decideFile } from "./decide-file.ts";
import { ledgerOfEachTest, sha256Of } from "./testing/ledger-fixture.ts";

const name = "a1_20261105_080000.xml";
const index = { hasStopAssignment: false, markAsReceived: false, hasTimeWindow: false };

function created(stopNbr: string): StopChange {
  return { function: "01", stopNbr, stopJson: "{}", index };
}

function deleted(stopNbr: string): StopChange {
  return { ...created(stopNbr), function: "02" };
}

describe("a decided file", () => {
  const fixture = ledgerOfEachTest();

  async function decide(id: number, instructions: readonly StopChange[]): Promise<string> {
    const prepared = { kind: "read", sha256: sha256Of(name), size: 1, instructions } as const;
    const { companyId, store } = fixture;
    const parsedName = parseStopFileName(name);
    const about = { id, companyId, companyCode: "ACME", name, receivedAt: 0, parsedName, prepared };
    const rules = { names: "strict", lateFiles: "refuse" } as const;
    const context = { rules, placeFor: () => `companies/ACME/filed/${name}`, now: 1, ledgerNumbers };
    return (await store.write((tx) => decideFile(tx, about, context))).state;
  }

  async function filesOf(stopNbr: string): Promise<readonly number[]> {
    return (await listFiles(fixture.store.read, { stopNbr, limit: 9 })).map(({ id }) => id);
  }

  async function linkCount(): Promise<number> {
    return (await fixture.store.read.selectFrom("file_stops").selectAll().execute()).length;
  }

  it("with several stops is found by each of them, whatever the case, and each is noted once", async () => {
    const id = await fixture.wait(name);
    expect(await decide(id, ["A1", "B2", "B2", "A1", "C3"].map(created))).toBe("applied");
    for (const number of ["a1", "A1", "b2", "C3", "c3"]) expect(await filesOf(number)).toEqual([id]);
    expect(await linkCount()).toBe(2);
  });

  it("that was refused, and then applied when it was tried again, is found by its later stops", async () => {
    const id = await fixture.wait(name);
    expect(await decide(id, [created("A1"), deleted("B2")])).toBe("refused");
    expect(await filesOf("B2")).toEqual([id]);
    await fixture.store.write(async (tx) => {
      await markFiled(tx, [id]);
      await requestRetry(tx, { id: id, now: 1 });
      await acceptRetry(tx, id);
    });
    expect(await decide(id, ["A1", "B2"].map(created))).toBe("applied");
    expect(await filesOf("B2")).toEqual([id]);
    expect(await linkCount()).toBe(1);
  });

  it("with one stop costs nothing here, and one of another company is not found", async () => {
    await decide(await fixture.wait(name), [created("A1")]);
    expect(await linkCount()).toBe(0);
    const other = await fixture.company("OTHER");
    expect(await listFiles(fixture.store.read, { companyId: other, stopNbr: "A1", limit: 9 })).toEqual([]);
  });
});
