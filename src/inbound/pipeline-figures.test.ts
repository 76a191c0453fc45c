import { afterAll, beforeAll, expect, test } from "vitest";
import { requestRetry } from "../store/ledger/files.ts";
import { FaultyPipeline, noFaults, stopXml, unreadable } from "../../test/support/faulty-pipeline.ts";
import { hourMs } from "../lib/durations.ts";
import { waitToPass } from "../../test/support/wait-to-pass.ts";

let rig: FaultyPipeline;
beforeAll(async () => {
  rig = await FaultyPipeline.start();
});
afterAll(() => rig.end());

test("figures tell what was decided, refusals by their first reason, how long the oldest waits, and receipts", async () => {
  const { pipeline } = rig;
  const acme = await rig.addCompany("ACME");
  const release = await pipeline.hold(acme);
  const old = rig.arrival(acme, "s1_20261105_080000.xml", stopXml(["S1"]));
  const receivedAt = Date.now() - 90_000;
  const fetched = rig.arrival(acme, "s2_20261105_080000.xml", "<Stop>", "remote:partner");
  await pipeline.arriveAll([{ ...old, receivedAt }, fetched]);
  const [waiting] = pipeline.statistics().waiting;
  expect([...pipeline.statistics().received].filter(([, { files }]) => files > 0)).toEqual([
    ["sftp", { files: 1, bytes: old.size }],
    ["remote", { files: 1, bytes: "<Stop>".length }],
  ]);
  expect(waiting).toMatchObject({ companyId: acme, count: 2 });
  expect(waiting?.oldestAgeMs).toBeGreaterThanOrEqual(90_000);
  release();
  await waitToPass(() => expect(pipeline.waitingTotal).toBe(0));
  const { decided, refused, lastAppliedAt, receiptDelays, waiting: after } = pipeline.statistics();
  expect(decided.get(acme)).toEqual({ applied: 1, refused: 1, duplicate: 0, superseded: 0 });
  expect([...refused].filter(([, count]) => count > 0)).toEqual([["notWellFormed", 1]]);
  expect(lastAppliedAt.get(acme)).toBeGreaterThan(receivedAt);
  expect(after).toEqual([{ companyId: acme, count: 0, oldestAgeMs: 0 }]);
  const countOf = (kind: "sftp" | "remote") => receiptDelays.get(kind)?.cumulated().at(-1);
  expect([countOf("sftp"), countOf("remote")]).toEqual([1, 1]);
  expect(receiptDelays.get("sftp")?.sum).toBeGreaterThanOrEqual(90);
});

test("a file that is retried waits since its retry, also after a restart, and not since its arrival", async () => {
  const other = await rig.addCompany("OTHER");
  const sums = () => rig.pipeline.statistics().receiptDelays.get("sftp");
  const oldestAgeMs = () => {
    const waiting = rig.pipeline.statistics().waiting;
    return waiting.find(({ companyId }) => companyId === other)?.oldestAgeMs ?? Number.NaN;
  };
  const file = rig.arrival(other, "s3_20261105_080000.xml", "<Stop>");
  await rig.pipeline.arriveAll([{ ...file, receivedAt: Date.now() - hourMs }]);
  await waitToPass(() => expect(rig.pipeline.waitingTotal).toBe(0));
  const before = { count: sums()?.cumulated().at(-1) ?? 0, sum: sums()?.sum ?? 0 };
  const release = await rig.pipeline.hold(other);
  const [refused] = await rig.ledger(other);
  const asked = await rig.store.write("site", (tx) =>
    requestRetry(tx, { id: refused?.id ?? 0, now: Date.now() }),
  );
  expect(asked).toBe(true);
  await waitToPass(() => expect(rig.pipeline.waitingCount(other)).toBe(1));
  expect(oldestAgeMs()).toBeLessThan(hourMs / 2);
  release();
  await waitToPass(() => expect(rig.pipeline.waitingTotal).toBe(0));
  expect(sums()?.cumulated().at(-1)).toBe(before.count + 1);
  expect((sums()?.sum ?? 0) - before.sum).toBeLessThan(hourMs / 2_000);

  rig.faults = { ...noFaults, read: () => unreadable("EIO") };
  await rig.store.write("site", (tx) => requestRetry(tx, { id: refused?.id ?? 0, now: Date.now() }));
  await waitToPass(async () => expect((await rig.ledger(other))[0]?.state).toBe("waiting"));
  await rig.restart();
  expect(rig.pipeline.waitingCount(other)).toBe(1);
  expect(oldestAgeMs()).toBeLessThan(hourMs / 2);
});
