import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FaultyPipeline, noFaults, stopXml, unreadable } from "../../../test/support/faulty-pipeline.ts";
import { sharedDocuments } from "../../../test/support/shared-documents.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { StoreError } from "../../lib/store-error.ts";
import { whyHeld } from "./explain-held.ts";

const first = "a_20261105_080000.xml";
const second = "a_20261105_080100.xml";
let rig: FaultyPipeline;
let companyId: number;

beforeEach(async () => {
  rig = await FaultyPipeline.start({}, sharedDocuments);
  companyId = await rig.addCompany("ACME");
});
afterEach(() => rig.end());

/** What is told of each entry. */
const told = () =>
  [1, 2, 3].map((id) =>
    whyHeld(
      rig.pipeline.heldInDetail().find(({ company }) => company === "ACME"),
      id,
    ),
  );

async function take(...names: readonly string[]): Promise<void> {
  await rig.pipeline.arriveAll(names.map((name) => rig.arrival(companyId, name, stopXml([name[0] ?? ""]))));
}

describe("why a file that waits does not go on", () => {
  test("its own fault is told, and of a later file of its stop which one it waits for, each with what to do", async () => {
    rig.faults = {
      ...noFaults,
      read: (_company, name) => (name === first ? unreadable("EACCES") : undefined),
    };
    await take(first, second, "b_20261105_080200.xml");
    await waitFor("the second to be kept back", () => told()[1]?.length === 1);
    const [ofFirst, ofSecond, ofThird] = told();
    expect(ofFirst).toEqual([
      expect.stringMatching(
        /^It is held since \d+ s \(unreadable: EACCES: as the test wants it\)\. What to do: give the user of the daemon the right to read it/,
      ),
    ]);
    expect(ofSecond).toEqual([
      expect.stringMatching(
        /^It waits for a_20261105_080000\.xml \(entry 1\) of one of its stops, which is held since \d+ s \(unreadable: .*What to do: give/,
      ),
    ]);
    expect(ofThird).toEqual([]);
  });

  test("a store that takes nothing halts all files of the company, which is told of each", async () => {
    const full = new StoreError("unavailable", "database or disk is full", undefined);
    const release = await rig.pipeline.hold(companyId);
    await take(first, "b_20261105_080200.xml");
    rig.faults = { ...noFaults, write: () => full };
    release();
    await waitFor(
      "it to be told",
      () => told()[0]?.some((line) => line.startsWith("Nothing of company")) === true,
    );
    for (const lines of told().slice(0, 2))
      expect(lines.join("\n")).toMatch(/disk is full.*What to do: check the disk of the state directory/s);
  });
});
