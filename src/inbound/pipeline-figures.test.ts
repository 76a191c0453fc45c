import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FaultyPipeline, stopXml } from "../../test/support/faulty-pipeline.ts";

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
  expect(waiting).toMatchObject({ companyId: acme, count: 2 });
  expect(waiting?.oldestAgeMs).toBeGreaterThanOrEqual(90_000);
  release();
  await vi.waitFor(() => expect(pipeline.waitingTotal).toBe(0), { timeout: 20_000 });
  const { decided, refused, lastAppliedAt, receiptDelays, waiting: after } = pipeline.statistics();
  expect(decided.get(acme)).toEqual({ applied: 1, refused: 1, duplicate: 0, superseded: 0 });
  expect([...refused].filter(([, count]) => count > 0)).toEqual([["notWellFormed", 1]]);
  expect(lastAppliedAt.get(acme)).toBeGreaterThan(receivedAt);
  expect(after).toEqual([{ companyId: acme, count: 0, oldestAgeMs: 0 }]);
  const countOf = (kind: "sftp" | "remote") => receiptDelays.get(kind)?.cumulated().at(-1);
  expect([countOf("sftp"), countOf("remote")]).toEqual([1, 1]);
  expect(receiptDelays.get("sftp")?.sum).toBeGreaterThanOrEqual(90);
});
