/** What people see of the queue: log lines, statistics, lists (specification/outbound.md#states-of-a-delivery). */
import { describe, expect, test } from "vitest";
import { type DeliverySelection, listDeliveries, listDeliveryIds } from "../store/outbound/delivery-lists.ts";
import { listOutboundTargets } from "../store/outbound/outbound-targets.ts";
import { DeliverySite, failure, start, unreachable } from "../../test/support/delivery-site.ts";
import { secondMs } from "../lib/durations.ts";

const delivered = { kind: "delivered" } as const;

describe("what people see", () => {
  test("each attempt has one line in the log, once it is recorded", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S3");
    site.target().script = ({ files: [file] }) => {
      if (file?.name.startsWith("s1")) return delivered;
      return failure({ isPermanent: file?.name.startsWith("s2") === true });
    };
    await site.startQueue();
    await site.pass(0);
    const [one, two, three] = await site.rows();
    const common = { company: "ACME", target: "host", attempt: 1 };
    const lines = site.lines.filter(({ outcome }) => outcome !== undefined);
    expect(lines).toHaveLength(3);
    expect(lines).toMatchObject([
      { ...common, level: "info", delivery: one?.guid, deliveryId: 1, stop: "S1", outcome: "delivered" },
      { ...common, level: "error", delivery: two?.guid, stop: "S2", outcome: "dead", fault: "busy" },
      {
        ...{ ...common, level: "warn", delivery: three?.guid, stop: "S3", outcome: "later" },
        ...{ message: "try later", nextAttemptAt: "2026-11-05T08:00:05.000Z" },
      },
    ]);
    expect(typeof lines[0]?.["ms"]).toBe("number");
  });

  test("statistics tell what waits, since when, what is dead, and what became of attempts", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S3", "S3");
    site.target().script = ({ files: [file] }) => {
      if (file?.name.startsWith("s1")) return delivered;
      return failure({ isPermanent: file?.name.startsWith("s2") === true });
    };
    await site.startQueue();
    await site.pass(0);
    await site.pass(secondMs);
    expect(site.queue.statistics()).toEqual([
      {
        ...{ company: "ACME", target: "host", isConfigured: true, isPaused: false, isPausedByHand: false },
        ...{ open: 2, dead: 1, oldestAgeMs: secondMs },
        attempts: { delivered: 1, later: 1, dead: 1, nameTaken: 0, dropped: 0, postponed: 0 },
        lags: expect.any(Object),
      },
    ]);
  });

  test("deliveries are listed newest first, by company, target, state and stop", async () => {
    const targets = ["a", "b"].map((name) => ({ name, takesCompletions: true }));
    const site = await DeliverySite.open({ targets });
    await site.complete("S1", "S2");
    site.target("b").script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    const ids = async (selection: Partial<Parameters<typeof listDeliveries>[1]>) =>
      (await listDeliveries(site.store.read, { limit: 10, ...selection })).map(({ id }) => id);
    expect(await ids({})).toEqual([4, 3, 2, 1]);
    expect(await ids({ limit: 2, beforeId: 4 })).toEqual([3, 2]);
    expect(await ids({ target: "a" })).toEqual([3, 1]);
    expect(await ids({ state: "waiting" })).toEqual([4, 2]);
    expect(await ids({ stopNbr: "S2" })).toEqual([4, 3]);
    expect(await ids({ stopNbr: "S2", companyId: site.companyId, target: "b" })).toEqual([4]);
    expect(await ids({ companyId: 77 })).toEqual([]);
    const [waiting] = await listDeliveries(site.store.read, { limit: 1, state: "waiting", stopNbr: "S1" });
    expect(waiting).toMatchObject({ company: "ACME", target: "b", fault: "unreachable", orderKey: "S1" });
    expect(waiting?.targetPausedUntil).toBeGreaterThan(start);
  });

  test("dead letters are listed oldest first, a page at a time, for who asks for all of them again", async () => {
    const targets = ["a", "b"].map((name) => ({ name, takesCompletions: true }));
    const site = await DeliverySite.open({ targets });
    await site.complete("S1", "S2", "S3");
    site.target("b").script = () => failure({ isPermanent: true });
    await site.startQueue();
    await site.pass(0);
    const page = { afterId: 0, upToId: 99, limit: 10 };
    const ids = (selection: DeliverySelection, part: Partial<typeof page> = {}) =>
      listDeliveryIds(site.store.read, { state: "dead", ...selection }, { ...page, ...part });
    expect(await ids({})).toEqual([2, 4, 6]);
    expect(await ids({ target: "b" }, { afterId: 2, limit: 1 })).toEqual([4]);
    expect(await ids({ target: "b" }, { upToId: 4 })).toEqual([2, 4]);
    expect(await ids({ target: "a" })).toEqual([]);
    expect(await ids({ companyId: 77 })).toEqual([]);
  });

  test("the numbers of open and dead ones are right, and put right at a start", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S2");
    await site.store.write("site", (tx) =>
      tx.updateTable("outbound_targets").set({ open_count: 99, dead_count: 99 }).execute(),
    );
    site.target().script = () => failure();
    await site.startQueue();
    await site.pass(0);
    expect(await listOutboundTargets(site.store.read)).toMatchObject([{ open: 3, dead: 0 }]);
  });
});
