import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FaultyPipeline, noFaults, stopXml, unreadable } from "../../test/support/faulty-pipeline.ts";
import { waitToPass } from "../../test/support/wait-to-pass.ts";
import { type LedgerEntry, requestRetry } from "../store/ledger/files.ts";

let rig: FaultyPipeline;
let acme: number;
beforeAll(async () => {
  rig = await FaultyPipeline.start();
  acme = await rig.addCompany("ACME");
});
afterAll(() => rig.end());

/** The newest entry, once it is filed away. */
function filed(): Promise<LedgerEntry> {
  return waitToPass(async () => {
    const entry = (await rig.ledger(acme)).at(-1);
    if (entry?.isFiled !== true) throw new Error("it is not filed away");
    return entry;
  });
}

test("an entry has the moments of its file in their order; a retry begins those of the decision anew", async () => {
  const receivedAt = Date.now();
  const beganAt = receivedAt - 3_000;
  const file = rig.arrival(acme, "s1_20261105_080000.xml", stopXml(["S2"]));
  await rig.pipeline.arriveAll([{ ...file, beganAt, receivedAt }]);
  const first = await filed();
  const { enteredAt, parsedAt, decidedAt, filedAt } = first;
  const moments = [first.beganAt, first.receivedAt, enteredAt, parsedAt, decidedAt, filedAt];
  expect(moments.slice(0, 2)).toEqual([beganAt, receivedAt]);
  expect(moments.every((at) => typeof at === "number")).toBe(true);
  expect(moments).toEqual(moments.toSorted());
  const asked = Date.now();
  await rig.store.write("site", (tx) => requestRetry(tx, { id: first.id, now: asked }));
  expect((await rig.ledger(acme))[0]).toMatchObject({ state: "retry", parsedAt: null, filedAt: null });
  const again = await filed();
  expect([again.beganAt, again.enteredAt]).toEqual([beganAt, enteredAt]);
  expect(Math.min(again.parsedAt ?? 0, again.filedAt ?? 0)).toBeGreaterThanOrEqual(asked);
});

test("an entry that waited over a restart keeps its begin", async () => {
  rig.faults = { ...noFaults, read: () => unreadable("EIO") };
  const file = rig.arrival(acme, "s3_20261105_080000.xml", stopXml(["S3"]));
  const beganAt = Date.now() - 1_000;
  await rig.pipeline.arriveAll([{ ...file, beganAt }]);
  await rig.restart();
  rig.faults = noFaults;
  const entry = await filed();
  expect(entry).toMatchObject({ state: "applied", beganAt });
  expect(entry.parsedAt).toBeGreaterThanOrEqual(entry.enteredAt ?? 0);
});

test("nothing is made up: no begin of a file from a folder, no reading of one that cannot be read", async () => {
  const name = "s4_20261105_080000.xml";
  const path = join(rig.locations.inboundDirectory("ACME"), name);
  mkdirSync(path);
  await rig.pipeline.arriveAll([{ companyId: acme, name, path, channel: "folder", size: 1 }]);
  const entry = await waitToPass(async () => {
    const newest = (await rig.ledger(acme)).at(-1);
    if (newest?.state !== "refused") throw new Error("it is not refused");
    return newest;
  });
  expect(entry).toMatchObject({ name, beganAt: null, parsedAt: null });
  expect(entry.enteredAt).toBeGreaterThanOrEqual(entry.receivedAt);
});
