import { describe, expect, it } from "vitest";
import { ledgerNumbers } from "../../../test/support/ledger-numbers.ts";
import type { StopChange } from "../../domain/stop/stop-change.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { listFiles } from "../../store/ledger/file-lists.ts";
import { acceptRetry, markFiled, requestRetry } from "../../store/ledger/files.ts";
import { decideFile } from "./decide-file.ts";
import { ledgerOfEachTest, sha256Of } from "../testing/ledger-fixture.ts";

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

  async function decide(id: number, instructions: readonly StopChange[], name = "a1_20261105_080000.xml") {
    const prepared = {
      kind: "read",
      sha256: sha256Of(`${name}${instructions[0]?.stopNbr}`),
      size: 1,
      instructions,
    } as const;
    const { companyId, store } = fixture;
    const parsedName = parseStopFileName(name);
    const about = { id, companyId, companyCode: "ACME", name, receivedAt: 0, parsedName, prepared };
    const rules = { names: "strict", lateFiles: "refuse" } as const;
    const context = { rules, locationFor: () => `companies/ACME/filed/${name}`, now: 1, ledgerNumbers };
    return (await store.write("site", (tx) => decideFile(tx, about, context))).state;
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
    await fixture.store.write("site", async (tx) => {
      await markFiled(tx, [id]);
      await requestRetry(tx, { id: id, now: 1 });
      await acceptRetry(tx, { id });
    });
    expect(await decide(id, ["A1", "B2"].map(created))).toBe("applied");
    expect(await filesOf("B2")).toEqual([id]);
    expect(await linkCount()).toBe(1);
  });

  it.each([
    ["A B", "a-b"],
    ["SO#1", "so-1"],
    ["Ä1", "-1"],
    ["😀7", "-7"],
    [".5", "-5"],
    ["\u212a9", "k9"],
    ["\u212a9", "-9"],
  ])(
    "of the stop %s is applied under the name %s_…, and is found by its number and its name",
    async (stopNbr, base) => {
      const file = `${base}_20261105_080000.xml`;
      const id = await fixture.wait(file);
      expect(await filesOf(stopNbr)).toEqual([id]);
      expect(await decide(id, [created(stopNbr)], file)).toBe("applied");
      expect(await filesOf(stopNbr)).toEqual([id]);
    },
  );

  it("of one of two stops that have the same name is not mixed up with the other", async () => {
    const files = ["a-b_20261105_090000.xml", "a-b_20261105_080000.xml"];
    const ids = [await fixture.wait(files[0] ?? ""), await fixture.wait(files[1] ?? "")];
    expect(await decide(ids[0] ?? 0, [created("A B")], files[0])).toBe("applied");
    // Older than the one applied, but that was another stop.
    expect(await decide(ids[1] ?? 0, [created("A-B")], files[1])).toBe("applied");
    expect([await filesOf("A B"), await filesOf("a-b")]).toEqual([[ids[0]], [ids[1]]]);
  });

  it("whose name is that of another stop is refused, with the name that it may have", async () => {
    const id = await fixture.wait(name);
    expect(await decide(id, [created("SO#1")])).toBe("refused");
    const [entry] = await listFiles(fixture.store.read, { limit: 1 });
    expect(entry?.faults[0]?.message).toContain("begins with so-1_");
  });

  it("with one stop costs nothing here, and one of another company is not found", async () => {
    await decide(await fixture.wait(name), [created("A1")]);
    expect(await linkCount()).toBe(0);
    const other = await fixture.company("OTHER");
    expect(await listFiles(fixture.store.read, { companyId: other, stopNbr: "A1", limit: 9 })).toEqual([]);
  });
});
